import { MusterError, type Task } from '@muster/client'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
import { readStored } from '../../live/stored-events.ts'
import { muster } from '../../muster.ts'

export const taskQuery = (id: string) => queryOptions({ queryKey: keys.one('task', id, 'document'), queryFn: ({ signal }) => muster.tasks.get(id, { signal }) })
export const revisionsQuery = (id: string) =>
  queryOptions({ queryKey: keys.one('task', id, 'revisions'), queryFn: () => muster.tasks.revisions(id, { limit: 200 }).all(500) })
export const taskUpdatesQuery = (id: string) =>
  queryOptions({ queryKey: keys.one('task', id, 'updates'), queryFn: () => muster.tasks.updates(id, { limit: 200 }).all(500) })
export const taskSubtasksQuery = (id: string) =>
  queryOptions({ queryKey: keys.one('task', id, 'subtasks'), queryFn: () => muster.subtasks.list({ task_id: id, limit: 50 }).page() })
export const taskChecksQuery = (id: string) =>
  queryOptions({ queryKey: keys.one('task', id, 'checks'), queryFn: () => muster.tasks.checks(id, { limit: 50 }).page() })
export const taskEvaluationsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.one('task', id, 'evaluations'),
    queryFn: async () => {
      const { items } = await muster.evaluations.list({ task_id: id, limit: 20 }).page()
      return await Promise.all(items.map(({ evaluation_id }) => muster.evaluations.get(evaluation_id)))
    },
  })
export const taskEventsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.one('task', id, 'events'),
    queryFn: ({ signal }) => readStored((stop) => muster.events.follow({ subject: id, after: 0, signal: stop }), signal),
  })
export const taskCheckInsQuery = (id: string) =>
  queryOptions({ queryKey: keys.one('task', id, 'check-ins'), queryFn: () => muster.tasks.checkIns(id, { limit: 50 }).all(50) })

/** A larger graph would not be readable. In tasks. */
const GRAPH_MAX = 60

/** A task with everything that it depends on, directly or not, as far as it can be drawn. */
export const dependenciesQuery = (client: QueryClient, task: Task) =>
  queryOptions({
    queryKey: keys.list('task', 'dependencies', task.id, task.depends_on),
    queryFn: async () => {
      const found = new Map([[task.id, task]])
      let next = task.depends_on
      while (next.length > 0 && found.size < GRAPH_MAX) {
        const unknown = [...new Set(next)].filter((id) => !found.has(id)).slice(0, GRAPH_MAX - found.size)
        const read = await Promise.all(unknown.map((id) => readTask(client, id)))
        for (const each of read) if (each !== null) found.set(each.id, each)
        next = read.flatMap((each) => each?.depends_on ?? [])
      }
      return [...found.values()]
    },
  })

/** Null if it does not exist any more. */
async function readTask(client: QueryClient, id: string): Promise<Task | null> {
  try {
    return await client.fetchQuery(taskQuery(id))
  } catch (error) {
    if (MusterError.is(error, 'not_found')) return null
    throw error
  }
}
