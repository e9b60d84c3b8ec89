/**
 * What can be done with Muster: one verb a function, `(ctx, input) → result`, one transaction each. The doors (HTTP, jobs) parse,
 * call one of these, and answer. They never talk to the database themselves.
 */

export {
  type ApiKey,
  describeOutage,
  type EvaluationGroup,
  type EvaluationStats,
  type EvaluationSummary,
  type EvaluationTally,
  type InboxItem,
  isDatabaseUnavailable,
  type Step,
  type StoredEvaluation,
  type SubagentSummary,
  type TaskRevision,
  type TaskSummary,
  type TsgSummary,
  type Update,
} from '@muster/db'
export { createApiKey, listApiKeys, type NewApiKey, revokeApiKey } from './api-keys.ts'
export { assignTask } from './assign-task.ts'
export { authenticate, findEndedTokens, openActor } from './authenticate.ts'
export { briefRun, type RunBrief } from './brief-run.ts'
export { cancelSubtask } from './cancel-subtask.ts'
export { type CheckedIn, checkIn } from './check-in.ts'
export { type CheckpointAnswer, checkpointRun, type RunCheckpoint, type WordedUpdate } from './checkpoint-run.ts'
export { acknowledgeInbox, claimInbox } from './claim-inbox.ts'
export { type ClaimedRun, type Claimer, claimRuns } from './claim-runs.ts'
export { findClientFolder } from './client-folder.ts'
export { completeTask, completeTaskInTransaction } from './complete-task.ts'
export { type CreatedEvaluation, createEvaluation, type NewEvaluation } from './create-evaluation.ts'
export { createSchedule, type NewSchedule } from './create-schedule.ts'
export { createSubtask, DEFAULT_AGENT, type NewSubtask } from './create-subtask.ts'
export { createTask } from './create-task.ts'
export { createTsg, type TsgContent } from './create-tsg.ts'
export { type Ctx, type Deps, type Idempotency, type Log, Replay, type StoredAnswer } from './ctx.ts'
export { deactivateSchedule } from './deactivate-schedule.ts'
export { deleteSubagent } from './delete-subagent.ts'
export { deleteTsg } from './delete-tsg.ts'
export { isDiskFailure } from './disk-failure.ts'
export { dispatchTask, type TaskDispatch } from './dispatch-task.ts'
export { cancelTask, failTask } from './end-task.ts'
export { evaluateOutput, evaluationEvent } from './evaluate-output.ts'
export { getEvaluationStats, STATS_BOUNDS, type StatsQuery } from './evaluation-stats.ts'
export { exportTraining, type TrainingQuery } from './export-training.ts'
export { type FiringPass, fireSchedules } from './fire-schedules.ts'
export { flagQuality } from './flag-quality.ts'
export { deleteFact, forgetEpisode } from './forget-memory.ts'
export { grantMissedSlots } from './grant-missed-slots.ts'
export { type HookAnswer, takeHookEvent } from './hook-take-event.ts'
export { type GivenFile, type ImportedFile, importSubagents } from './import-subagents.ts'
export { acknowledgeInjection, type Injection, type InjectionItem, type InjectionRequest, injectSession } from './inject-session.ts'
export { type JudgedBrief, validateTask } from './judge-brief.ts'
export { type JudgementEnd, judgeEvaluation } from './judge-evaluation.ts'
export { keepHouse, makePartitions, refreshStatistics } from './keep-house.ts'
export { learnFact, type NewFact } from './learn-fact.ts'
export { linkTsgToTask, unlinkTsgFromTask } from './link-tsg.ts'
export { noteTask } from './note-task.ts'
export {
  type ClaimedSubtask,
  type ClaimRequest,
  type Completion,
  claimSubtask,
  completeLease,
  failLease,
  type Heartbeat,
  heartbeat,
  releaseLease,
} from './outside-workers.ts'
export { pauseSchedule } from './pause-schedule.ts'
export { type NewMessage, postMessage } from './post-message.ts'
export type { RunEnd } from './prepare-ends.ts'
export { previewSchedule } from './preview-schedule.ts'
export { createProject, getProject, updateProject } from './projects.ts'
export { type PutSubagent, putSubagent } from './put-subagent.ts'
export {
  type EvaluationQuery,
  getEvaluation,
  getEvaluationPayload,
  getSubtaskPayload,
  getTaskPayload,
  listEvaluations,
  type Payload,
} from './read-evaluations.ts'
export { type EventQuery, latestEventSeq, readEvents, readEventsAcrossProjects } from './read-events.ts'
export { listMessages } from './read-messages.ts'
export type { ScheduleRule } from './read-rule.ts'
export { getSchedule, listScheduleRuns, listSchedules, type ScheduleQuery } from './read-schedules.ts'
export { type BrokenSubagent, checkSubagentTool, getSubagent, listSubagents, type SubagentList } from './read-subagents.ts'
export { cursorInvalid, getSubtask, listSteps, listSubtasks, listUpdates, type Page, type SubtaskQuery } from './read-subtasks.ts'
export {
  confirmUpdate,
  getTask,
  getTaskContext,
  getTaskStats,
  listTaskRevisions,
  listTasks,
  listTaskUpdates,
  type TaskQuery,
  type TaskStats,
} from './read-tasks.ts'
export { getTsg, getTsgUsage, listTsgs, type TsgQuery } from './read-tsgs.ts'
export { passIdleSlots, reapRuns } from './reap-runs.ts'
export { getEpisode, getFact, type MemoryQuery, searchMemory } from './recall-memory.ts'
export { recordTsgFeedback } from './record-tsg-feedback.ts'
export { relayOutbox } from './relay-outbox.ts'
export { rememberEpisodes } from './remember-episodes.ts'
export { requestJudgement } from './request-judgement.ts'
export { resumeSchedule } from './resume-schedule.ts'
export { returnTaskToPending } from './return-task.ts'
export { type Review, reviewTask } from './review-task.ts'
export { reviseSchedule, type ScheduleRevision } from './revise-schedule.ts'
export { type BriefPatch, type ExpectedRevision, type RevisedTask, recordRevision, reviseTask } from './revise-task.ts'
export { type ScannedTsg, scanTsgs, type TsgScan } from './scan-tsgs.ts'
export { type Settlement, settleRuns } from './settle-runs.ts'
export { getSpawned, type SubagentSpawn, spawnSubagent } from './spawn-subagent.ts'
export { type NewSubtaskUpdate, steerSubtask } from './steer-subtask.ts'
export { stepsUsed } from './steps-used.ts'
export { surfaceTsgs, type TsgAudience } from './surface-tsgs.ts'
export { SWEEPS, type Sweep } from './sweeps.ts'
export { taskWorkspacePath } from './task-workspace.ts'
export { triggerSchedule } from './trigger-schedule.ts'
export { putTsg, updateTsg } from './update-tsg.ts'
export { beatWorker, findOverAttempts, holdWorkerLock, listHeldRuns, lookAtRuns, type RunNews, removeWorker, renewLeases } from './worker-presence.ts'
export { checkWrites, WriteWatch } from './write-watch.ts'
