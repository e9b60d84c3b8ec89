import type { Step, Subtask } from '@muster/client'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

export const subtaskQuery = (id: string) =>
  queryOptions({ queryKey: keys.one('subtask', id, 'document'), queryFn: ({ signal }) => muster.subtasks.get(id, undefined, { signal }) })

/** The newest subtasks of a status, for an overview. */
export const subtasksOfStatusQuery = (status: Subtask['status'], most: number) =>
  queryOptions({ queryKey: keys.list('subtask', 'overview', status), queryFn: () => muster.subtasks.list({ status, limit: most }).page() })

export const updatesQuery = (id: string) => queryOptions({ queryKey: keys.one('subtask', id, 'updates'), queryFn: () => muster.subtasks.updates(id).all(500) })

export const promptsQuery = (id: string) => queryOptions({ queryKey: keys.one('subtask', id, 'prompts'), queryFn: () => muster.subtasks.prompts(id).all(100) })

export const evaluationsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.one('subtask', id, 'evaluations'),
    queryFn: async () => {
      const evaluations = await muster.evaluations.list({ subtask_id: id }).all(20)
      return await Promise.all(evaluations.map(({ evaluation_id }) => muster.evaluations.get(evaluation_id)))
    },
  })

interface Transcript {
  steps: Step[]
  /** Of the last page, which may have grown since; undefined before the first. */
  cursor: string | undefined
}

const PAGE = 200

/** The transcript as far as it goes. It is read on from where it was read before, not from its beginning. */
export const transcriptQuery = (client: QueryClient, id: string) => {
  const queryKey = keys.one('subtask', id, 'steps')
  return queryOptions({
    queryKey,
    // It only grows: to compare thousands of steps with themselves would find nothing.
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const before = client.getQueryData<Transcript>(queryKey)
      const steps = [...(before?.steps ?? [])]
      let cursor = before?.cursor
      for (;;) {
        const page = await muster.subtasks.steps(id, { limit: PAGE }, { signal }).page(cursor)
        const lastSeq = steps.at(-1)?.seq ?? 0
        steps.push(...page.items.filter(({ seq }) => seq > lastSeq))
        if (page.next_cursor === null) return { steps, cursor }
        cursor = page.next_cursor
        // Something to read while the rest is on its way.
        client.setQueryData<Transcript>(queryKey, { steps: [...steps], cursor })
      }
    },
  })
}
