import { hooks } from '@muster/db'
import {
  checkTool,
  cutToCodePoints,
  type HookCall,
  type HookEvent,
  handedOffTask,
  hasScope,
  hookSessionOf,
  isHookEvent,
  requireOwnSession,
  requireScope,
  type SubagentDefinition,
  type ToolAnswer,
  toolUseOf,
  toStorableText,
} from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { surfaceTsgs } from '../guides/surface-tsgs.ts'
import { injectSession } from './inject-session.ts'
import { postMessage } from './messages.ts'
import { bindHookTask, releaseHookTasks, reserveHookTask } from './reserve-hook-task.ts'

/** The answer for Claude Code. */
export interface HookAnswer {
  event: HookEvent
  /** Why the tool may not be used; null where it may. */
  denied: string | null
  /** Put in front of the model; empty where there is nothing new. */
  context: string
}

/**
 * Handles one event of Claude Code. Returns null where there is nothing to answer.
 *
 * A subtask's own credential gets no brief and no task updates here: its run receives them through its runner or the heartbeats of an outside
 * worker (`checkpointRun`), and they would come twice. It also reserves and binds no task, because it starts no work.
 *
 * @param isAwaited asked right before a delivery is recorded; false where the caller no longer waits, which rolls the delivery back
 * @throws DomainError
 */
export async function takeHookEvent(ctx: Ctx, call: HookCall, isAwaited: () => boolean): Promise<HookAnswer | null> {
  const { event } = call
  if (!isHookEvent(event)) return null
  const sessionId = hookSessionOf(ctx.actor, call)
  const undelivered = async (): Promise<HookAnswer | null> => {
    const leavesTasks = isSubtask(ctx)
    const { text } = await injectSession(ctx, sessionId, { ack: 'auto', messages: [], leavesTasks, isAwaited })
    return text === '' ? null : { event, denied: null, context: text }
  }
  switch (event) {
    case 'SessionStart':
    case 'UserPromptSubmit':
    case 'PostToolUse':
      return await undelivered()
    case 'PostToolUseFailure':
      if (call.error !== null) await scanHookFailure(ctx, sessionId, call.error)
      return await undelivered()
    case 'PreToolUse': {
      const denied = await deny(ctx, call)
      if (denied !== null) return { event, denied, context: '' }
      await reserve(ctx, call)
      return await undelivered()
    }
    case 'SubagentStart':
      await bind(ctx, call, sessionId)
      return await undelivered()
    case 'Stop':
    case 'SubagentStop':
      await stop(ctx, call, sessionId)
      return null
  }
}

function isSubtask({ actor }: Ctx): boolean {
  return actor.lineage !== null && actor.lineage.subtaskId !== null
}

/** Whether the caller may assign tasks: a sub-agent's own credential and a key without `tasks:write` may not. */
function mayReserve({ actor }: Ctx): boolean {
  return actor.lineage === null && hasScope(actor, 'tasks:write')
}

async function deny(ctx: Ctx, { toolName, toolInput, cwd = null }: HookCall): Promise<string | null> {
  const answer = toolName === null ? null : await checkHookTool(ctx, { toolName, toolInput, cwd })
  return answer === null || answer.allowed ? null : answer.reason
}

async function reserve(ctx: Ctx, call: HookCall): Promise<void> {
  const named = mayReserve(ctx) ? handedOffTask(call) : null
  if (named === null) return
  const about = { session_id: call.sessionId, task_id: named.taskId }
  // A task that cannot be reserved does not stop the tool call or the delivery of updates.
  await reserveHookTask(ctx, { sessionId: call.sessionId, ...named }).catch((error: unknown) =>
    ctx.log.warn({ err: error, ...about }, 'a hook could not reserve a task'),
  )
}

async function bind(ctx: Ctx, { sessionId, agentId, agentType }: HookCall, boundSessionId: string): Promise<void> {
  if (!mayReserve(ctx) || agentId === null || agentType === null) return
  const bound = await bindHookTask(ctx, { sessionId, subagentType: agentType, boundSessionId })
  if (bound?.isAssigned === false)
    ctx.log.warn({ session_id: boundSessionId, task_id: bound.taskId }, 'a reserved task has ended or is blocked, and was not assigned')
}

async function stop(ctx: Ctx, call: HookCall, sessionId: string): Promise<void> {
  const { event, agentType, lastAssistantMessage } = call
  if (lastAssistantMessage !== null) await storeHookMessage(ctx, sessionId, { content: lastAssistantMessage, agentType, event })
  // Every sub-agent that this turn started has begun, so what is still reserved was named in a refused call.
  if (event === 'Stop' && call.agentId === null && mayReserve(ctx)) await releaseHookTasks(ctx, call.sessionId)
}

/**
 * Whether the caller may use a tool, by the version of the definition that its subtask was started with. Null where no definition is bound:
 * the caller is no subtask, or its subtask is no run of a sub-agent.
 */
async function checkHookTool(ctx: Ctx, use: HookedUse): Promise<ToolAnswer | null> {
  const subtaskId = ctx.actor.lineage?.subtaskId ?? null
  if (subtaskId === null) return null
  const bound = await reading(ctx, (tx) => hooks.findDefinitionOfSubtask(tx, subtaskId))
  return bound === null ? null : checkUse(bound.definition, use, bound.background)
}

interface HookedUse {
  toolName: string
  toolInput: unknown
  /** The folder that the session is in. It may be one below its workspace. */
  cwd?: string | null
}

function checkUse(definition: SubagentDefinition, use: HookedUse, background: boolean): ToolAnswer {
  const answer = checkTool(definition, { toolName: toolUseOf(use), background })
  if (!answer.allowed) return answer
  // What is denied is denied from each folder of the workspace, so the whole path is held against those rules, too.
  const denials = { ...definition, tools: ['*'], mcpServers: [] }
  const whole = checkTool(denials, { toolName: toolUseOf({ ...use, cwd: null }), background })
  return whole.allowed ? answer : whole
}

/**
 * Leaves a session notices of the guides that match the failure of a tool. It commits before the delivery of updates, because the failure is
 * not reported again if that delivery takes too long.
 *
 * @throws DomainError `forbidden`, `not_found` for a sub-agent's own credential in another session than its own
 */
async function scanHookFailure(ctx: Ctx, sessionId: string, error: string): Promise<void> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  const { actor } = ctx
  await inProject(ctx, (tx) => surfaceTsgs(ctx, tx, { projectId: actor.projectId, actor, sessionId }, [error]))
}

/**
 * Stores the last message of an agent. If its session holds exactly one task, the message is about that task and its check-ins are stored.
 *
 * @throws DomainError as `postMessage`
 */
async function storeHookMessage(ctx: Ctx, sessionId: string, said: { content: string; agentType: string | null; event: string }): Promise<void> {
  const content = toStorableText(said.content)
  if (!/\S/.test(content)) return
  const taskId = await reading(ctx, (tx) => hooks.findOnlyTaskOfSession(tx, ctx.actor.projectId, sessionId))
  await postMessage(ctx, sessionId, {
    role: 'assistant',
    content,
    taskId: taskId ?? undefined,
    agentName: said.agentType === null ? undefined : cutToCodePoints(toStorableText(said.agentType), 128),
    metadata: { source: 'claude-code', hook_event_name: said.event },
  })
}
