import { bodies, sessionMessages, type Tx, tasks } from '@muster/db'
import {
  findBlocks,
  hasScope,
  isTerminalTask,
  type MessageRole,
  notFound,
  requireOwnSession,
  requireOwnTask,
  requireScope,
  type SessionMessage,
} from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { surfaceTsgs } from '../guides/surface-tsgs.ts'
import { type SaidOfTask, saidOfTask, takeCheckIn } from '../tasks/check-in.ts'
import { evaluateMessage, storeMessageEvaluation } from './evaluate-message.ts'

export interface NewMessage {
  role: MessageRole
  content: string
  model?: string | undefined
  /** The task that it is about. */
  taskId?: string | undefined
  agentName?: string | undefined
  usage?: Record<string, unknown> | undefined
  metadata?: Record<string, unknown> | undefined
}

/**
 * Stores a message of a session and matches it against guides; the next injection brings the guide notices. Check-ins in an assistant's
 * message about a task that its session holds are stored, if the credential may write tasks. [B5] A message with blocks is evaluated in the
 * same commit, whatever its role. [D2]
 *
 * @throws DomainError `not_found` for a task that there is not, and for a sub-agent's own credential in another session than its own
 */
export async function postMessage(ctx: Ctx, sessionId: string, message: NewMessage): Promise<SessionMessage> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  const { projectId } = ctx.actor
  const { taskId, content } = message
  // Others only repeat check-ins: a prompt with a brief in it has the form for one.
  const mayCheckIn = message.role === 'assistant' && hasScope(ctx.actor, 'tasks:write')
  const blocks = findBlocks(content)
  const said = taskId !== undefined && mayCheckIn ? saidOfTask(taskId, blocks) : null
  const isLong = bodies.needsBody(content)
  const id = ctx.newId()
  const evaluation = blocks.length === 0 ? null : await evaluateMessage(ctx, { id, sessionId, taskId, content, blocks })
  return await inProject(ctx, async (tx) => {
    const aboutId = taskId === undefined ? null : await takeFromMessage(ctx, tx, { sessionId, taskId, said })
    await surfaceTsgs(ctx, tx, { projectId, actor: ctx.actor, sessionId }, [content])
    const bodyId = isLong ? ctx.newId() : null
    if (bodyId !== null) await bodies.insertBody(tx, projectId, bodyId, content)
    const stored = {
      id,
      sessionId,
      role: message.role,
      content: isLong ? null : content,
      model: message.model ?? null,
      taskId: aboutId,
      agentName: message.agentName ?? null,
      usage: message.usage ?? null,
      metadata: message.metadata ?? {},
      evalScore: evaluation?.row.score ?? null,
      evalSummary: evaluation?.row.summary ?? null,
    }
    const createdAt = await sessionMessages.insertMessage(tx, { ...stored, projectId, bodyId })
    if (evaluation !== null) await storeMessageEvaluation(ctx, tx, evaluation)
    return { ...stored, contentBytes: Buffer.byteLength(content), qualityFlag: null, trainingCandidate: false, createdAt }
  })
}

/** Answers with the id of the task. */
async function takeFromMessage(ctx: Ctx, tx: Tx, { sessionId, taskId, said }: { sessionId: string; taskId: string; said: SaidOfTask | null }): Promise<string> {
  const locked = said === null ? null : await tasks.lockTask(tx, taskId)
  const task = said === null ? await tasks.findTask(tx, taskId) : locked
  if (task === null) throw notFound('task')
  requireOwnTask(ctx.actor, task)
  if (said !== null && locked !== null && locked.subagentSessionId === sessionId && !isTerminalTask(locked.status)) {
    await takeCheckIn(ctx, tx, locked, said.blocks, { content: said.text, sessionId })
  }
  return task.id
}
