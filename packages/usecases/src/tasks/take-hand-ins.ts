import { tasks } from '@muster/db'
import { DomainError, hasScope, isUuid, type NplBlock, readHandIns, renderRefusedHandIn, renderUnknownHandIn, type WrittenHandIn } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'
import { completeTask } from './complete-task.ts'

/** The blocks of a final message, and the session that it is the last of. */
export interface FinalMessage {
  sessionId: string
  blocks: readonly NplBlock[]
  /** The tasks that the session holds. */
  heldIds: readonly string[]
  /** Whether the session can be given one more turn. */
  hasMoreTurns: boolean
}

/** What an agent can correct. Of a task that has ended, is in review or has gone to another session there is nothing to hand in. */
const CORRECTABLE: readonly string[] = ['outputs_missing', 'revision_stale', 'conflict']

/**
 * Completes the tasks of a session that the result blocks of its final message hand in, each in its own commit. Returns, for the agent, each hand-in that is refused. A
 * block about a task that another session holds, or that has been handed in already, changes nothing.
 */
export async function takeHandIns(ctx: Ctx, message: FinalMessage): Promise<string[]> {
  if (message.heldIds.length === 0 || !hasScope(ctx.actor, 'tasks:write')) return []
  const refusals: string[] = []
  for (const handIn of readHandIns(message.blocks, message.heldIds)) {
    const refusal = await takeHandIn(ctx, message, handIn)
    if (refusal === null) continue
    ctx.log.warn({ session_id: message.sessionId, task_id: handIn.taskId, refusal }, 'a hand-in was refused')
    refusals.push(refusal)
  }
  return refusals
}

/** Why it was refused, for the agent; null where it was taken in, or where nothing is to be done about it. */
async function takeHandIn(
  ctx: Ctx,
  { sessionId, heldIds, hasMoreTurns }: FinalMessage,
  { taskId, revision, outputs, problem }: WrittenHandIn,
): Promise<string | null> {
  const id = taskId ?? ''
  const task = isUuid(id) ? await reading(ctx, (tx) => tasks.findTask(tx, id)) : null
  if (task === null) return renderUnknownHandIn(id, heldIds)
  if (!heldIds.includes(id)) return null
  if (outputs === null) return renderRefusedHandIn(task, problem ?? '')
  try {
    await completeTask(ctx, id, { outputs, from: { sessionId, revision, hasMoreTurns } })
    return null
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return CORRECTABLE.includes(error.code) ? renderRefusedHandIn(task, error.message) : null
  }
}
