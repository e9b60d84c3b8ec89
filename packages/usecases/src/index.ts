/**
 * What can be done with Muster: one verb a function, `(ctx, input) → result`, one transaction each. The doors (HTTP, jobs) parse,
 * call one of these, and answer. They never talk to the database themselves.
 */

export {
  type AgreementCase,
  type ApiKey,
  type CheckRun,
  type Delivery,
  type DeliverySummary,
  describeOutage,
  type EvaluationStats,
  type EvaluationSummary,
  type EvaluationTally,
  type HeldCheck,
  type InboxItem,
  isDatabaseUnavailable,
  type Question,
  type Receiver,
  type Step,
  type StoredEvaluation,
  type SubagentSummary,
  type TaskCheckIn,
  type TaskRevision,
  type TaskSummary,
  type TsgSummary,
  type Update,
} from '@muster/db'
export { createApiKey, listApiKeys, revokeApiKey } from './api-keys/api-keys.ts'
export { authenticate, findEndedTokens, openActor } from './api-keys/authenticate.ts'
export { returnTaskToPending } from './assignments/unassign-task.ts'
export { exportAuditEntries, listAuditEntries, recordCommand } from './audit/audit-log.ts'
export { type BrowserSession, findBrowserSession, renewBrowserSession, signIn, signOut } from './browser-sessions/browser-sessions.ts'
export { BOT_LEASE_SECONDS, holdChatBot, listChatBots, releaseChatBot, storeChatProgress } from './chats/chat-bots.ts'
export { takeChatRequest } from './chats/take-chat-request.ts'
export { requestChecks } from './checks/request-checks.ts'
export { type CheckMeans, type CheckOutcome, type CheckWorker, claimChecks, endAbandonedChecks, holdChecks, runCheck } from './checks/run-check.ts'
export { BatchExecutor } from './core/batch-executor.ts'
export { type Ctx, type Deps, type Idempotency, type Log, Replay, replayIfAnswered } from './core/ctx.ts'
export { createFailureReport, type FailureReport, isDiskFailure } from './core/failure-report.ts'
export { cursorInvalid } from './core/page.ts'
export type { Precondition } from './core/precondition.ts'
export { checkWrites, WriteWatch } from './core/write-watch.ts'
export {
  createWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookFields,
  type WebhookWithSecret,
} from './deliveries/change-webhooks.ts'
export { getDelivery, listDeliveries, redeliver } from './deliveries/delivery-log.ts'
export { getWebhook, listWebhooks, testWebhook } from './deliveries/read-webhooks.ts'
export { sealAllAgain } from './deliveries/seal-again.ts'
export { type Channels, claimDeliveries, endUnsendableDeliveries, type HeldDelivery, sendDelivery } from './deliveries/send-deliveries.ts'
export { type CreatedEvaluation, createEvaluation } from './evaluations/create-evaluation.ts'
export { evaluateOutput, evaluationEvent } from './evaluations/evaluate-output.ts'
export { type AgreementStats, getAgreementStats, getEvaluationStats, type RatedGroup } from './evaluations/evaluation-stats.ts'
export { exportTraining } from './evaluations/export-training.ts'
export { flagQuality } from './evaluations/flag-quality.ts'
export {
  getEvaluation,
  getEvaluationPayload,
  getSubtaskPayload,
  getTaskPayload,
  kindOfEvaluated,
  listEvaluations,
  type Payload,
} from './evaluations/read-evaluations.ts'
export { latestEventSeq, readEvents, readEventsAcrossProjects } from './events/event-log.ts'
export { type Relay, relayOutbox, SAY_FOLLOWED_EVERY_MS, startRelay } from './events/relay.ts'
export { machineNowMs } from './folders/clock.ts'
export { attemptFolders, type FolderKind, taskFolders } from './folders/folder-kinds.ts'
export { measureFolder } from './folders/measure-folder.ts'
export { placeOf } from './folders/place.ts'
export { sweepTask } from './folders/sweep-folders.ts'
export { createTsg, deleteTsg, putTsg, updateTsg } from './guides/change-tsgs.ts'
export { linkTsgToTask, unlinkTsgFromTask } from './guides/link-tsg.ts'
export { getTsg, getTsgUsage, listTsgs } from './guides/read-tsgs.ts'
export { recordTsgFeedback } from './guides/record-tsg-feedback.ts'
export { type ScannedTsg, scanTsgs } from './guides/surface-tsgs.ts'
export { judgeEvaluation } from './judgements/judge-evaluation.ts'
export { findLogProblems } from './maintenance/log-problems.ts'
export { deleteExpired, MAINTENANCE, type MaintenanceTask, startMaintenance } from './maintenance/maintenance.ts'
export { findPartitionReach, type PartitionReach } from './maintenance/partitions.ts'
export { deleteFact, forgetEpisode, learnFact, rememberEpisodes } from './memory/change-memory.ts'
export { getEpisode, getFact, searchMemory } from './memory/recall-memory.ts'
export { createProject, getProject, updateProject } from './projects/projects.ts'
export { answerQuestion } from './questions/answer-question.ts'
export { askAboutSubtask, askAboutTask } from './questions/ask-question.ts'
export { expireQuestions } from './questions/expire-questions.ts'
export { getQuestion, listQuestions } from './questions/read-questions.ts'
export { withdrawQuestion } from './questions/withdraw-question.ts'
export { acknowledgeRestores, beatDataFolder, countPendingFollowUps, describeRestore, type FolderNote, hasComeAsFar } from './restores/restores.ts'
export { announceRetention, applyRetention, type RetentionReport } from './retention/apply-retention.ts'
export { previewRetention, type RetentionPreview } from './retention/preview-retention.ts'
export { type Erasure, eraseData, exportData } from './retention/scope-data.ts'
export { listAskRules, postponeTimeout } from './runs/ask-rules.ts'
export { attemptAttributes, isFailure, startWait } from './runs/attempt-spans.ts'
export { buildPrompt, type RunPrompt } from './runs/build-prompt.ts'
export { type CheckpointAnswer, checkpointRun, type RenderedUpdate } from './runs/checkpoint-run.ts'
export { type ClaimedRun, claimRuns } from './runs/claim-runs.ts'
export { type ClaimedSubtask, claimSubtask, completeLease, failLease, heartbeat, releaseLease, waitForAnswer } from './runs/outside-workers.ts'
export type { RunEnd } from './runs/prepare-ends.ts'
export { passIdlePermits, reapRuns } from './runs/reap-runs.ts'
export { judgeSilence, type QuietAnswer } from './runs/run-loops.ts'
export { type Settlement, settleRuns } from './runs/settle-runs.ts'
export {
  beatWorker,
  holdWorkerLock,
  KEPT,
  listHeldRuns,
  lookAtRuns,
  type RunSignal,
  removeWorker,
  renewLeases,
  stepsUsed,
} from './runs/worker-presence.ts'
export { deactivateSchedule, pauseSchedule, resumeSchedule } from './schedules/change-schedule-state.ts'
export type { ScheduleRule } from './schedules/create-schedule.ts'
export { createSchedule, type NewSchedule, previewSchedule } from './schedules/create-schedule.ts'
export { fireSchedules } from './schedules/fire-schedules.ts'
export { type Firings, getSchedule, listFirings, listScheduleRuns, listSchedules } from './schedules/read-schedules.ts'
export { reviseSchedule, type ScheduleRevision } from './schedules/revise-schedule.ts'
export { triggerSchedule } from './schedules/trigger-schedule.ts'
export { acknowledgeInbox, claimInbox } from './sessions/claim-inbox.ts'
export { acknowledgeInjection, type Injection, injectSession } from './sessions/inject-session.ts'
export { listMessages, postMessage } from './sessions/messages.ts'
export { type HookAnswer, takeHookEvent } from './sessions/take-hook-event.ts'
export { deleteSubagent, type PutSubagent, putSubagent } from './subagents/change-subagents.ts'
export { type GivenFile, type ImportedFile, importSubagents } from './subagents/import-subagents.ts'
export { checkSubagentTool, getSubagent, listSubagents, type SubagentList } from './subagents/read-subagents.ts'
export { cancelSubtask } from './subtasks/cancel-subtask.ts'
export { createSubtask, type NewSubtask } from './subtasks/create-subtask.ts'
export {
  getChangedSubtask,
  getSubtask,
  type ListedSubtask,
  listAgents,
  listPrompts,
  listSteps,
  listSubtasks,
  listUpdates,
  SHOWN_POINTS_MAX,
} from './subtasks/read-subtasks.ts'
export { getSpawned, spawnSubagent } from './subtasks/spawn-subagent.ts'
export { steerSubtask } from './subtasks/steer-subtask.ts'
export { assignTask } from './tasks/assign-task.ts'
export { findClientFolder } from './tasks/check-files.ts'
export { type CheckedIn, checkIn } from './tasks/check-in.ts'
export { completeTask } from './tasks/complete-task.ts'
export { createTask, taskWorkspacePath } from './tasks/create-task.ts'
export { dispatchTask } from './tasks/dispatch-task.ts'
export { cancelTask, failTask } from './tasks/finish-task.ts'
export {
  confirmUpdate,
  getTask,
  getTaskContext,
  getTaskStats,
  listTaskCheckIns,
  listTaskChecks,
  listTaskRevisions,
  listTasks,
  listTaskUpdates,
  type TaskStats,
} from './tasks/read-tasks.ts'
export { retrySubtask } from './tasks/retry-subtask.ts'
export { type Review, reviewTask } from './tasks/review-task.ts'
export { type ExpectedRevision, type RevisedTask, reviseTask } from './tasks/revise-task.ts'
export { noteTask } from './tasks/send-task-update.ts'
export { type ValidatedTask, validateTask } from './tasks/validate-task.ts'
export { addUpBytes, takeRoom } from './usage/quotas.ts'
export { getUsage, type UsageReport } from './usage/read-usage.ts'
export { drainWorker, type ListedWorker, listWorkers, readVitals, type Vitals } from './workers/workers.ts'
