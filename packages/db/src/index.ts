/**
 * Schema, migrations, connections and queries: the only package with SQL, except for that of the job queue in `jobs`. It decides nothing: each function
 * does what its name says, in the transaction that it gets.
 */
export {
  CommitUnknownError,
  connect,
  type Database,
  type DatabaseRole,
  describeOutage,
  isDatabaseUnavailable,
  isMissingQueue,
  pipeline,
  readOnce,
  type Tx,
  transaction,
  unavailable,
} from './client.ts'
export { migrate } from './migrate.ts'
export type { ApiKey } from './queries/api-keys.ts'
export * as apiKeys from './queries/api-keys.ts'
export * as bodies from './queries/core/bodies.ts'
export * as clock from './queries/core/clock.ts'
export * as idempotency from './queries/core/idempotency.ts'
export * as credentials from './queries/credentials.ts'
export type { EvaluatedOutput, EvaluationSummary, StoredEvaluation } from './queries/evaluations/evaluation-reads.ts'
export * as evaluationReads from './queries/evaluations/evaluation-reads.ts'
export type { EvaluationGroup, EvaluationGrouping, EvaluationStats, EvaluationTally } from './queries/evaluations/evaluation-stats.ts'
export * as evaluationStats from './queries/evaluations/evaluation-stats.ts'
export type { NewEvaluationRow } from './queries/evaluations/evaluations.ts'
export * as evaluations from './queries/evaluations/evaluations.ts'
export * as judgements from './queries/evaluations/judgements.ts'
export * as qualityFlags from './queries/evaluations/quality-flags.ts'
export * as training from './queries/evaluations/training.ts'
export * as events from './queries/events/events.ts'
export * as outbox from './queries/events/outbox.ts'
export * as facts from './queries/facts.ts'
export * as tsgNotices from './queries/guides/tsg-notices.ts'
export * as tsgUses from './queries/guides/tsg-uses.ts'
export type { TsgSummary } from './queries/guides/tsgs.ts'
export * as tsgs from './queries/guides/tsgs.ts'
export * as maintenance from './queries/maintenance.ts'
export * as memory from './queries/memory.ts'
export * as projects from './queries/projects.ts'
export * as dueQuestions from './queries/questions/due-questions.ts'
export type { Question } from './queries/questions/questions.ts'
export * as questions from './queries/questions/questions.ts'
export type { Advance, DueFacts, DueRef, NewSlotRow } from './queries/schedules/due-slots.ts'
export * as dueSlots from './queries/schedules/due-slots.ts'
export * as scheduleSlots from './queries/schedules/schedule-slots.ts'
export * as schedules from './queries/schedules/schedules.ts'
export * as hooks from './queries/sessions/hooks.ts'
export type { InboxItem } from './queries/sessions/inbox.ts'
export * as inbox from './queries/sessions/inbox.ts'
export * as injections from './queries/sessions/injections.ts'
export * as sessionMessages from './queries/sessions/session-messages.ts'
export type { StoredSubagent, SubagentSummary } from './queries/subagents.ts'
export * as subagents from './queries/subagents.ts'
export * as checkpoints from './queries/subtasks/checkpoints.ts'
export type { ClaimedRow } from './queries/subtasks/claims.ts'
export * as claims from './queries/subtasks/claims.ts'
export * as lanes from './queries/subtasks/lanes.ts'
export { type NewSubtaskRow, toNewSubtask } from './queries/subtasks/row.ts'
export type { AttemptRef, EndingRow, ReturnRow, TerminalRow } from './queries/subtasks/settle.ts'
export * as settle from './queries/subtasks/settle.ts'
export * as spawn from './queries/subtasks/spawn.ts'
export type { Step } from './queries/subtasks/steps.ts'
export * as steps from './queries/subtasks/steps.ts'
export type { LockedSubtask } from './queries/subtasks/subtasks.ts'
export * as subtasks from './queries/subtasks/subtasks.ts'
export type { Update } from './queries/subtasks/updates.ts'
export * as updates from './queries/subtasks/updates.ts'
export * as versions from './queries/subtasks/versions.ts'
export * as assignments from './queries/tasks/assignments.ts'
export * as checkIns from './queries/tasks/check-ins.ts'
export * as taskDependencies from './queries/tasks/task-dependencies.ts'
export type { TaskRevision } from './queries/tasks/task-revisions.ts'
export * as taskRevisions from './queries/tasks/task-revisions.ts'
export * as taskUpdates from './queries/tasks/task-updates.ts'
export type { LockedTask, TaskSummary } from './queries/tasks/tasks.ts'
export * as tasks from './queries/tasks/tasks.ts'
export * as workers from './queries/workers.ts'
export { explainDatabaseError } from './unusable-database.ts'
export { missingFromDatabase, requireUsableDatabase, whenUsable } from './usable-database.ts'
