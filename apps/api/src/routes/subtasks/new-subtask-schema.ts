import { checkOutputSchema, chooseRunner, type ErrorCode, processorMs, type RequiredOutput, type RunnerChooser } from '@muster/domain'
import type { NewSubtask } from '@muster/usecases'
import { z } from 'zod'
import type { ApiDeps } from '../../api-deps.ts'
import { metadata, printableId, requestComponent, storable, subagentNameField, text, toMicros } from '../../http/schemas.ts'
import { fieldProblem, validationFailed } from '../../http/validation.ts'
import { callbackSchema } from '../webhooks/webhook-schema.ts'
import { prioritySchema } from './subtask-schema.ts'
import { WAIT_SECONDS_MAX } from './wait-for-end.ts'

/** What a run can be refused for, whether it starts now or by a schedule. */
export const SPAWN_ERRORS: readonly ErrorCode[] = ['spawn_blocked', 'subagent_not_found', 'subagent_invalid', 'background_mcp_blocked', 'runner_unavailable']

/** Longest time of a processor that all schemas of one request may take to compile. What is meant well takes milliseconds. */
const SCHEMAS_MS_MAX = 1_000

const outputName = text(128)

export const newRequiredOutput = requestComponent(
  'NewRequiredOutput',
  z.strictObject({
    name: outputName,
    description: text(2_000).nullish(),
    schema: storable(z.record(z.string(), z.unknown()))
      .nullish()
      .describe('JSON Schema 2020-12 of the value; it alone decides whether an empty value is accepted. Null never is.'),
  }),
)

type GivenOutput = string | z.output<typeof newRequiredOutput>

const nameOf = (output: GivenOutput): string => (typeof output === 'string' ? output : output.name)

/** What is wrong with the first schema that cannot be held against an output; later ones are not looked at. */
function firstSchemaProblem(outputs: GivenOutput[]): { index: number; schema: unknown; reason: string } | null {
  const startedAt = processorMs()
  for (const [index, output] of outputs.entries()) {
    if (typeof output === 'string' || output.schema == null) continue
    const { schema } = output
    const reason = checkOutputSchema(schema)
    if (reason !== null) return { index, schema, reason }
    // Each may be just fast enough to compile; many of them would still delay other requests.
    if (processorMs() - startedAt > SCHEMAS_MS_MAX) return { index, schema, reason: 'takes too long to compile, together with those before it' }
  }
  return null
}

/** Names of what has to be there at the end, each once. */
const requiredOutputs = z
  .array(z.union([outputName, newRequiredOutput]))
  .max(50)
  .check((context) => {
    for (const [index, output] of context.value.entries()) {
      const name = nameOf(output)
      if (context.value.slice(0, index).some((earlier) => nameOf(earlier) === name)) {
        context.issues.push({ code: 'custom', message: `names ${name} a second time`, input: output, path: [index] })
      }
    }
    const problem = firstSchemaProblem(context.value)
    if (problem !== null) context.issues.push({ code: 'custom', message: problem.reason, input: problem.schema, path: [problem.index, 'schema'] })
  })
  .describe(
    'The outputs that a complete result must contain, each a name or an object. Without a schema, null and empty values (`""`, blanks, `[]`, `{}`) count as missing.',
  )

const newBudget = requestComponent(
  'NewBudget',
  z
    .strictObject({
      max_steps: z.int().min(1).max(100_000).default(50).describe('Model responses; for programs and outside workers, the steps that they report.'),
      max_tokens: z.int().min(1).max(1_000_000_000_000).nullish(),
      max_cost_usd: z.number().min(0.000001).max(1_000_000).nullish(),
    })
    .describe('The limit for all attempts together. A subtask that reaches it ends as `budget_exceeded`.'),
)

export const newSubtaskSchema = requestComponent(
  'NewSubtask',
  z.strictObject({
    task: text(100_000).describe('The instructions, complete: the runner has no other information.'),
    agent_id: printableId('The agent whose limits it counts against. A key bound to an agent overrides it.', 'default').default('default'),
    priority: prioritySchema.default('normal'),
    timeout_seconds: z
      .int()
      .min(1)
      .optional()
      .describe('The time limit of one attempt, at most SUBTASK_MAX_TIMEOUT (600). Default: SUBTASK_DEFAULT_TIMEOUT (120).'),
    notify: z.boolean().default(true).describe('Whether to put the result into the inbox of the parent session.'),
    parent_session_id: printableId('The session that asks, and whose inbox gets the result.', 'research-1').nullish(),
    task_id: z.uuid().nullish().describe('The task that this subtask is about.'),
    subagent: subagentNameField.nullish().describe('The sub-agent to run, in the background.'),
    runner: text(64).nullish().describe('The runner that executes the subtask, one of `GET /runners`. Default: the one marked `default`.'),
    model: text(256).nullish().describe('The model, if the runner supports a choice. Overrides the model of the sub-agent.'),
    required_outputs: requiredOutputs.default([]),
    max_attempts: z.int().min(1).max(10).default(2).describe('Failed attempts after which the subtask fails.'),
    budget: newBudget.optional(),
    callback: callbackSchema.nullish(),
    metadata: metadata.default({}),
    wait_seconds: z.number().min(0).max(WAIT_SECONDS_MAX).default(0).describe('Seconds to wait for the end. Needs the scope `subtasks:read`.'),
  }),
  {
    task: 'List the public functions of src/ with one sentence each.',
    parent_session_id: 'research-1',
    required_outputs: ['functions'],
    metadata: { ticket: 'DOC-12' },
  },
)

/** The two ways to write a required output, as one. */
export function toRequiredOutputs(given: z.output<typeof requiredOutputs>): RequiredOutput[] {
  return given.map((output) =>
    typeof output === 'string'
      ? { name: output, description: null, schema: null }
      : { name: output.name, description: output.description ?? null, schema: output.schema ?? null },
  )
}

type SpawnBody = Pick<
  z.output<typeof newSubtaskSchema>,
  'agent_id' | 'timeout_seconds' | 'notify' | 'parent_session_id' | 'subagent' | 'runner' | 'model' | 'budget' | 'metadata'
> & { callback?: NewSubtask['callback']; max_attempts?: number | undefined }

/**
 * How a subtask is to be run, as every request that starts one says it.
 *
 * @throws DomainError `validation_failed` for a timeout above this server's
 */
export function toSpawnOptions(deps: ApiDeps, body: SpawnBody): Omit<NewSubtask, 'task' | 'taskId' | 'requiredOutputs' | 'priority'> {
  requireTimeout(deps, body.timeout_seconds)
  return {
    agentId: body.agent_id,
    timeoutSeconds: body.timeout_seconds,
    notify: body.notify,
    parentSessionId: body.parent_session_id ?? undefined,
    subagent: body.subagent ?? undefined,
    runner: pickRunner(deps, body.runner),
    model: body.model ?? undefined,
    maxAttempts: body.max_attempts,
    budget: body.budget && toBudgetOptions(body.budget),
    metadata: body.metadata,
    callback: body.callback,
  }
}

/** @throws DomainError `validation_failed` for a timeout above this server's */
export function requireTimeout(deps: ApiDeps, seconds: number | null | undefined): void {
  const longest = deps.settings.SUBTASK_MAX_TIMEOUT
  if (seconds == null || seconds <= longest) return
  throw validationFailed([fieldProblem('/timeout_seconds', `must be at most ${longest}, the SUBTASK_MAX_TIMEOUT of this server`, seconds)])
}

export function toBudgetOptions(budget: NonNullable<SpawnBody['budget']>): NonNullable<NewSubtask['budget']> {
  return {
    maxSteps: budget.max_steps,
    maxTokens: budget.max_tokens ?? undefined,
    maxCostUsdMicros: budget.max_cost_usd == null ? undefined : toMicros(budget.max_cost_usd),
  }
}

/**
 * Chooses the runner of a subtask, or of the runs of a schedule. Every request that starts work asks here.
 *
 * @throws DomainError `runner_unavailable` when it is called, saying what to set or which other runner to name
 */
export function pickRunner(deps: ApiDeps, name: string | null | undefined): RunnerChooser {
  return (subagent) => chooseRunner(deps.runners(), { name: name ?? null, subagent, configured: deps.settings.DEFAULT_RUNNER })
}
