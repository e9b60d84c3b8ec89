import { DomainError, hasScope, isTerminal, type Subtask, subtaskSessionId } from '@muster/domain'
import { type Ctx, createSubtask, dispatchTask, getSpawned, getSubtask, listSteps, listSubagents, spawnSubagent } from '@muster/usecases'
import { z } from 'zod'
import { text, toTime, uuid } from '../../http/schemas.ts'
import { fieldProblem, validationFailed } from '../../http/validation.ts'
import { presentSpawn, subagentSpawnSchema } from '../../routes/subagents/subagent-schema.ts'
import { newSubtaskSchema, pickRunner, toSpawnOptions } from '../../routes/subtasks/new-subtask-schema.ts'
import { prioritySchema } from '../../routes/subtasks/subtask-schema.ts'
import { spawnAndWait } from '../../routes/subtasks/wait-for-end.ts'
import { callbackSchema } from '../../routes/webhooks/webhook-schema.ts'
import { type McpCaller, mcpTool, parse, WAIT_DEADLINE_MS } from '../tool.ts'
import { presentResult } from './any-work.ts'

const waitSeconds = z.number().min(0).max(60).default(0).describe('Wait this long for the result.')

/** The subtask as it is after a wait; at once without one. */
async function waitForSubtask(caller: McpCaller, subtask: Subtask, seconds: number, read: (ctx: Ctx, id: string) => Promise<Subtask>): Promise<Subtask> {
  if (seconds === 0 || isTerminal(subtask.status)) return subtask
  const { ctx, deps, gone, authorizeAgain, report } = caller
  const readAndReport = async () => {
    const seen = await read(ctx, subtask.id)
    report(isTerminal(seen.status) ? 1 : 0, 1)
    return seen
  }
  return await spawnAndWait(deps, subtask.id, () => Promise.resolve(subtask), readAndReport, { ms: seconds * 1_000, gone, authorizeAgain })
}

const runner = text(64).optional()
/** In full only where it is read: its prose would cost every client of the core tools. */
export const callback = z.looseObject({ url: z.string(), secret: z.string().optional() }).optional().describe('Its URL gets the event of the end.')
const givenCallback = z.object({ callback: callbackSchema.optional() })

export const spawnTaskTool = mcpTool({
  name: 'spawn_task',
  title: 'Spawn a task',
  description:
    'Runs work in the background: either `task`, a complete instruction, or the brief `task_id`. Several run in parallel. Results come with wait_for, claim_inbox or get_task.',
  effect: 'adds',
  tier: 'core',
  scopes: ['subtasks:write'],
  deadlineMs: WAIT_DEADLINE_MS,
  names: { timeout_seconds: 'timeout' },
  input: z.strictObject({
    task: text(100_000).optional(),
    task_id: uuid('A brief to run, instead of `task`.').optional(),
    priority: prioritySchema.optional(),
    timeout: z.int().min(1).max(86_400).optional().describe('Seconds for one attempt; default 120.'),
    notify: z.boolean().optional().describe('Put the result into your inbox; default true.'),
    subagent: text(64).optional(),
    runner,
    callback,
    wait_seconds: waitSeconds,
  }),
  output: z.object({ task_id: z.string(), session_id: z.string(), status: z.string(), result: z.string().nullable(), truncated: z.boolean() }),
  async handle(caller, { task, task_id, priority, timeout, wait_seconds, ...how }) {
    const { ctx, deps, sessionId, agentId } = caller
    if ((task === undefined) === (task_id === undefined)) {
      throw validationFailed([fieldProblem('/task', 'must be sent, or `task_id` instead of it')])
    }
    const agent = agentId === undefined ? {} : { agent_id: agentId }
    const body = parse(newSubtaskSchema, { task: task ?? 'brief', ...agent, parent_session_id: sessionId, timeout_seconds: timeout, ...how })
    const options = toSpawnOptions(deps, body)
    const spawned =
      task_id === undefined
        ? await createSubtask(ctx, { ...options, task: body.task, priority, requiredOutputs: [] })
        : await dispatchTask(ctx, task_id, () => ({ ...options, priority }))
    // A caller that may not read subtasks cannot wait for one, and needs the id all the same.
    const subtask = await waitForSubtask(caller, spawned, hasScope(ctx.actor, 'subtasks:read') ? wait_seconds : 0, getSubtask)
    return { task_id: subtask.id, session_id: subtaskSessionId(subtask.id), status: subtask.status, ...presentResult(subtask.result) }
  },
})

const { prompt, description, model, resume } = subagentSpawnSchema.shape

export const spawnSubagentTool = mcpTool({
  name: 'spawn_subagent',
  title: 'Spawn a sub-agent',
  description: 'Starts a sub-agent by its definition and waits for its end, up to `wait_seconds`; in the background it does not wait.',
  effect: 'adds',
  tier: 'standard',
  scopes: ['subagents:spawn'],
  deadlineMs: WAIT_DEADLINE_MS,
  names: { name: 'subagent_type' },
  input: z.strictObject({
    subagent_type: text(64).describe('Name of the sub-agent.'),
    prompt,
    description: description.describe('A few words for people.'),
    model: model.describe('Overrides the model of the definition.'),
    run_in_background: z.boolean().default(false),
    resume,
    wait_seconds: z.number().min(0).max(60).optional().describe('Default: 60, in the background 0.'),
    runner,
    callback,
  }),
  output: z.looseObject({
    success: z.boolean(),
    subagent_type: z.string(),
    summary: z.string().nullable(),
    duration_ms: z.number(),
    background: z.boolean(),
    error: z.string().nullable(),
    subtask_id: z.string(),
  }),
  async handle(caller, { subagent_type, wait_seconds, ...input }) {
    const { ctx, deps, sessionId, agentId } = caller
    const spawning = spawnSubagent(ctx, subagent_type, {
      prompt: input.prompt,
      description: input.description,
      model: input.model ?? undefined,
      runInBackground: input.run_in_background,
      resume: input.resume ?? undefined,
      agentId,
      parentSessionId: sessionId,
      runner: pickRunner(deps, input.runner),
      callback: parse(givenCallback, { callback: input.callback }).callback,
    })
    const spawned = await spawning.catch(async (error: unknown) => {
      throw await withNamesThatExist(ctx, error)
    })
    return presentSpawn(await waitForSubtask(caller, spawned, wait_seconds ?? (spawned.background ? 0 : 60), getSpawned))
  },
})

const NAMES_MAX = 100

/** No tool lists the sub-agents: the error for an unknown name does, where the caller may read them. */
async function withNamesThatExist(ctx: Ctx, error: unknown): Promise<unknown> {
  const isUnknown = error instanceof DomainError && error.code === 'subagent_not_found'
  if (!isUnknown || !hasScope(ctx.actor, 'subagents:read')) return error
  const { items } = await listSubagents(ctx, { limit: NAMES_MAX })
  return new DomainError(error.code, error.message, { ...error.details, available: items.map(({ name }) => name) })
}

const STEPS_MAX = 50

export const readTranscriptTool = mcpTool({
  name: 'read_transcript',
  title: 'Read a transcript',
  description: 'Reads what a subtask has done so far, step by step: messages, calls of tools and their results. Long steps are cut.',
  effect: 'reads',
  tier: 'standard',
  scopes: ['subtasks:read'],
  input: z.strictObject({
    subtask_id: uuid('Of the subtask.'),
    after: z.int().min(0).max(2_147_483_647).default(0).describe('`next_after` of the answer before, to read on.'),
  }),
  output: z.object({
    steps: z.array(z.looseObject({ seq: z.number(), kind: z.string() })),
    next_after: z.number().nullable().describe('Null when there are no further steps yet.'),
  }),
  async handle({ ctx }, { subtask_id: id, after }) {
    const { items, nextCursor } = await listSteps(ctx, id, { limit: STEPS_MAX, cursor: String(after) })
    const steps = items.map(({ seq, attempt, kind, content, at }) => ({ seq, attempt, kind, at: toTime(at), ...cutContent(content) }))
    return { steps, next_after: nextCursor === null ? null : Number(nextCursor) }
  },
})

/** Longest step in an answer with fifty of them, in characters of JSON. */
const STEP_LENGTH_MAX = 2_000

function cutContent(content: unknown): { content: unknown; truncated?: true } {
  const written = JSON.stringify(content) ?? 'null'
  return written.length <= STEP_LENGTH_MAX ? { content } : { content: written.slice(0, STEP_LENGTH_MAX).toWellFormed(), truncated: true }
}
