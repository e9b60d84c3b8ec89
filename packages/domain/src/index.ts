/**
 * The rules of Muster: states, outcomes, limits, errors, settings. Pure: no I/O, no clock, no randomness, and it imports
 * nothing of ours.
 */
export { AUDIT_DOORS, type AuditDoor, type AuditEntry, fieldNames, idsAmong, idsOfResult, type Origin } from './audit/audit.ts'
export {
  CHECK_STATUSES,
  CHECK_TRIES_MAX,
  type CheckEnd,
  type Checker,
  type CheckRequest,
  type CheckStatus,
  couldNotRun,
  type EndedCheckStatus,
  isChecked,
} from './checks/check-run.ts'
export {
  type Actor,
  ASSIGNMENT_SCOPES,
  hasScope,
  ownSubjectId,
  requireController,
  requireOwnSession,
  requireOwnSubtask,
  requireOwnTask,
  requireScope,
  requireSpawnAllowed,
  runOf,
  SCOPES,
  type Scope,
  SUBTASK_SCOPES,
} from './core/actor.ts'
export {
  DomainError,
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  errorForLog,
  type FieldProblem,
  notFound,
  PROBLEMS_SHOWN,
  requireFound,
} from './core/errors.ts'
export { fenceOf, neutralised } from './core/fenced-text.ts'
export { isUuid, subtaskSessionId } from './core/ids.ts'
export { limited, OUT_OF_TIME, processorMs } from './core/limited.ts'
export { type BlockItem, findBlocks, type NplBlock } from './core/npl-blocks.ts'
export {
  hostOf,
  isOutboundEntry,
  isPermittedAddress,
  NOT_PERMITTED,
  OUTBOUND_ALLOW_MAX,
  type OutboundLists,
  outboundUrlProblem,
  storedUrlProblem,
} from './core/outbound-allow.ts'
export { FORMER_PRIORITIES, PRIORITIES, PRIORITY_RANKS, type Priority, readPriority } from './core/priority.ts'
export { isPublicAddress } from './core/public-address.ts'
export { readSecretsKeys, type SecretsKey } from './core/secrets-keys.ts'
export {
  codePointLength,
  cutToBytes,
  cutToCodePoints,
  toStorableJson,
  toStorableText,
  toWebSearch,
  unstorableJsonReason,
  unstorableReason,
} from './core/text.ts'
export { VERSION } from './core/version.ts'
export { isWebhookSecret, WEBHOOK_SECRET_PREFIX, WEBHOOK_URL_LENGTH_MAX } from './core/webhook-secret.ts'
export { CHANNEL_KINDS, type ChannelKind, channelSettings } from './deliveries/channel-settings.ts'
export {
  type BotChat,
  CHAT_COMMANDS,
  type ChatBot,
  type ChatClient,
  type ChatCommand,
  type ChatPoll,
  type ChatReply,
  type ChatRequest,
  type ChatUpdate,
} from './deliveries/chat.ts'
export { type ChatAction, chatActionCode, readChatAction } from './deliveries/chat-action.ts'
export {
  ATTEMPTS_KEPT,
  BREAKER,
  type Channel,
  DELIVERY_STATUSES,
  type DeliveryAttempt,
  type DeliveryStatus,
  GIVE_UP_SECONDS,
  type OpenReceiver,
  type OutboundDelivery,
  PAUSE_SECONDS_MAX,
  RESPONSE_EXCERPT_BYTES,
  type SendOutcome,
  type SendResult,
  secondsOfLimit,
  secondsToNextAttempt,
} from './deliveries/delivery.ts'
export {
  cutToUnits,
  DIGEST_MESSAGES_MAX,
  digestMessage,
  MESSAGE_EVENTS,
  MESSAGE_OCCASIONS,
  type MessageButton,
  messageOf,
  type PersonMessage,
  questionMessage,
  type ShownQuestion,
  shortenToLine,
} from './deliveries/message.ts'
export { type QuietHours, secondsOfQuiet } from './deliveries/quiet-hours.ts'
export {
  CALLBACK_EVENTS,
  EVENT_PATTERNS,
  RECEIVER_KINDS,
  RECEIVER_STATUSES,
  type ReceiverKind,
  type ReceiverStatus,
  WEBHOOK_EVENTS_MAX,
  WEBHOOKS_MAX,
} from './deliveries/receiver.ts'
export { type Agreement, cohensKappa, KAPPA_CASES_MIN, NO_KAPPA_REASONS, type NoKappaReason } from './evaluations/agreement.ts'
export {
  completionText,
  type EvaluatedCriterion,
  earlierLines,
  isForJudge,
  isOutputCriterion,
  type JudgeVerdict,
  outputChecks,
  restsOnSelfReport,
  VERDICT_METHODS,
  VERDICTS,
  type Verdict,
  type VerdictMethod,
} from './evaluations/criteria.ts'
export {
  DIMENSIONS,
  EVALUATION_WARNING_CODES,
  type Evaluation,
  type EvaluationInput,
  evaluate,
  RECOMMENDATIONS,
  type Recommendation,
  RULE_VERSION,
} from './evaluations/evaluation.ts'
export {
  type Judge,
  type JudgeAnswer,
  type JudgementBound,
  type JudgeQuestion,
  type JudgeUsage,
  judgeAnswerSchema,
  readJudgeAnswer,
  renderJudgeQuestion,
  withJudge,
} from './evaluations/judge.ts'
export {
  EVALUATION_ORIGINS,
  type EvaluationDetail,
  type EvaluationJudge,
  type EvaluationOrigin,
  type EvaluationRecord,
  type EvaluationRef,
  FLAG_SUBJECTS,
  type FlagSubject,
  JUDGEMENT_STATUSES,
  type JudgementStatus,
  type QualityFlag,
  TRAINING_CANDIDACY,
} from './evaluations/record.ts'
export {
  type PersonVerdict,
  REVIEW_DECISIONS,
  type ReviewDecision,
  requireOwnCriteria,
  reviewRequest,
  statesAfterReview,
  withReview,
} from './evaluations/review.ts'
export {
  DEFAULT_EVALUATION_RULES,
  type EvaluationRules,
  type EvaluationSettings,
  evaluationRules,
  judgeOf,
  judgeSettingsSchema,
  TRUSTS,
} from './evaluations/settings.ts'
export { revisionRequest, summarize } from './evaluations/text.ts'
export { TRAINING_FORMATS, type TrainingExample, type TrainingFormat, type TrainingMessage, trainingRecord } from './evaluations/training-export.ts'
export { withChecks } from './evaluations/with-checks.ts'
export { EVENT_TYPES, type EventType, endsWait, isTerminalSubtaskEvent, type LoggedEvent, type NewEvent, TERMINAL_SUBTASK_EVENTS } from './events/event.ts'
export {
  type CompiledTsg,
  compileTsg,
  matchTsgs,
  parseTsgMarkdown,
  rankTsgHits,
  renderTsgMarkdown,
  slugTsgId,
  successRate,
  suffixTsgId,
  TSG_ID,
  TSG_LIMITS,
  TSG_MATCHES,
  TSG_SEVERITIES,
  type Tsg,
  type TsgHit,
  type TsgMatch,
  type TsgSeverity,
  type TsgUsage,
  tsgPatternProblem,
} from './guides/tsg.ts'
export { findLoops, LOOP_STEPS, type Loop, loopReason, quietReason, renderLoopNotice, renderQuietNotice } from './loops/loop.ts'
export { type LoopRules, type LoopSettings, loopRules, QUIET_SECONDS_MIN } from './loops/settings.ts'
export { CALL_DISTANCE_MAX, type ToolEnd, type ToolStep, toolEnds } from './loops/tool-ends.ts'
export { type Episode, type Fact, MEMORY_KINDS, MEMORY_LIMITS, MEMORY_SHOWN, type Memory, type MemoryKind, readMemoryQuestion } from './memory/memory.ts'
export { capLimits, type LimitCeilings, limitCeilings, limitsAboveCeilings } from './projects/limit-ceilings.ts'
export { DEFAULT_PROJECT_ID, type Project, type ProjectSettings, projectSettingsSchema } from './projects/project.ts'
export {
  type Answer,
  answerProblems,
  answerText,
  canonicalJson,
  DECISIONS,
  expectedAnswerText,
  expiryText,
  isAboutBudget,
  type NewQuestion,
  ON_EXPIRY,
  type OnExpiry,
  OPEN_QUESTIONS_MAX,
  QUESTION_KINDS,
  QUESTION_STATUSES,
  type QuestionKind,
  type QuestionOption,
  type QuestionStatus,
  questionProblems,
  requireValid,
  withdrawalText,
} from './questions/question.ts'
export type { Archive, ArchivedRow, ArchiveEntry } from './retention/archive.ts'
export { describeRetention, RETENTION_DAYS, RETENTION_KINDS, type RetentionKind, retentionDays } from './retention/retention.ts'
export { chooseRunner, defaultRunner, followsDefinitions, type RunnerChooser, type RunnerOffer, requireFollowsDefinitions } from './runners/runner-choice.ts'
export { toolsOfRunner, toolWarnings } from './runners/runner-tools.ts'
export { type DueDecision, type DueSchedule, decideDue } from './schedules/due.ts'
export { PHRASE_LENGTH_MAX, type Phrase, readPhrase } from './schedules/phrases/phrase.ts'
export { cronExprOf, ruleOf } from './schedules/rule.ts'
export {
  MISSED_POLICIES,
  type MissedPolicy,
  OVERLAPS,
  type Overlap,
  PHRASE_KINDS,
  type PhraseKind,
  SCHEDULE_STATES,
  type Schedule,
  type ScheduleRun,
  type ScheduleState,
  type ScheduleWarning,
  SLOT_OUTCOMES,
  type SlotOutcome,
} from './schedules/schedule.ts'
export { firingsAfter, nextFiring, type Timing } from './schedules/timing.ts'
export { isTimeZone } from './schedules/wall-clock.ts'
export {
  agentCallOf,
  type HookCall,
  type HookEvent,
  hookSessionOf,
  inputWithSession,
  isHookEvent,
  SESSION_ARGUMENT,
  startedAgentOf,
  taskNamedByCall,
  toolUseOf,
} from './sessions/hook.ts'
export { type InboxText, MORE_ITEMS, MORE_RESULTS, renderInboxItem, renderTsgNotice } from './sessions/inbox-text.ts'
export { MESSAGE_ROLES, type MessageRole, QUALITIES, type Quality, type SessionMessage } from './sessions/message.ts'
export { type DatabaseAddress, parseDatabaseAddress, socketOf, type TlsRules, withDatabaseName } from './settings/database-address.ts'
export type { McpServerSettings } from './settings/mcp-settings.ts'
export {
  type CheckSettings,
  type CommandRunnerSettings,
  databaseUrls,
  isLoopback,
  type ModelPrice,
  type ProcessSettings,
  parseProcessSettings,
  parseSettings,
  type Settings,
  SettingsError,
  settingsSchema,
} from './settings/settings.ts'
export { BUILTIN_SUBAGENTS } from './subagents/builtin-subagents.ts'
export { looksLikeSubagent, parseSubagentMarkdown, renderSubagentMarkdown } from './subagents/markdown.ts'
export {
  type BackgroundMcpPolicy,
  checkTool,
  decideSpawn,
  definitionOfRun,
  effectiveTools,
  type SpawnDecision,
  type ToolAnswer,
} from './subagents/spawn-policy.ts'
export {
  isSubagentName,
  requireDefinition,
  SUBAGENT_LIMITS,
  SUBAGENT_SOURCES,
  type SubagentDefinition,
  type SubagentProblem,
  type SubagentReading,
  type SubagentSource,
  subagentNotFound,
  toSubagentName,
} from './subagents/subagent.ts'
export { FairShares, type Share } from './subtasks/fair-shares.ts'
export { type EarlierWork, type PromptInput, renderPrompt, taskOfBrief } from './subtasks/prompt.ts'
export { classifyResult } from './subtasks/result-text.ts'
export {
  type AttemptEnd,
  type Budget,
  CONTINUATION_BYTES_MAX,
  decideEnd,
  type EndDecision,
  FINAL_OUTCOMES,
  type FinalOutcome,
  INLINE_BYTES_MAX,
  isTerminal,
  NO_USAGE,
  type PartialResult,
  PROMPT_BYTES_MAX,
  RESULT_BYTES_MAX,
  REVISIONS_MAX,
  STEP_KINDS,
  type StepKind,
  SUBTASK_STATUSES,
  type Subtask,
  type SubtaskStatus,
  type TerminalStatus,
  type Usage,
  type UsageAdded,
} from './subtasks/subtask.ts'
export { type BriefDiff, changedFields, type DiffPart, diffBrief, updateTypeOf } from './tasks/brief-diff.ts'
export {
  type BriefFields,
  briefRefused,
  budgetField,
  type CleanBrief,
  cleanBrief,
  titleOf,
  toBriefFields,
  withFileChecks,
  withWarnings,
} from './tasks/brief-fields.ts'
export { type BriefFile, briefFiles, fileWarning, isUnder, resolveBriefPath } from './tasks/brief-files.ts'
export { BRIEF_LIMITS } from './tasks/brief-report.ts'
export {
  CRITERIA_FIELDS,
  renderAssignment,
  renderContext,
  renderRunFolder,
  renderShortAssignment,
  renderUpdateContent,
  SHORT_BRIEF_LENGTH_MAX,
  shownDiff,
} from './tasks/brief-text.ts'
export { type CheckIn, type CriterionReport, checkInProblem, matchLines, parseCheckIns, readCheckIn, renderCheckInProblem } from './tasks/check-in.ts'
export { mergeAllCriteria } from './tasks/criteria.ts'
export { findCycle } from './tasks/dependencies.ts'
export { type HandInWays, readHandIns, renderRefusedHandIn, renderUnknownHandIn, type WrittenHandIn } from './tasks/hand-in.ts'
export { checkOutputSchema, type OutputProblem, outputProblems, type RequiredOutput } from './tasks/output-schema.ts'
export {
  type BriefWarning,
  CRITERION_SOURCES,
  CRITERION_STATES,
  type Criterion,
  ENFORCEMENT_LEVELS,
  FILE_STATUSES,
  type FileCheck,
  isTerminalTask,
  REPORTED_TASK_STATUSES,
  REVIEW_MODES,
  type ReportedTaskStatus,
  type ReviewMode,
  requireOpenTask,
  TASK_STATUSES,
  type Task,
  type TaskContext,
  type TaskStatus,
  type TerminalTaskStatus,
  type UpdateType,
} from './tasks/task.ts'
export { renderTaskUpdate, type Sender, type TaskUpdateText } from './tasks/update-text.ts'
export { askRulesFor, mayAsk } from './tools/ask-rules.ts'
export { inKnownCase, isSpawningTool, mcpServerOf, SUBAGENT_MCP_TOOLS } from './tools/tool-rules.ts'
export { noteEvaluation, readTraceparent, type Span, type SpanOptions, type SpanValue, type Tracing, traceIdOf } from './tracing/trace.ts'
export {
  agentBudgetSchema,
  type BudgetAmounts,
  type BudgetLimits,
  type BudgetRoom,
  type BudgetUse,
  budgetAmountsSchema,
  budgetExhausted,
  budgetRooms,
  NO_USE,
  raiseOf,
  readRaise,
  refuseJudgement,
  refuseRaise,
  reserveBudget,
  restOfBudget,
  type SubtaskBudget,
  taskRooms,
} from './usage/budgets.ts'
export { KNOWN_MODEL_PRICES, MODEL_PRICES_DATE, microsAt, priceOfModel, type TokenCounts } from './usage/model-prices.ts'
export { type QuotaScope, quotaExceeded } from './usage/quota.ts'
export {
  type CostSource,
  JUDGE_RUNNER,
  sumUsage,
  USAGE_GROUPINGS,
  type UsageGroup,
  type UsageGrouping,
  type UsagePart,
  type UsageTotals,
} from './usage/usage-report.ts'
export { DRAIN_MODES, type DrainMode, isOperator, WORKER_STATES, type WorkerState, workerState } from './workers/worker.ts'
