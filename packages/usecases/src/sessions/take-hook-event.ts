import { hooks, sessionMessages, tasks } from '@muster/db'
import {
  agentCallOf,
  cutToCodePoints,
  findBlocks,
  type HookCall,
  type HookEvent,
  hasScope,
  hookSessionOf,
  inputWithSession,
  isHookEvent,
  isUuid,
  type NplBlock,
  requireOwnSession,
  requireScope,
  startedAgentOf,
  taskNamedByCall,
  toStorableText,
} from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { surfaceTsgs } from '../guides/surface-tsgs.ts'
import { takeHandIns } from '../tasks/take-hand-ins.ts'
import { attributeToOnlyTask, bindAgentCall, closeAgentCalls, openAgentCall } from './agent-calls.ts'
import { findToolDenial } from './find-tool-denial.ts'
import { acknowledgeInjection, injectSession } from './inject-session.ts'
import { postMessage } from './messages.ts'
import { watchFailure, watchSuccess } from './watch-tool-uses.ts'

/** The answer for Claude Code. */
export interface HookAnswer {
  event: HookEvent
  /** Why the tool may not be used; null where it may. */
  denied: string | null
  /** Put in front of the model; empty where there is nothing new. With Stop and SubagentStop, the agent goes on with it for one more turn. */
  context: string
  /** The input that the tool is called with instead of its own; null where it stays. */
  updatedInput: Record<string, unknown> | null
  /** Called once the answer has been sent; null where nothing depends on that. What an answer brings is delivered then, and comes again without it. */
  onSent: (() => Promise<void>) | null
}

/** After this long without `onSent`, an answer counts as lost. Longer than Claude Code waits for one. */
const ANSWER_LEASE_SECONDS = 5
/** Of a text of more than 10,000 characters, Claude Code shows the model the first two kilobytes. */
const ANSWER_LENGTH_MAX = 9_900

/**
 * Handles one event of Claude Code. Returns null where there is nothing to answer.
 *
 * A subtask's own credential gets no brief and no task updates here: its run receives them through its runner or the heartbeats of an outside
 * worker (`checkpointRun`), and they would come twice. It also opens and binds no calls of the Agent tool, because it starts no work.
 *
 * @param isAwaited asked right before a delivery is recorded; false where the caller no longer waits, which rolls the delivery back
 * @throws DomainError
 */
export async function takeHookEvent(ctx: Ctx, call: HookCall, isAwaited: () => boolean): Promise<HookAnswer | null> {
  const { event } = call
  if (!isHookEvent(event)) return null
  const sessionId = hookSessionOf(ctx.actor, call)
  const undelivered = async ({
    isWhenStopping = false,
    briefed = null,
    namedInput = null,
    complaints = [],
    onWatched,
  }: {
    isWhenStopping?: boolean
    briefed?: BriefedInput | null
    namedInput?: Record<string, unknown> | null
    complaints?: string[]
    onWatched?: () => Promise<void>
  } = {}) => {
    const handIn = hasScope(ctx.actor, 'tasks:write') ? 'call_or_block' : 'call'
    const delivery = { ack: 'manual', leaseSeconds: ANSWER_LEASE_SECONDS, messages: [], handIn, leavesTasks: isSubtask(ctx) } as const
    let lengthMax = ANSWER_LENGTH_MAX
    const shown = complaints.filter((complaint) => {
      const left = lengthMax - complaint.length - 2
      if (left < 0) return false
      lengthMax = left
      return true
    })
    const { text, claimId } = await injectSession(ctx, sessionId, {
      ...delivery,
      lengthMax,
      isWhenStopping,
      isAwaited,
      ...(onWatched !== undefined && { onWatched }),
    })
    const context = [...shown, ...(text === '' ? [] : [text])].join('\n\n')
    const updatedInput = briefed?.input ?? namedInput
    if (context === '' && updatedInput === null) return null
    const onSent = async () => {
      await Promise.all([claimId === null ? null : acknowledgeInjection(ctx, sessionId, claimId), briefed?.confirm()])
    }
    return { event, denied: null, context, updatedInput, onSent }
  }
  switch (event) {
    case 'SessionStart':
    case 'UserPromptSubmit':
      return await undelivered()
    case 'PostToolUse':
      await bindNamed(ctx, call, sessionId)
      await endAgentCall(ctx, call)
      return await undelivered({ onWatched: () => watchSuccess(ctx, sessionId, call) })
    case 'PostToolUseFailure': {
      await endAgentCall(ctx, call)
      const taken = call.error === null ? null : await scanHookFailure(ctx, sessionId, call, call.error)
      return await undelivered({ complaints: taken === null ? [] : [taken] })
    }
    case 'PreToolUse': {
      const denied = await findToolDenial(ctx, call)
      if (denied !== null) return { event, denied, context: '', updatedInput: null, onSent: null }
      await bindNamed(ctx, call, sessionId)
      // A sub-agent's own credential stands for its own session.
      const namedInput = ctx.actor.lineage === null ? inputWithSession(call) : null
      return await undelivered({ briefed: await startAgentCall(ctx, call), namedInput })
    }
    case 'SubagentStart':
      // Claude Code resumes a sub-agent by a message as if it started it, and may drop what this event brings then. The next event brings it.
      if (call.agentId !== null && (await hasSpoken(ctx, sessionId))) return null
      if (call.agentType !== null) await bind(ctx, call, sessionId, { subagentType: call.agentType })
      return await undelivered()
    case 'Stop':
    case 'SubagentStop': {
      // One more turn, not a chain of them: what comes during that turn waits for the next event.
      const hasMoreTurns = call.isStopHookActive !== true && !isSubtask(ctx)
      const complaints = await stop(ctx, call, sessionId, hasMoreTurns)
      return hasMoreTurns ? await undelivered({ isWhenStopping: true, complaints }) : null
    }
  }
}

function isSubtask({ actor }: Ctx): boolean {
  return actor.lineage !== null && actor.lineage.subtaskId !== null
}

/** Whether a session has left a last message: it has had a turn before. */
async function hasSpoken(ctx: Ctx, sessionId: string): Promise<boolean> {
  return (await reading(ctx, (tx) => sessionMessages.listMessages(tx, ctx.actor.projectId, sessionId, { limit: 1 }))).length > 0
}

/** Whether the caller may assign tasks: a sub-agent's own credential and a key without `tasks:write` may not. */
function mayAssign({ actor }: Ctx): boolean {
  return actor.lineage === null && hasScope(actor, 'tasks:write')
}

/** The input of a call of the Agent tool with the brief of a task in its prompt. */
interface BriefedInput {
  input: Record<string, unknown>
  confirm(): Promise<void>
}

/** Stores a call of the Agent tool. Returns its input with the brief of the task that its prompt names; null where it names none. */
async function startAgentCall(ctx: Ctx, { sessionId, toolUseId = null, ...call }: HookCall): Promise<BriefedInput | null> {
  const started = mayAssign(ctx) ? agentCallOf(call) : null
  if (started === null) return null
  try {
    const brief = await openAgentCall(ctx, { sessionId, toolUseId, ...started })
    const input = call.toolInput as { prompt: string }
    return brief === null ? null : { input: { ...input, prompt: `${input.prompt}\n\n${brief.text}` }, confirm: brief.confirm }
  } catch (error) {
    // A task that cannot be assigned does not stop the tool call or the delivery of updates. The call still counts as one of its type.
    ctx.log.warn({ err: error, session_id: sessionId, task_id: started.taskId }, 'a hook could not hand a task to a sub-agent')
    if (started.taskId !== null) await openAgentCall(ctx, { sessionId, toolUseId, ...started, taskId: null })
    return null
  }
}

/** The answer of the Agent tool names the sub-agent that it started. Without one, or after a failure, the call started none. */
async function endAgentCall(ctx: Ctx, call: HookCall): Promise<void> {
  const { sessionId, toolUseId = null } = call
  if (!mayAssign(ctx) || agentCallOf(call) === null || toolUseId === null) return
  const agentId = startedAgentOf(call)
  if (agentId !== null) await bind(ctx, call, `${sessionId}:${agentId}`, { toolUseId })
  await closeAgentCalls(ctx, sessionId, toolUseId)
}

/** A sub-agent that names a task in a call of a Muster tool is the one that was briefed the task. */
async function bindNamed(ctx: Ctx, call: HookCall, sessionId: string): Promise<void> {
  const taskId = call.agentId === null ? null : taskNamedByCall(call)
  if (taskId !== null) await bind(ctx, call, sessionId, { taskIds: [taskId] })
}

async function bind(ctx: Ctx, { sessionId, agentId }: HookCall, boundSessionId: string, evidence: hooks.AgentCallEvidence): Promise<void> {
  if (!mayAssign(ctx) || (agentId === null && !('toolUseId' in evidence))) return
  const bound = await bindAgentCall(ctx, { sessionId, boundSessionId, evidence })
  if (bound?.isAssigned === false)
    ctx.log.warn({ session_id: boundSessionId, task_id: bound.taskId }, 'the task of a sub-agent has ended or is blocked, and was not assigned')
}

/** Takes in what an agent has said last. Returns what is wrong with it, for the agent: hand-ins that were refused, and check-ins that say nothing. */
async function stop(ctx: Ctx, call: HookCall, sessionId: string, hasMoreTurns: boolean): Promise<string[]> {
  const { event, agentId, agentType, lastAssistantMessage } = call
  const content = toStorableText(lastAssistantMessage ?? '')
  const blocks = findBlocks(content)
  const complaints: string[] = []
  if (/\S/.test(content)) {
    const taskIds = tasksNamedIn(blocks)
    if (agentId !== null && taskIds.length > 0) await bind(ctx, call, sessionId, { taskIds })
    const heldIds = await reading(ctx, (tx) => hooks.listTasksOfSession(tx, ctx.actor.projectId, sessionId))
    const named = taskIds.filter((id) => heldIds.includes(id))
    const [taskId] = heldIds.length === 1 ? heldIds : named.length === 1 ? named : []
    const checkInProblem = await storeHookMessage(ctx, sessionId, { content, taskId, agentType, event })
    if (taskId === undefined && agentId !== null && mayAssign(ctx)) await attributeToOnlyTask(ctx, sessionId)
    if (!isSubtask(ctx)) complaints.push(...(await takeHandIns(ctx, { sessionId, blocks, heldIds, hasMoreTurns })))
    if (checkInProblem !== null && hasMoreTurns && taskId !== undefined && (await isInProgress(ctx, taskId))) complaints.push(checkInProblem)
  }
  // Every sub-agent that this turn started has begun, so what is still open was named in a refused call.
  if (event === 'Stop' && agentId === null && mayAssign(ctx)) await closeAgentCalls(ctx, call.sessionId)
  return complaints
}

/** Of a task that has been handed in, no check-in is needed any more. */
async function isInProgress(ctx: Ctx, taskId: string): Promise<boolean> {
  return (await reading(ctx, (tx) => tasks.findTask(tx, taskId)))?.status === 'in_progress'
}

/** The tasks that blocks of a text name. */
function tasksNamedIn(blocks: readonly NplBlock[]): string[] {
  const named = blocks.map(({ attributes }) => attributes['task-id']?.trim().toLowerCase() ?? '')
  return [...new Set(named.filter(isUuid))]
}

/**
 * Leaves a session notices of the guides that match the failure of a tool, and looks whether the session goes in circles. Returns why its task was taken from it, if it was. It commits before the delivery of updates, because the failure is
 * not reported again if that delivery takes too long.
 *
 * @throws DomainError `forbidden`, `not_found` for a sub-agent's own credential in another session than its own
 */
async function scanHookFailure(ctx: Ctx, sessionId: string, call: HookCall, error: string): Promise<string | null> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  const { actor } = ctx
  return await inProject(ctx, async (tx) => {
    const taken = isSubtask(ctx) ? null : await watchFailure(ctx, tx, sessionId, call)
    await surfaceTsgs(ctx, tx, { projectId: actor.projectId, actor, sessionId }, [error])
    return taken
  })
}

/**
 * Stores the last message of an agent. It is about the task if its session holds exactly one, or a block names exactly one of them; then its check-ins count. Returns
 * what is wrong with them, for the agent.
 *
 * @throws DomainError as `postMessage`
 */
async function storeHookMessage(
  ctx: Ctx,
  sessionId: string,
  said: { content: string; taskId: string | undefined; agentType: string | null; event: string },
): Promise<string | null> {
  let checkInProblem: string | null = null
  await postMessage(ctx, sessionId, {
    role: 'assistant',
    content: said.content,
    taskId: said.taskId,
    agentName: said.agentType === null ? undefined : cutToCodePoints(toStorableText(said.agentType), 128),
    metadata: { source: 'claude-code', hook_event_name: said.event },
    onCheckInProblem: (problem) => {
      checkInProblem = problem
    },
  })
  return checkInProblem
}
