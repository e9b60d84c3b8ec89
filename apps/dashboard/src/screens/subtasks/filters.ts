import type { Subtask, SubtaskStatus } from '@muster/client'

export const STATUSES = ['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const satisfies SubtaskStatus[]

/** The filters of the list, as the address of the page has them. */
export interface SubtaskFilters {
  /** Words of the task or of what came of it. */
  q?: string
  status?: SubtaskStatus
  agent_id?: string
  parent_session_id?: string
  task_id?: string
  schedule_id?: string
  subagent?: string
}

const TEXTS = ['q', 'agent_id', 'parent_session_id', 'task_id', 'schedule_id', 'subagent'] as const

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

/** Whether a subtask passes the filters, words apart. */
export function passes(subtask: Subtask, { status, agent_id, parent_session_id, task_id, schedule_id, subagent }: SubtaskFilters): boolean {
  return (
    (status === undefined || subtask.status === status) &&
    (agent_id === undefined || subtask.agent_id === agent_id) &&
    (parent_session_id === undefined || subtask.parent_session_id === parent_session_id) &&
    (task_id === undefined || subtask.task_id === task_id) &&
    (schedule_id === undefined || subtask.schedule_id === schedule_id) &&
    (subagent === undefined || subtask.subagent?.name === subagent)
  )
}
