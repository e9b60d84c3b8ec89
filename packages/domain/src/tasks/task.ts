import { DomainError } from '../core/errors.ts'
import type { Priority } from '../core/priority.ts'
import type { RequiredOutput } from './output-schema.ts'

export const TASK_STATUSES = ['blocked', 'pending', 'assigned', 'in_progress', 'in_review', 'revision_requested', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

/** The state machine of briefs, once. Drawn in docs/task-lifecycle.md with the use-case behind each arrow. */
const NEXT_TASK_STATUSES = {
  blocked: ['pending', 'assigned', 'in_progress', 'failed', 'cancelled'],
  pending: ['blocked', 'assigned', 'in_progress', 'in_review', 'completed', 'failed', 'cancelled'],
  assigned: ['in_progress', 'in_review', 'completed', 'failed', 'cancelled'],
  in_progress: ['pending', 'blocked', 'assigned', 'in_review', 'completed', 'failed', 'cancelled'],
  in_review: ['assigned', 'revision_requested', 'completed', 'failed', 'cancelled'],
  revision_requested: ['assigned', 'in_progress', 'in_review', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<TaskStatus, readonly TaskStatus[]>

export type TerminalTaskStatus = 'completed' | 'failed' | 'cancelled'

export function isTerminalTask(status: TaskStatus): status is TerminalTaskStatus {
  return NEXT_TASK_STATUSES[status].length === 0
}

/** @throws DomainError `invalid_transition` when a task has ended */
export function requireOpenTask({ status }: { status: TaskStatus }): void {
  if (!isTerminalTask(status)) return
  throw new DomainError('invalid_transition', `This task has already ended as ${status} and can no longer be changed.`, { status_now: status })
}

/** What a task reports to the inbox of its parent session: its end, that it waits for a review, or that it is blocked because its assignee went in circles. */
export const REPORTED_TASK_STATUSES = ['blocked', 'in_review', 'completed', 'failed', 'cancelled'] as const satisfies readonly TaskStatus[]
export type ReportedTaskStatus = (typeof REPORTED_TASK_STATUSES)[number]

export const REVIEW_MODES = ['none', 'auto', 'manual'] as const
export type ReviewMode = (typeof REVIEW_MODES)[number]

export const ENFORCEMENT_LEVELS = ['strict', 'advisory'] as const
export type EnforcementLevel = (typeof ENFORCEMENT_LEVELS)[number]

export const CRITERION_SOURCES = ['acceptance', 'success', 'constraint'] as const
export type CriterionSource = (typeof CRITERION_SOURCES)[number]

export const CRITERION_STATES = ['open', 'met', 'unmet', 'unclear'] as const
export type CriterionState = (typeof CRITERION_STATES)[number]

/** One thing by which the result of a task is judged. Its id lasts across edits of the brief. */
export interface Criterion {
  id: string
  text: string
  source: CriterionSource
  required: boolean
  /** The configured check that decides it; absent if none does. */
  check?: string
  state: CriterionState
}

export const FILE_STATUSES = ['found', 'not_found', 'not_checked'] as const
export type FileStatus = (typeof FILE_STATUSES)[number]

/** The result of the check of a file that a brief names, at the time of its validation. */
export interface FileCheck {
  field: 'relevant_files' | 'related_documentation'
  /** As the brief has it. */
  path: string
  /** `not_checked` wherever the server may not look, whether a file is there or not. */
  status: FileStatus
  /** For `not_found`: the path with the most similar name of the same folder, where one is similar. */
  nearest: string | null
}

/** What surrounds a task, in the nested shape of [EN] 3.2. Absent parts are left out. Keys are those of the wire. */
export interface TaskContext {
  background_context?: string
  expected_deliverables?: { items: string[]; validation_added: string }
  success_criteria?: { criteria: string[]; all_required: boolean }
  constraints?: { rules: string[]; enforcement_level: EnforcementLevel }
  relevant_files?: string[]
  related_documentation?: string[]
  /** Beyond [EN]: what the server knows of each file that the two lists name, in their order. */
  file_checks?: FileCheck[]
  validation_performed: boolean
  validation_timestamp: string
  validation_warnings: string[]
}

/** Something about a brief that should be better and does not stop it. [EN] 4.3 */
export interface BriefWarning {
  /** `success_criteria[2]`, as [EN] names it. */
  field: string
  message: string
  /** RFC 3339. */
  timestamp: string
}

export interface Task {
  id: string
  projectId: string
  title: string
  instructions: string
  /** Set where the task was created by description. */
  description: string | null
  status: TaskStatus
  revision: number
  priority: Priority
  criteria: Criterion[]
  requiredOutputs: RequiredOutput[]
  completionOutputs: Record<string, unknown> | null
  summary: string | null
  tsgs: { tsgId: string; title: string }[]
  parentSessionId: string | null
  subagentSessionId: string | null
  dependsOn: string[]
  blockedBy: string[]
  context: TaskContext | null
  warnings: BriefWarning[]
  review: ReviewMode
  /** What all of its subtasks and judgements may use together; null for any amount. Read and written. */
  budgetMaxTokens: number | null
  /** The same in millionths of a US dollar. */
  budgetMaxCostMicros: number | null
  clientCwd: string | null
  workspace: string | null
  metadata: Record<string, unknown>
  lastError: string | null
  /** What its holder says comes next, by the newest check-in that says so. */
  nextSteps: string[]
  createdAt: Date
  updatedAt: Date
  completedAt: Date | null
}

export const UPDATE_TYPES = ['instructions', 'acceptance_criteria', 'context', 'note', 'revision_request'] as const
export type UpdateType = (typeof UPDATE_TYPES)[number]
