import type { SubtaskStatus } from '@muster/client'

export const STATUSES = ['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const satisfies SubtaskStatus[]

/** The filters of the list, as the address of the page has them. */
export interface SubtaskFilters {
  status?: SubtaskStatus
  agent_id?: string
  session?: string
  task_id?: string
  schedule_id?: string
  subagent?: string
}

const TEXTS = ['agent_id', 'session', 'task_id', 'schedule_id', 'subagent'] as const

/** Reads an address; what it does not understand is left out. */
export function readSubtaskFilters(search: Record<string, unknown>): SubtaskFilters {
  const filters: SubtaskFilters = {}
  const status = STATUSES.find((each) => each === search.status)
  if (status !== undefined) filters.status = status
  for (const name of TEXTS) {
    const value = search[name]
    if ((typeof value === 'string' || typeof value === 'number') && value !== '') filters[name] = String(value)
  }
  return filters
}
