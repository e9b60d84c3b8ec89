import { EVENT_TYPES, type EventType } from '../events/event.ts'

/** What events are delivered to. A callback is a webhook of one subtask or task. */
export const RECEIVER_KINDS = ['webhook', 'callback', 'telegram', 'slack', 'email'] as const
export type ReceiverKind = (typeof RECEIVER_KINDS)[number]

export const RECEIVER_STATUSES = ['enabled', 'disabled'] as const
export type ReceiverStatus = (typeof RECEIVER_STATUSES)[number]

/** Registered webhooks of one project. */
export const WEBHOOKS_MAX = 100
export const WEBHOOK_EVENTS_MAX = 50

const NOUNS = [...new Set(EVENT_TYPES.map((type) => type.split('.')[0] as string))]

/** What the `events` of a webhook may list: a type, all types of a noun such as `subtask.*`, or `*`. */
export const EVENT_PATTERNS: readonly string[] = ['*', ...NOUNS.map((noun) => `${noun}.*`), ...EVENT_TYPES]

/** The events of a callback: the ends of its subtask or task. */
export const CALLBACK_EVENTS = [
  'subtask.completed',
  'subtask.failed',
  'subtask.cancelled',
  'task.completed',
  'task.failed',
  'task.cancelled',
] as const satisfies readonly EventType[]
