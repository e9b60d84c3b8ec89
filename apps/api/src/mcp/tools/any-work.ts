import { hasScope, isTerminalTask, notFound, SUBTASK_STATUSES, TASK_STATUSES } from '@muster/domain'
import {
  type Ctx,
  cancelSubtask,
  cancelTask,
  deactivateSchedule,
  flagQuality,
  getEvaluationPayload,
  getSubtaskPayload,
  getTaskPayload,
  kindOfEvaluated,
  listSchedules,
  listSubtasks,
  listTasks,
  noteTask,
  steerSubtask,
} from '@muster/usecases'
import { z } from 'zod'
import { printableId, text, uuid } from '../../http/schemas.ts'
import { newQualityFlagSchema } from '../../routes/evaluations/quality-flag-schema.ts'
import { waitUntil } from '../../routes/subtasks/wait-for-end.ts'
import { type McpCaller, mcpTool, WAIT_DEADLINE_MS } from '../tool.ts'
import { type Found, findByAnyId, KINDS, LOOKUP_SCOPES, nullIfNotFound, offsetField, pageOfText, presentFound } from './lookup.ts'

// Tools that take the id of a task, of a subtask, or of a schedule, and find out which it is.

export const getTaskTool = mcpTool({
  name: 'get_task',
  title: 'Read a task',
  description:
    'Reads a task with its whole brief (criteria with ids, required outputs, revision), or a subtask with its result, or a schedule. A result or outputs above 2,000 characters are null, and `shortened` has the beginning.',
  effect: 'reads',
  tier: 'core',
  scopes: LOOKUP_SCOPES,
  forSubagents: 'all',
  input: z.strictObject({
    task_id: uuid('Of a task, a subtask or a schedule.'),
    offset: offsetField,
    request_full_payload: z.boolean().default(false).describe('Whether to return a long result and long outputs whole. So does an offset.'),
  }),
  output: z.object({
    kind: z.enum(KINDS),
    task: z.looseObject({}).optional(),
    subtask: z.looseObject({}).optional(),
    schedule: z.looseObject({}).optional(),
    next_offset: z.number().nullable(),
  }),
  handle: async ({ ctx }, { task_id, offset, request_full_payload }) =>
    presentFound(await findByAnyId(ctx, task_id, KINDS), { offset, whole: request_full_payload || offset !== undefined }),
})

/** Items of each kind in one answer. */
const LISTED_MAX = 20
/** Longest text of an item in a list, in characters. */
const LISTED_TEXT_MAX = 200

const cut = (value: string) => (value.length > LISTED_TEXT_MAX ? `${value.slice(0, LISTED_TEXT_MAX - 1).toWellFormed()}…` : value)

const item = z.looseObject({ id: z.string() })

export const listTasksTool = mcpTool({
  name: 'list_tasks',
  title: 'List tasks',
  description: 'Lists the newest tasks, subtasks (runs) and schedules.',
  effect: 'reads',
  tier: 'core',
  scopes: LOOKUP_SCOPES,
  input: z.strictObject({
    status: z
      .enum([...new Set([...TASK_STATUSES, ...SUBTASK_STATUSES, 'scheduled', 'all'])] as [string, ...string[]])
      .default('all')
      .describe('`running`: subtasks. `scheduled`: schedules.'),
    parent_session: printableId('Only what this session asked for.', 'research-1').optional(),
    kind: z.enum(KINDS).optional(),
  }),
  output: z.object({ tasks: z.array(item), subtasks: z.array(item), schedules: z.array(item), has_more: z.boolean() }),
  async handle({ ctx }, { status, parent_session: parentSession, kind }) {
    const page = { limit: LISTED_MAX }
    const reads = (wanted: Found['kind'], statuses: readonly string[], scope: 'tasks:read' | 'subtasks:read' | 'schedules:read') =>
      (kind ?? wanted) === wanted && (status === 'all' || statuses.includes(status)) && hasScope(ctx.actor, scope)
    const of = <T extends string>(statuses: readonly T[]) => statuses.find((each) => each === status)
    const none = { items: [], nextCursor: null }
    const [tasks, subtasks, schedules] = await Promise.all([
      reads('task', TASK_STATUSES, 'tasks:read') ? listTasks(ctx, { ...page, status: of(TASK_STATUSES), parentSession }) : none,
      reads('subtask', SUBTASK_STATUSES, 'subtasks:read') ? listSubtasks(ctx, { ...page, status: of(SUBTASK_STATUSES), session: parentSession }) : none,
      // A schedule belongs to an agent, not to a session.
      parentSession === undefined && reads('schedule', ['scheduled'], 'schedules:read') ? listSchedules(ctx, { ...page, active: true }) : none,
    ])
    return {
      tasks: tasks.items.map(({ id, title, status, priority, subagentSessionId }) => ({ id, title, status, priority, subagent_session_id: subagentSessionId })),
      subtasks: subtasks.items.map(({ id, task, status, finalOutcome, agentId, subagentName }) => ({
        id,
        task: cut(task),
        status,
        final_outcome: finalOutcome,
        agent_id: agentId,
        subagent: subagentName,
      })),
      schedules: schedules.items.map(({ id, task, reading, nextFireAt }) => ({
        id,
        task: cut(task),
        reading,
        next_fire_at: nextFireAt?.toISOString() ?? null,
      })),
      has_more: [tasks, subtasks, schedules].some(({ nextCursor }) => nextCursor !== null),
    }
  },
})

export const cancelTaskTool = mcpTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description: 'Cancels a task with its run, or a subtask, or deactivates a schedule. A running subtask stops a moment later.',
  effect: 'ends',
  tier: 'core',
  scopes: LOOKUP_SCOPES,
  input: z.strictObject({ task_id: uuid('Of a task, a subtask or a schedule.'), reason: text(2_000).optional() }),
  output: z.object({ success: z.boolean(), kind: z.enum(KINDS), status: z.string() }),
  async handle({ ctx }, { task_id: id, reason = null }) {
    const { kind } = await findByAnyId(ctx, id, KINDS)
    return { success: true, kind, status: await cancel(ctx, kind, id, reason) }
  },
})

async function cancel(ctx: Ctx, kind: Found['kind'], id: string, reason: string | null): Promise<string> {
  if (kind === 'task') return (await cancelTask(ctx, id, reason)).status
  if (kind === 'schedule') return (await deactivateSchedule(ctx, id)).state
  const { subtask, cancelled } = await cancelSubtask(ctx, id)
  return cancelled ? subtask.status : 'cancel_requested'
}

export const steerTaskTool = mcpTool({
  name: 'steer_task',
  title: 'Steer a task',
  description: 'Sends a note to the agent that works on a task or a subtask. It arrives before its next step. To change the brief itself, use update_task.',
  effect: 'adds',
  tier: 'standard',
  scopes: ['tasks:read', 'subtasks:read'],
  input: z.strictObject({
    id: uuid('Of a task or a subtask.'),
    content: text(20_000),
    delivery: z.enum(['next_step', 'interrupt']).default('next_step').describe('interrupt: a subtask breaks off its step, if its runner can.'),
  }),
  output: z.object({ update_id: z.string(), kind: z.enum(['task', 'subtask']), status: z.string(), delivery: z.string().nullable() }),
  async handle({ ctx, deps }, { id, content, delivery }) {
    const { kind } = await findByAnyId(ctx, id, ['task', 'subtask'])
    const can = (what: 'steerable' | 'interruptible') => (name: string) => deps.runners().some((runner) => runner.name === name && runner[what])
    const update =
      kind === 'task'
        ? await noteTask(ctx, id, content)
        : await steerSubtask(ctx, id, { content, delivery, steerable: can('steerable'), interruptible: can('interruptible') })
    return { update_id: update.updateId, kind, status: update.status, delivery: update.delivery }
  },
})

const WAITED_FOR_MAX = 50
const WAIT_SECONDS_MAX = 60

/** Longest result in an answer about several, in characters. The rest is read with get_task and `request_full_payload`. */
const RESULT_LENGTH_MAX = 4_000

export const waitForTool = mcpTool({
  name: 'wait_for',
  title: 'Wait for work',
  description: 'Waits until all of these tasks and subtasks have ended or wait for a review, or the time is over. Call it again to wait longer.',
  effect: 'reads',
  tier: 'standard',
  scopes: ['tasks:read', 'subtasks:read'],
  deadlineMs: WAIT_DEADLINE_MS,
  input: z.strictObject({
    ids: z.array(uuid('Of a task or a subtask.')).min(1).max(WAITED_FOR_MAX),
    seconds: z.number().min(0).max(WAIT_SECONDS_MAX).default(30),
  }),
  output: z.object({ all_ended: z.boolean(), items: z.array(z.looseObject({ id: z.string(), kind: z.string(), status: z.string(), ended: z.boolean() })) }),
  async handle(caller, { ids, seconds }) {
    const seen = await waitForWork(caller, [...new Set(ids)], seconds)
    return { all_ended: seen.every(hasEnded), items: seen.map(presentWork) }
  },
})

type Work = Extract<Found, { kind: 'task' | 'subtask' }>

/** Waits for the ends of tasks and subtasks, and tells the caller of each. */
async function waitForWork({ ctx, deps, gone, authorizeAgain, report }: McpCaller, ids: readonly string[], seconds: number): Promise<Work[]> {
  const known = new Map<string, Work>()
  // What has ended is not read again, and of the rest it is known what it is.
  const lookAt = async (id: string) => {
    const before = known.get(id)
    const work = before !== undefined && hasEnded(before) ? before : await findByAnyId(ctx, id, before === undefined ? ['task', 'subtask'] : [before.kind])
    known.set(id, work)
    return work
  }
  const look = async () => {
    const seen = await Promise.all(ids.map(lookAt))
    report(seen.filter(hasEnded).length, ids.length)
    return seen
  }
  return await waitUntil(deps, ids, look, (seen) => seen.every(hasEnded), { ms: seconds * 1_000, gone, authorizeAgain })
}

function hasEnded(work: Work): boolean {
  return work.kind === 'task' ? isTerminalTask(work.task.status) || work.task.status === 'in_review' : work.subtask.completedAt !== null
}

function presentWork(work: Work) {
  const ended = hasEnded(work)
  if (work.kind === 'task') {
    const { id, status, summary, lastError } = work.task
    return { id, kind: work.kind, status, ended, summary, error: lastError }
  }
  const { id, status, finalOutcome, summary, error } = work.subtask
  return { id, kind: work.kind, status, ended, final_outcome: finalOutcome, ...presentResult(work.subtask.result), summary, error }
}

/** The beginning of a result, and whether there is more of it. */
export function presentResult(result: string | null): { result: string | null; truncated: boolean } {
  const isLong = result !== null && result.length > RESULT_LENGTH_MAX
  return { result: isLong ? result.slice(0, RESULT_LENGTH_MAX).toWellFormed() : result, truncated: isLong }
}

const PAYLOAD_KINDS = ['task', 'subtask', 'evaluation'] as const

export const requestFullPayloadTool = mcpTool({
  name: 'request_full_payload',
  title: 'Read a full output',
  description: 'Reads the complete output that was evaluated last, where you were given a summary only.',
  effect: 'reads',
  tier: 'standard',
  deadlineMs: 30_000,
  scopes: ['evaluations:read'],
  input: z.strictObject({ task_id: uuid('Of a task, a subtask or an evaluation.'), offset: offsetField }),
  output: z.object({
    full_output: z.string(),
    kind: z.enum(PAYLOAD_KINDS),
    evaluation_id: z.string(),
    subtask_id: z.string().nullable(),
    next_offset: z.number().nullable(),
  }),
  async handle({ ctx }, { task_id: id, offset }) {
    const kind = await kindOfEvaluated(ctx, id)
    const read = { task: getTaskPayload, subtask: getSubtaskPayload, evaluation: getEvaluationPayload }[kind]
    const { output, evaluationId, subtaskId } = await read(ctx, id)
    const { part, next } = pageOfText(output, offset)
    return { full_output: part, kind, evaluation_id: evaluationId, subtask_id: subtaskId, next_offset: next }
  },
})

export const flagSequenceQualityTool = mcpTool({
  name: 'flag_sequence_quality',
  title: 'Flag the quality of work',
  description: 'Flags a task or a subtask for training: excellent and good make it an example, needs_work and bad remove it.',
  effect: 'sets',
  tier: 'all',
  scopes: ['evaluations:write'],
  input: z.strictObject({ task_id: uuid('Of a task or a subtask.'), ...newQualityFlagSchema.shape }),
  output: z.object({ success: z.boolean(), kind: z.enum(['task', 'subtask']), training_candidate: z.boolean() }),
  async handle({ ctx }, { task_id: id, ...flag }) {
    const flagAs = (kind: 'task' | 'subtask') => flagQuality(ctx, { kind, id }, flag).catch(nullIfNotFound)
    const flagged = (await flagAs('task')) ?? (await flagAs('subtask'))
    if (flagged === null) throw notFound('task or subtask')
    return { success: true, kind: flagged.subject.kind, training_candidate: flagged.trainingCandidate }
  },
})
