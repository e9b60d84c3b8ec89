/** The facts that Muster announces, in an append-only log that event streams and webhooks read. Names are part of the contract. */
export const EVENT_TYPES = [
  'subtask.created',
  'subtask.started',
  'subtask.progress',
  'subtask.retrying',
  'subtask.released',
  'subtask.waiting',
  'subtask.resumed',
  'subtask.cancel_requested',
  'subtask.completed',
  'subtask.failed',
  'subtask.cancelled',
  'task.created',
  'task.revised',
  'task.assigned',
  'task.blocked',
  'task.unblocked',
  'task.checked_in',
  'task.in_review',
  'task.revision_requested',
  'task.completed',
  'task.failed',
  'task.cancelled',
  'update.queued',
  'update.delivered',
  'update.acknowledged',
  'update.superseded',
  'update.expired',
  'question.asked',
  'question.answered',
  'question.expired',
  'question.withdrawn',
  'schedule.created',
  'schedule.fired',
  'schedule.skipped',
  'schedule.paused',
  'schedule.finished',
  'schedule.deactivated',
  'check.completed',
  'evaluation.created',
  'tsg.surfaced',
  'tsg.resolved',
  'webhook.disabled',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** The event that ends a subtask: exactly one of these is ever written for it. */
export const TERMINAL_SUBTASK_EVENTS = ['subtask.completed', 'subtask.failed', 'subtask.cancelled'] as const satisfies readonly EventType[]

export function isTerminalSubtaskEvent(type: string): boolean {
  return (TERMINAL_SUBTASK_EVENTS as readonly string[]).includes(type)
}

/** The events that end a wait for a task: its ends, and the review for which it waits itself. */
const TASK_ENDS = ['task.completed', 'task.failed', 'task.cancelled', 'task.in_review'] as const satisfies readonly EventType[]

/** The events that end a wait for an answer. */
const QUESTION_ENDS = ['question.answered', 'question.expired', 'question.withdrawn'] as const satisfies readonly EventType[]

/** Whether requests that wait for the subject of an event wait for this one. */
export function endsWait(type: EventType): boolean {
  return isTerminalSubtaskEvent(type) || [...TASK_ENDS, ...QUESTION_ENDS].includes(type as (typeof TASK_ENDS | typeof QUESTION_ENDS)[number])
}

/** An event before the relay has given it its place in the log. */
export interface NewEvent {
  type: EventType
  /** `id` of a guide is its `tsg_id`. */
  subject: { kind: 'subtask' | 'task' | 'tsg' | 'schedule' | 'evaluation' | 'webhook'; id: string }
  data: Record<string, unknown>
  actor: { kind: string; id: string }
}

/** An event of the log. `id` is its place: readers that page by it miss nothing. */
export interface LoggedEvent extends Omit<NewEvent, 'type'> {
  id: number
  type: string
  at: Date
  projectId: string
}
