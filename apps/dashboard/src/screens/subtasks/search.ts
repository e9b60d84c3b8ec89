import { MusterError, type Subtask } from '@muster/client'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { passes, type SubtaskFilters } from './filters.ts'
import { subtaskQuery } from './queries.ts'

const GOING_ON = ['pending', 'running', 'waiting'] as const
/** Of each state that goes on, the newest subtasks that are looked through. */
const READ_MAX = 1_000
const ENDED_MAX = 50

/** Ended subtasks are found a second after their end, so that asking again sooner finds no more. */
const MEMORY_STALE_MS = 2_000

/** Subtasks with these words, newest first: ended ones by the search of the memory, those that go on by the text of their task. */
export const searchQuery = (client: QueryClient, filters: SubtaskFilters & { q: string }) => {
  const queryKey = keys.list('subtask', 'search', filters)
  return queryOptions({
    queryKey,
    queryFn: async () => {
      const [goingOn, ended] = await Promise.all([readGoingOn(filters.q), findEnded(client, filters.q)])
      // What was found while it went on stays found.
      const before = client.getQueryData<Subtask[]>(queryKey) ?? []
      const known = new Set(goingOn.map(({ id }) => id))
      const others = new Set([...ended, ...before.map(({ id }) => id)].filter((id) => !known.has(id)))
      const read = await Promise.all([...others].map((id) => readKept(client, id)))
      return [...goingOn, ...read.filter((subtask) => subtask !== null)].filter((subtask) => passes(subtask, filters)).sort((a, b) => (a.id < b.id ? 1 : -1))
    },
  })
}

async function readGoingOn(q: string): Promise<Subtask[]> {
  const words = q.toLowerCase().split(/\s+/)
  const lists = await Promise.all(GOING_ON.map((status) => muster.subtasks.list({ status, limit: 200 }).all(READ_MAX)))
  return lists.flat().filter(({ task }) => words.every((word) => task.toLowerCase().includes(word)))
}

async function findEnded(client: QueryClient, q: string): Promise<string[]> {
  const { items } = await client.fetchQuery({
    queryKey: ['memory', 'search', 'episodes', q],
    queryFn: () => muster.memory.search({ q, kind: 'episode', limit: ENDED_MAX }),
    staleTime: MEMORY_STALE_MS,
  })
  return items.map(({ id }) => id)
}

/** Null if its row has been removed. */
async function readKept(client: QueryClient, id: string): Promise<Subtask | null> {
  try {
    return await client.fetchQuery(subtaskQuery(id))
  } catch (error) {
    if (MusterError.is(error, 'not_found')) return null
    throw error
  }
}
