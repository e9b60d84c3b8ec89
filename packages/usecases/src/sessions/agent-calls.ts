import { bodies, hooks, injections, sessionMessages, type Tx, tasks } from '@muster/db'
import { fenceOf, findBlocks, isTerminalTask, notFound, requireController, requireOpenTask, requireScope } from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { assignLockedTask, listBlockers, requireUnblocked } from '../tasks/assign-task.ts'
import { saidOfTask, takeCheckIn } from '../tasks/check-in.ts'
import { briefOfTask, recordDeliveries, renderBriefOfTask } from '../tasks/undelivered-updates.ts'

/** A call of Claude Code's Agent tool. */
export interface AgentCall {
  /** Claude Code's own session, in which all sub-agents are. */
  sessionId: string
  subagentType: string
  toolUseId: string | null
  /** The task that its prompt names; null where it names none. */
  taskId: string | null
}

/** The brief for the prompt of a call. */
export interface BriefForPrompt {
  text: string
  /** Records that the prompt has got the brief. Without it, the sub-agent gets the brief again. */
  confirm(): Promise<void>
}

/**
 * Stores that the Agent tool is about to be called, and returns the brief of the task that its prompt names, for that very prompt; null without a task.
 * Nothing is assigned yet: the tool may still be refused, and which sub-agent it starts is known later.
 *
 * @throws DomainError `not_found`, `invalid_transition` for a task that has ended or is blocked, `forbidden` for a caller that may not assign it
 */
export async function openAgentCall(ctx: Ctx, { taskId, ...call }: AgentCall): Promise<BriefForPrompt | null> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const task = taskId === null ? null : await tasks.lockTask(tx, taskId)
    if (taskId !== null && task === null) throw notFound('task')
    const id = ctx.newId()
    if (task === null) {
      await hooks.insertAgentCall(tx, projectId, { id, ...call, taskId: null })
      return null
    }
    requireOpenTask(task)
    await requireUnblocked(tx, task)
    const { brief, notes } = await briefOfTask(tx, task)
    await hooks.insertAgentCall(tx, projectId, { id, ...call, taskId: task.id })
    const { updateSeq: seq, revision } = task
    return {
      text: renderBriefOfTask(brief, notes, fenceOf(ctx.newId()), 'call_or_block'),
      confirm: () => inProject(ctx, (within) => hooks.confirmBrief(within, id, { seq, revision })),
    }
  })
}

/** Forgets the calls of a session that started no certain sub-agent: the one of a tool use, or all that are older than a few seconds. @throws DomainError `forbidden` */
export async function closeAgentCalls(ctx: Ctx, sessionId: string, toolUseId: string | null = null): Promise<void> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  await inProject(ctx, (tx) => hooks.deleteOpenAgentCalls(tx, ctx.actor.projectId, sessionId, toolUseId))
}

/**
 * Assigns the task of an open call to the session of the sub-agent that the call has started, if the evidence makes that certain. A brief that the
 * prompt is known to contain counts as delivered, and what the sub-agent has said before is about that task. Returns the task; null if nothing is certain. The
 * task of a call is not assigned if it has ended or waits for others by now.
 *
 * The session gets no credential, because inside of Claude Code a sub-agent uses the one of the whole.
 *
 * @throws DomainError `forbidden`
 */
export async function bindAgentCall(
  ctx: Ctx,
  binding: { sessionId: string; boundSessionId: string; evidence: hooks.AgentCallEvidence },
): Promise<{ taskId: string; isAssigned: boolean } | null> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  const { sessionId, boundSessionId, evidence } = binding
  if (!(await reading(ctx, (tx) => hooks.hasOpenAgentCalls(tx, projectId, sessionId)))) return null
  return await inProject(ctx, async (tx) => {
    await injections.lockSession(tx, projectId, boundSessionId)
    const call = await hooks.bindAgentCall(tx, projectId, sessionId, boundSessionId, evidence)
    if (call === null) return null
    const { taskId, seq, revision } = call
    const task = await tasks.lockTask(tx, taskId)
    if (task === null || isTerminalTask(task.status) || (await listBlockers(tx, task)).length > 0) return { taskId, isAssigned: false }
    await assignLockedTask(ctx, tx, task, boundSessionId, null)
    if (seq !== null && revision !== null) await recordDeliveries(ctx, tx, projectId, boundSessionId, [{ taskId, seq, revision }], ctx.actor)
    await attributeMessages(ctx, tx, boundSessionId, taskId)
    return { taskId, isAssigned: true }
  })
}

/**
 * Attributes what a session has said without a task to the only task that it holds. A message that is stored while the task is being bound misses it
 * otherwise: the lock of the session puts this behind the binding.
 */
export async function attributeToOnlyTask(ctx: Ctx, sessionId: string): Promise<void> {
  const { projectId } = ctx.actor
  await inProject(ctx, async (tx) => {
    await injections.lockSession(tx, projectId, sessionId)
    const [taskId, ...others] = await hooks.listTasksOfSession(tx, projectId, sessionId)
    if (taskId !== undefined && others.length === 0) await attributeMessages(ctx, tx, sessionId, taskId)
  })
}

/** What a session has said without a task is about this one, and its check-ins count. */
async function attributeMessages(ctx: Ctx, tx: Tx, sessionId: string, taskId: string): Promise<void> {
  const said = await sessionMessages.attributeMessages(tx, ctx.actor.projectId, sessionId, taskId)
  for (const { content, bodyId } of said) {
    const text = content ?? (bodyId === null ? '' : ((await bodies.readBody(tx, bodyId)) ?? ''))
    const checkIn = saidOfTask(taskId, findBlocks(text))
    const task = checkIn === null ? null : await tasks.lockTask(tx, taskId)
    if (checkIn !== null && task !== null && !isTerminalTask(task.status))
      await takeCheckIn(ctx, tx, task, checkIn.blocks, { content: checkIn.text, sessionId })
  }
}
