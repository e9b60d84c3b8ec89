import { z } from 'zod'

/**
 * What is kept for a number of days, with the days that are shipped. Tasks, guides, facts, and work with a quality flag stay until they are erased.
 */
export const RETENTION_DAYS = {
  /** Events, from their time. */
  events: 30,
  /** Transcripts, from the time of each step. */
  steps: 30,
  /** Inbox items, from their delivery. */
  inbox: 30,
  /** Deliveries to webhooks, callbacks and channels, from their end. */
  deliveries: 90,
  /** Messages of sessions with their evaluations. */
  messages: 90,
  /** Ended subtasks, from their end, with their attempts, evaluations, notes, questions and episodes; and evaluations of texts that were only sent to be evaluated. */
  subtasks: 365,
  /** Folders of ended tasks in DATA_DIR, from the end of the task. */
  folders: 90,
} as const

export type RetentionKind = keyof typeof RETENTION_DAYS
export const RETENTION_KINDS = Object.keys(RETENTION_DAYS) as readonly RetentionKind[]

/** A table that is divided by time has a partition for each day of it, or more. */
const PARTITIONED_DAYS_MAX = 365
const DAYS_MAX = 3_650

/** Days for each kind; absent kinds are as in the layer below: of a project as on the server, on the server as shipped. */
export const retentionSchema = z.strictObject({
  events: z.int().min(1).max(PARTITIONED_DAYS_MAX).optional(),
  steps: z.int().min(1).max(PARTITIONED_DAYS_MAX).optional(),
  inbox: z.int().min(1).max(DAYS_MAX).optional(),
  deliveries: z.int().min(1).max(DAYS_MAX).optional(),
  messages: z.int().min(1).max(DAYS_MAX).optional(),
  // Usage of a day is added up an hour after its end, and before that it is counted from the rows.
  subtasks: z.int().min(3).max(DAYS_MAX).optional(),
  folders: z.int().min(1).max(DAYS_MAX).optional(),
})

export type RetentionSettings = z.infer<typeof retentionSchema>

/** The days of the server: what it sets, and what is shipped. */
export function retentionDays(settings: RetentionSettings): Record<RetentionKind, number> {
  const set = Object.fromEntries(Object.entries(settings).filter(([, days]) => days !== undefined))
  return { ...RETENTION_DAYS, ...set }
}

/** In words, for the log: "events 30 days, …". */
export function describeRetention(days: Record<RetentionKind, number>): string {
  return RETENTION_KINDS.map((kind) => `${kind} ${days[kind]} days`).join(', ')
}
