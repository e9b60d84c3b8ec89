import type { Priority, TaskStatus } from '@muster/client'

export const TASK_STATUSES = [
  'pending',
  'assigned',
  'in_progress',
  'in_review',
  'revision_requested',
  'blocked',
  'completed',
  'failed',
  'cancelled',
] as const satisfies TaskStatus[]
const PRIORITIES = ['urgent', 'high', 'normal', 'low'] as const satisfies Priority[]

/** The filters of the list, as the address of the page has them. */
export interface TaskFilters {
  status?: TaskStatus
  priority?: Priority
  q?: string
}

/** Reads an address; what it does not understand is left out. */
export function readTaskFilters(search: Record<string, unknown>): TaskFilters {
  const status = TASK_STATUSES.find((each) => each === search.status)
  const priority = PRIORITIES.find((each) => each === search.priority)
  return {
    ...(status === undefined ? {} : { status }),
    ...(priority === undefined ? {} : { priority }),
    ...(search.q === undefined || search.q === '' ? {} : { q: String(search.q) }),
  }
}
