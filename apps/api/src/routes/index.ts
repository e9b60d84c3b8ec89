import type { Registry } from 'prom-client'
import { claudeCodeHookEndpoint } from '../hooks/claude-code.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { createApiKeyEndpoint } from './api-keys/create.ts'
import { listApiKeysEndpoint } from './api-keys/list.ts'
import { revokeApiKeyEndpoint } from './api-keys/revoke.ts'
import { exportAuditEndpoint } from './audit/export.ts'
import { listAuditEndpoint } from './audit/list.ts'
import { getDeliveryEndpoint } from './deliveries/get.ts'
import { listDeliveriesEndpoint } from './deliveries/list.ts'
import { redeliverEndpoint } from './deliveries/redeliver.ts'
import { createEvaluationEndpoint } from './evaluations/create.ts'
import { getEvaluationEndpoint } from './evaluations/get.ts'
import { getEvaluationPayloadEndpoint } from './evaluations/get-payload.ts'
import { listEvaluationsEndpoint } from './evaluations/list.ts'
import { getEvaluationStatsEndpoint } from './evaluations/stats.ts'
import { streamEventsEndpoint } from './events/stream.ts'
import { createTsgEndpoint } from './guides/create.ts'
import { deleteTsgEndpoint } from './guides/delete.ts'
import { getTsgEndpoint } from './guides/get.ts'
import { getTsgUsageEndpoint } from './guides/get-usage.ts'
import { listTsgsEndpoint } from './guides/list.ts'
import { putTsgEndpoint } from './guides/put.ts'
import { recordTsgFeedbackEndpoint } from './guides/record-feedback.ts'
import { scanTsgsEndpoint } from './guides/scan.ts'
import { updateTsgEndpoint } from './guides/update.ts'
import { claimSubtaskEndpoint } from './leases/claim.ts'
import { completeLeaseEndpoint } from './leases/complete.ts'
import { failLeaseEndpoint } from './leases/fail.ts'
import { heartbeatEndpoint } from './leases/heartbeat.ts'
import { releaseLeaseEndpoint } from './leases/release.ts'
import { waitForAnswerEndpoint } from './leases/wait.ts'
import { deleteFactEndpoint } from './memory/delete-fact.ts'
import { forgetEpisodeEndpoint } from './memory/forget-episode.ts'
import { getEpisodeEndpoint } from './memory/get-episode.ts'
import { getFactEndpoint } from './memory/get-fact.ts'
import { learnFactEndpoint } from './memory/learn.ts'
import { searchMemoryEndpoint } from './memory/search.ts'
import { healthEndpoint, readinessEndpoint } from './operations/health.ts'
import { metricsEndpoint } from './operations/metrics.ts'
import { getProjectEndpoint } from './projects/get.ts'
import { updateProjectEndpoint } from './projects/update.ts'
import { answerQuestionEndpoint } from './questions/answer.ts'
import { askAboutSubtaskEndpoint } from './questions/ask-about-subtask.ts'
import { askAboutTaskEndpoint } from './questions/ask-about-task.ts'
import { getQuestionEndpoint } from './questions/get.ts'
import { listQuestionsEndpoint } from './questions/list.ts'
import { withdrawQuestionEndpoint } from './questions/withdraw.ts'
import { listRunnersEndpoint } from './runners/list.ts'
import { createScheduleEndpoint } from './schedules/create.ts'
import { deactivateScheduleEndpoint } from './schedules/deactivate.ts'
import { getScheduleEndpoint } from './schedules/get.ts'
import { listSchedulesEndpoint } from './schedules/list.ts'
import { listScheduleFiringsEndpoint } from './schedules/list-firings.ts'
import { listScheduleRunsEndpoint } from './schedules/list-runs.ts'
import { pauseScheduleEndpoint } from './schedules/pause.ts'
import { previewScheduleEndpoint } from './schedules/preview.ts'
import { resumeScheduleEndpoint } from './schedules/resume.ts'
import { reviseScheduleEndpoint } from './schedules/revise.ts'
import { triggerScheduleEndpoint } from './schedules/trigger.ts'
import { acknowledgeInboxEndpoint } from './sessions/acknowledge-inbox.ts'
import { acknowledgeInjectionEndpoint } from './sessions/acknowledge-injection.ts'
import { claimInboxEndpoint } from './sessions/claim-inbox.ts'
import { injectSessionEndpoint } from './sessions/inject.ts'
import { listMessagesEndpoint } from './sessions/list-messages.ts'
import { postMessageEndpoint } from './sessions/post-message.ts'
import { checkToolEndpoint } from './subagents/check-tool.ts'
import { deleteSubagentEndpoint } from './subagents/delete.ts'
import { getSubagentEndpoint } from './subagents/get.ts'
import { importSubagentsEndpoint } from './subagents/import.ts'
import { listSubagentsEndpoint } from './subagents/list.ts'
import { putSubagentEndpoint } from './subagents/put.ts'
import { spawnSubagentEndpoint } from './subagents/spawn.ts'
import { cancelSubtaskEndpoint } from './subtasks/cancel.ts'
import { createSubtaskEndpoint } from './subtasks/create.ts'
import { flagSubtaskQualityEndpoint } from './subtasks/flag-quality.ts'
import { getSubtaskEndpoint } from './subtasks/get.ts'
import { getSubtaskPayloadEndpoint } from './subtasks/get-payload.ts'
import { listSubtasksEndpoint } from './subtasks/list.ts'
import { listAgentsEndpoint } from './subtasks/list-agents.ts'
import { listPromptsEndpoint } from './subtasks/list-prompts.ts'
import { listStepsEndpoint } from './subtasks/list-steps.ts'
import { listUpdatesEndpoint } from './subtasks/list-updates.ts'
import { steerSubtaskEndpoint } from './subtasks/steer.ts'
import { streamSubtaskEventsEndpoint } from './subtasks/stream-events.ts'
import { assignTaskEndpoint } from './tasks/assign.ts'
import { cancelTaskEndpoint } from './tasks/cancel.ts'
import { checkInEndpoint } from './tasks/check-in.ts'
import { completeTaskEndpoint } from './tasks/complete.ts'
import { confirmUpdateEndpoint } from './tasks/confirm-update.ts'
import { getTaskContextEndpoint } from './tasks/context.ts'
import { createTaskEndpoint } from './tasks/create.ts'
import { dispatchTaskEndpoint } from './tasks/dispatch.ts'
import { failTaskEndpoint } from './tasks/fail.ts'
import { flagTaskQualityEndpoint } from './tasks/flag-quality.ts'
import { getTaskEndpoint } from './tasks/get.ts'
import { getTaskPayloadEndpoint } from './tasks/get-payload.ts'
import { linkTsgEndpoint } from './tasks/link-tsg.ts'
import { listTasksEndpoint } from './tasks/list.ts'
import { listTaskCheckInsEndpoint } from './tasks/list-check-ins.ts'
import { listTaskChecksEndpoint } from './tasks/list-checks.ts'
import { listTaskRevisionsEndpoint } from './tasks/list-revisions.ts'
import { listTaskUpdatesEndpoint } from './tasks/list-updates.ts'
import { noteTaskEndpoint } from './tasks/note.ts'
import { requestTaskChecksEndpoint } from './tasks/request-checks.ts'
import { reviewTaskEndpoint } from './tasks/review.ts'
import { reviseTaskEndpoint } from './tasks/revise.ts'
import { getStatsEndpoint } from './tasks/stats.ts'
import { unlinkTsgEndpoint } from './tasks/unlink-tsg.ts'
import { validateTaskEndpoint } from './tasks/validate.ts'
import { exportTrainingEndpoint } from './training/export.ts'
import { getUsageEndpoint } from './usage/get.ts'
import { createWebhookEndpoint } from './webhooks/create.ts'
import { deleteWebhookEndpoint } from './webhooks/delete.ts'
import { getWebhookEndpoint } from './webhooks/get.ts'
import { getWebhookDeliveryEndpoint } from './webhooks/get-delivery.ts'
import { listWebhooksEndpoint } from './webhooks/list.ts'
import { listWebhookDeliveriesEndpoint } from './webhooks/list-deliveries.ts'
import { redeliverToWebhookEndpoint } from './webhooks/redeliver.ts'
import { rotateWebhookSecretEndpoint } from './webhooks/rotate-secret.ts'
import { testWebhookEndpoint } from './webhooks/test.ts'
import { updateWebhookEndpoint } from './webhooks/update.ts'
import { drainWorkerEndpoint } from './workers/drain.ts'
import { listWorkersEndpoint } from './workers/list.ts'

/** Every endpoint of the API, in the order in which one would explain them. The reference keeps this order. */
export const endpoints = (metrics: Registry): Endpoint[] => [
  createSubtaskEndpoint,
  listSubtasksEndpoint,
  listAgentsEndpoint,
  getSubtaskEndpoint,
  streamSubtaskEventsEndpoint,
  listStepsEndpoint,
  listPromptsEndpoint,
  steerSubtaskEndpoint,
  listUpdatesEndpoint,
  cancelSubtaskEndpoint,
  getSubtaskPayloadEndpoint,
  flagSubtaskQualityEndpoint,

  createTaskEndpoint,
  validateTaskEndpoint,
  listTasksEndpoint,
  getTaskEndpoint,
  reviseTaskEndpoint,
  listTaskRevisionsEndpoint,
  noteTaskEndpoint,
  listTaskUpdatesEndpoint,
  confirmUpdateEndpoint,
  assignTaskEndpoint,
  dispatchTaskEndpoint,
  checkInEndpoint,
  listTaskCheckInsEndpoint,
  completeTaskEndpoint,
  requestTaskChecksEndpoint,
  listTaskChecksEndpoint,
  reviewTaskEndpoint,
  failTaskEndpoint,
  cancelTaskEndpoint,
  linkTsgEndpoint,
  unlinkTsgEndpoint,
  getTaskContextEndpoint,
  getTaskPayloadEndpoint,
  flagTaskQualityEndpoint,
  getStatsEndpoint,

  askAboutSubtaskEndpoint,
  askAboutTaskEndpoint,
  listQuestionsEndpoint,
  getQuestionEndpoint,
  answerQuestionEndpoint,
  withdrawQuestionEndpoint,

  createScheduleEndpoint,
  previewScheduleEndpoint,
  listSchedulesEndpoint,
  getScheduleEndpoint,
  reviseScheduleEndpoint,
  deactivateScheduleEndpoint,
  pauseScheduleEndpoint,
  resumeScheduleEndpoint,
  triggerScheduleEndpoint,
  listScheduleRunsEndpoint,
  listScheduleFiringsEndpoint,

  listSubagentsEndpoint,
  getSubagentEndpoint,
  importSubagentsEndpoint,
  putSubagentEndpoint,
  deleteSubagentEndpoint,
  spawnSubagentEndpoint,
  checkToolEndpoint,

  createTsgEndpoint,
  listTsgsEndpoint,
  scanTsgsEndpoint,
  getTsgEndpoint,
  putTsgEndpoint,
  updateTsgEndpoint,
  deleteTsgEndpoint,
  recordTsgFeedbackEndpoint,
  getTsgUsageEndpoint,

  createEvaluationEndpoint,
  listEvaluationsEndpoint,
  getEvaluationStatsEndpoint,
  getEvaluationEndpoint,
  getEvaluationPayloadEndpoint,

  exportTrainingEndpoint,

  getUsageEndpoint,

  searchMemoryEndpoint,
  learnFactEndpoint,
  getFactEndpoint,
  deleteFactEndpoint,
  getEpisodeEndpoint,
  forgetEpisodeEndpoint,

  claimSubtaskEndpoint,
  heartbeatEndpoint,
  completeLeaseEndpoint,
  failLeaseEndpoint,
  releaseLeaseEndpoint,
  waitForAnswerEndpoint,

  injectSessionEndpoint,
  acknowledgeInjectionEndpoint,
  postMessageEndpoint,
  listMessagesEndpoint,
  claimInboxEndpoint,
  acknowledgeInboxEndpoint,
  claudeCodeHookEndpoint,

  streamEventsEndpoint,

  createWebhookEndpoint,
  listWebhooksEndpoint,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecretEndpoint,
  testWebhookEndpoint,
  listWebhookDeliveriesEndpoint,
  getWebhookDeliveryEndpoint,
  redeliverToWebhookEndpoint,

  listDeliveriesEndpoint,
  getDeliveryEndpoint,
  redeliverEndpoint,

  listRunnersEndpoint,

  listWorkersEndpoint,
  drainWorkerEndpoint,

  listAuditEndpoint,
  exportAuditEndpoint,

  getProjectEndpoint,
  updateProjectEndpoint,

  createApiKeyEndpoint,
  listApiKeysEndpoint,
  revokeApiKeyEndpoint,

  healthEndpoint,
  readinessEndpoint,
  metricsEndpoint(metrics),
]
