import { type HookCall, type HookEvent, handedOffTask, hasScope, hookSessionOf, isHookEvent } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { bindHookTask } from './hook-bind-task.ts'
import { checkHookTool } from './hook-check-tool.ts'
import { releaseHookTasks, reserveHookTask } from './hook-reserve-task.ts'
import { scanHookFailure } from './hook-scan-failure.ts'
import { storeHookMessage } from './hook-store-message.ts'
import { injectSession } from './inject-session.ts'

/** What Claude Code is told. */
export interface HookAnswer {
  event: HookEvent
  /** Why the tool may not be used; null where it may. */
  denied: string | null
  /** Put in front of the model; empty where there is nothing new. */
  context: string
}

/**
 * Takes in one event of Claude Code. Answers null where there is nothing to say.
 *
 * A subtask's own credential is told nothing of its task here, neither the brief nor its changes: those reach the run through the port of its
 * runner, or the heartbeats of an outside worker (`checkpointRun`), and would come twice. Nor does it reserve or bind: it starts no work.
 *
 * @param isAwaited asked right before something is recorded as told: false where nobody waits for the answer any more, which takes it back
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

/** Whether this is about handing tasks over: a sub-agent's own credential does not, nor a key that may not. */
function mayHandOver({ actor }: Ctx): boolean {
  return actor.lineage === null && hasScope(actor, 'tasks:write')
}

async function deny(ctx: Ctx, { toolName, toolInput, cwd = null }: HookCall): Promise<string | null> {
  const answer = toolName === null ? null : await checkHookTool(ctx, { toolName, toolInput, cwd })
  return answer === null || answer.allowed ? null : answer.reason
}

async function reserve(ctx: Ctx, call: HookCall): Promise<void> {
  const handedOver = mayHandOver(ctx) ? handedOffTask(call) : null
  if (handedOver === null) return
  const about = { session_id: call.sessionId, task_id: handedOver.taskId }
  // Whatever is wrong with the task, the call goes on, and what is new is told.
  await reserveHookTask(ctx, { sessionId: call.sessionId, ...handedOver }).catch((error: unknown) =>
    ctx.log.warn({ err: error, ...about }, 'a hook could not reserve a task'),
  )
}

async function bind(ctx: Ctx, { sessionId, agentId, agentType }: HookCall, boundSessionId: string): Promise<void> {
  if (!mayHandOver(ctx) || agentId === null || agentType === null) return
  const bound = await bindHookTask(ctx, { sessionId, subagentType: agentType, boundSessionId })
  if (bound?.isAssigned === false) ctx.log.warn({ session_id: boundSessionId, task_id: bound.taskId }, 'a reserved task can be assigned to nobody any more')
}

async function stop(ctx: Ctx, call: HookCall, sessionId: string): Promise<void> {
  const { event, agentType, lastAssistantMessage } = call
  if (lastAssistantMessage !== null) await storeHookMessage(ctx, sessionId, { content: lastAssistantMessage, agentType, event })
  // Whatever the turn has started has begun: what is still reserved was named in a call that was refused.
  if (event === 'Stop' && call.agentId === null && mayHandOver(ctx)) await releaseHookTasks(ctx, call.sessionId)
}
