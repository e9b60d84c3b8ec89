import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
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
