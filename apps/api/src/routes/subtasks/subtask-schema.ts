import { type Budget, FINAL_OUTCOMES, PRIORITIES, type RequiredOutput, SUBTASK_STATUSES, type Subtask, subtaskSessionId } from '@muster/domain'
import type { ListedSubtask } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, time, toTime, toTimeOrNull, toUsd } from '../../http/schemas.ts'
import { shorten, shortenedField, shortenedSchema } from '../../http/shortened.ts'

export const prioritySchema = component('Priority', z.enum(PRIORITIES).describe('Waiting raises the rank of a subtask: one minute equals one level.'))
export const subtaskStatusSchema = component('SubtaskStatus', z.enum(SUBTASK_STATUSES).describe('completed, failed and cancelled are final.'))
export const finalOutcomeSchema = component('FinalOutcome', z.enum(FINAL_OUTCOMES))

export const requiredOutputSchema = component(
  'RequiredOutput',
  z.object({
    name: z.string(),
    description: z.string().nullable(),
    schema: z.record(z.string(), z.unknown()).nullable().describe('JSON Schema 2020-12 of the value.'),
  }),
)

const usageSchema = component(
  'Usage',
  z
    .object({
      input_tokens: z.int(),
      output_tokens: z.int(),
      cost_usd: z.number(),
      steps: z.int().describe('Entries of the transcript.'),
      tool_calls: z.int(),
    })
    .describe('The usage of all attempts so far.'),
)

export const budgetSchema = component(
  'Budget',
  z
    .object({
      max_steps: z.int().describe('Model responses; for programs and outside workers, the steps that they report.'),
      max_tokens: z.int().nullable(),
      max_cost_usd: z.number().nullable(),
    })
    .describe('The limit for all attempts together. Null means no limit.'),
)

const subagentRefSchema = component('SubagentRef', z.object({ name: z.string(), version: z.int() }))

export const recommendationSchema = component('Recommendation', z.enum(['approve', 'review', 'request_revision']))

const evaluationRefSchema = component(
  'EvaluationRef',
  z
    .object({ id: z.uuid(), score: z.number().min(0).max(1).nullable(), recommendation: recommendationSchema })
    .describe('The latest evaluation of the result. Present once the subtask has completed.'),
)

const EXAMPLE_ID = '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47'

export const subtaskSchema = component(
  'Subtask',
  z.object({
    id: z.uuid(),
    agent_id: z.string(),
    session_id: z.string().describe('The session of the subtask itself: `subtask-<id>`.'),
    parent_session_id: z.string().nullable().describe('The session whose inbox receives the result.'),
    task: z.string(),
    task_id: z.uuid().nullable(),
    task_revision: z.int().nullable(),
    schedule_id: z.uuid().nullable(),
    subagent: subagentRefSchema.nullable(),
    background: z.boolean(),
    priority: prioritySchema,
    status: subtaskStatusSchema,
    final_outcome: finalOutcomeSchema.nullable().describe('Null until the subtask has ended.'),
    result: z.string().nullable().describe('Null before the end, if there is no result, and if it is named in `shortened`.'),
    result_truncated: z.boolean().describe('True if the result was longer than 1 MiB and was cut.'),
    summary: z.string().nullable(),
    error: z.string().nullable().describe('Why the subtask did not complete.'),
    outputs: z.record(z.string(), z.unknown()).nullable(),
    shortened: shortenedSchema.optional().describe('Only in lists: `result` and `outputs` where they are longer than 2,000 characters.'),
    required_outputs: z.array(requiredOutputSchema),
    worker_id: z.string().nullable(),
    attempt: z.int().describe('The number of claims so far.'),
    failures: z.int().describe('The number of attempts that failed.'),
    max_attempts: z.int(),
    timeout_seconds: z.int(),
    budget: budgetSchema,
    notify: z.boolean().describe('Whether the result goes into the inbox of the parent session.'),
    runner: z.string(),
    runner_reason: z.string().optional().describe('Why this runner was chosen. Only in the answer that accepts the subtask.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('Tools that the definition lists and this run does not have. Only in the answer that accepts the subtask.'),
    model: z.string().nullable(),
    usage: usageSchema,
    resume_of: z.uuid().nullable().describe('The ended subtask of the same sub-agent that this one continues.'),
    revision_of: z.uuid().nullable().describe('The previous subtask of the chain, whose result has to be revised.'),
    revision_round: z.int().describe('The revision round: 0 for the first subtask of a chain.'),
    max_revisions: z.int().describe('How many revision rounds may follow the first subtask.'),
    evaluation: evaluationRefSchema.nullable(),
    duration_ms: z
      .int()
      .nullable()
      .describe('From the start of the first attempt to the end, without `lost_ms` and `waited_ms`. Null until the subtask has ended.'),
    lost_ms: z.int().describe('Milliseconds during which no live worker held the subtask while it ran.'),
    waiting_for: z.uuid().nullable().describe('The question whose answer it waits for, in status `waiting`.'),
    waited_ms: z.int().describe('Milliseconds that it waited for answers, without the present wait.'),
    created_at: time(),
    started_at: time('When its first attempt began.').nullable(),
    completed_at: time().nullable(),
    cancel_requested_at: time('When cancellation was requested while the subtask ran.').nullable(),
    metadata: z.record(z.string(), z.unknown()),
  }),
  {
    id: EXAMPLE_ID,
    agent_id: 'default',
    session_id: `subtask-${EXAMPLE_ID}`,
    parent_session_id: 'research-1',
    task: 'List the public functions of src/ with one sentence each.',
    task_id: null,
    task_revision: null,
    schedule_id: null,
    subagent: null,
    background: true,
    priority: 'normal',
    status: 'pending',
    final_outcome: null,
    result: null,
    result_truncated: false,
    summary: null,
    error: null,
    outputs: null,
    required_outputs: [],
    worker_id: null,
    attempt: 0,
    failures: 0,
    max_attempts: 2,
    timeout_seconds: 120,
    budget: { max_steps: 50, max_tokens: null, max_cost_usd: null },
    notify: true,
    runner: 'scout',
    model: null,
    usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0, steps: 0, tool_calls: 0 },
    resume_of: null,
    revision_of: null,
    revision_round: 0,
    max_revisions: 0,
    evaluation: null,
    duration_ms: null,
    lost_ms: 0,
    waiting_for: null,
    waited_ms: 0,
    created_at: '2026-03-02T08:00:00.000Z',
    started_at: null,
    completed_at: null,
    cancel_requested_at: null,
    metadata: { ticket: 'DOC-12' },
  },
)

/** A subtask in a list, without long results and outputs. */
export function presentListedSubtask({ resultBeginning, ...subtask }: ListedSubtask): z.output<typeof subtaskSchema> {
  const wholeAt = `GET /subtasks/${subtask.id}`
  const body = shorten(presentSubtask(subtask), ['result', 'outputs'], wholeAt)
  if (resultBeginning !== undefined) body.shortened.unshift(shortenedField('result', resultBeginning, wholeAt))
  return body
}

export const subtaskListSchema = listComponent('SubtaskList', subtaskSchema)

export function presentSubtask(subtask: Subtask): z.output<typeof subtaskSchema> {
  return {
    id: subtask.id,
    agent_id: subtask.agentId,
    session_id: subtaskSessionId(subtask.id),
    parent_session_id: subtask.parentSessionId,
    task: subtask.task,
    task_id: subtask.taskId,
    task_revision: subtask.taskRevision,
    schedule_id: subtask.scheduleId,
    subagent: subtask.subagentName === null ? null : { name: subtask.subagentName, version: subtask.subagentVersion ?? 1 },
    background: subtask.background,
    priority: subtask.priority,
    status: subtask.status,
    final_outcome: subtask.finalOutcome,
    result: subtask.result,
    result_truncated: subtask.resultTruncated,
    summary: subtask.summary,
    error: subtask.error,
    outputs: subtask.outputs,
    required_outputs: presentRequiredOutputs(subtask.requiredOutputs),
    worker_id: subtask.workerId,
    attempt: subtask.attempt,
    failures: subtask.failures,
    max_attempts: subtask.maxAttempts,
    timeout_seconds: subtask.timeoutSeconds,
    budget: presentBudget(subtask.budget),
    notify: subtask.notify,
    runner: subtask.runner,
    ...(subtask.runnerReason === undefined ? {} : { runner_reason: subtask.runnerReason }),
    ...(subtask.warnings === undefined ? {} : { warnings: subtask.warnings }),
    model: subtask.model,
    usage: {
      input_tokens: subtask.usage.inputTokens,
      output_tokens: subtask.usage.outputTokens,
      cost_usd: toUsd(subtask.usage.costUsdMicros),
      steps: subtask.usage.steps,
      tool_calls: subtask.usage.toolCalls,
    },
    resume_of: subtask.resumeOf,
    revision_of: subtask.revisionOf,
    revision_round: subtask.revisionRound,
    max_revisions: subtask.maxRevisions,
    evaluation: subtask.evaluation,
    duration_ms: durationMs(subtask),
    lost_ms: subtask.lostMs,
    waiting_for: subtask.waitingFor,
    waited_ms: subtask.waitedMs,
    created_at: toTime(subtask.createdAt),
    started_at: toTimeOrNull(subtask.startedAt),
    completed_at: toTimeOrNull(subtask.completedAt),
    cancel_requested_at: toTimeOrNull(subtask.cancelRequestedAt),
    metadata: subtask.metadata,
  }
}

/** How long it took, without the time for which it had no live worker or waited for answers; null until it has ended. */
export function durationMs({ startedAt, completedAt, lostMs, waitedMs }: Pick<Subtask, 'startedAt' | 'completedAt' | 'lostMs' | 'waitedMs'>): number | null {
  return startedAt === null || completedAt === null ? null : completedAt.getTime() - startedAt.getTime() - lostMs - waitedMs
}

export function presentRequiredOutputs(outputs: readonly RequiredOutput[]): z.output<typeof requiredOutputSchema>[] {
  return outputs.map(({ name, description, schema }) => ({ name, description, schema }))
}

export function presentBudget(budget: Budget): z.output<typeof budgetSchema> {
  return {
    max_steps: budget.maxSteps,
    max_tokens: budget.maxTokens,
    max_cost_usd: budget.maxCostUsdMicros === null ? null : toUsd(budget.maxCostUsdMicros),
  }
}
