import type { Priority } from '../core/priority.ts'
import type { Budget } from '../subtasks/subtask.ts'
import type { Timing } from './timing.ts'

/** Only an active one fires. A paused one lets its slots pass, and says so of each; a finished one has no slot left; a deactivated one was ended. */
export const SCHEDULE_STATES = ['active', 'paused', 'finished', 'deactivated'] as const
export type ScheduleState = (typeof SCHEDULE_STATES)[number]

/** The field that a phrase was given in, which says how it is read. */
export const PHRASE_KINDS = ['when', 'every', 'cron'] as const
export type PhraseKind = (typeof PHRASE_KINDS)[number]

/** What happens to a slot while an earlier run of its schedule has not ended. */
export const OVERLAPS = ['skip', 'allow'] as const
export type Overlap = (typeof OVERLAPS)[number]

/** What happens to slots that the server could not fire in time: they pass, or one run replaces all. */
export const MISSED_POLICIES = ['skip', 'run_once'] as const
export type MissedPolicy = (typeof MISSED_POLICIES)[number]

/** What became of a slot. `waiting`: its agent's queue is full, and it fires as soon as there is room. All others are final. */
export const SLOT_OUTCOMES = ['waiting', 'fired', 'skipped_overlap', 'skipped_missed', 'skipped_paused'] as const
export type SlotOutcome = (typeof SLOT_OUTCOMES)[number]

export interface ScheduleWarning {
  code: string
  message: string
}

/** A rule that creates subtasks at points in time. */
export interface Schedule {
  id: string
  projectId: string
  agentId: string
  task: string
  phraseKind: PhraseKind
  /** As it was given. */
  phrase: string
  /** A phrase of the same kind that reads back to the same rule. */
  canonical: string
  /** For people. */
  reading: string
  timezone: string
  timing: Timing
  warnings: ScheduleWarning[]
  state: ScheduleState
  /** Where counting begins: when the phrase was read. */
  anchorAt: Date
  /** Null when no slot is to come. */
  nextFireAt: Date | null
  fireCount: number
  maxFires: number | null
  lastFiredAt: Date | null
  overlap: Overlap
  missed: MissedPolicy
  graceSeconds: number
  notify: boolean
  timeoutSeconds: number
  priority: Priority
  /** The name of the sub-agent that its runs are of; the version is chosen when a slot fires. */
  subagent: string | null
  runner: string
  model: string | null
  budget: Budget
  /** Whose inbox gets the results; null: none, so that they go where the rules of the project say. */
  parentSessionId: string | null
  createdBySession: string | null
  /** The span that asked for it: the traces of its runs link to it. */
  traceparent: string | null
  metadata: Record<string, unknown>
  createdAt: Date
  updatedAt: Date
}

/** One slot of a schedule, or one triggered run. */
export interface ScheduleRun {
  id: string
  scheduleId: string
  /** When it was due; of a triggered one, when it was asked for. */
  slot: Date
  firedAt: Date | null
  outcome: SlotOutcome
  manual: boolean
  subtaskId: string | null
}
