import { assignments, bodies, evaluations, type NewEvaluationRow, outbox, projects, sessionMessages, type Tx, taskRevisions, tasks } from '@muster/db'
import {
  type EvaluatedCriterion,
  evaluationRules,
  findBlocks,
  hasScope,
  isTerminalTask,
  judgeOf,
  type MessageRole,
  type NplBlock,
  notFound,
  readCheckIn,
  renderCheckInProblem,
  requireOwnSession,
  requireOwnTask,
  requireScope,
  type SessionMessage,
} from '@muster/domain'
import { type Ctx, inProject, reading, readingMany } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'
import { evaluateOutput, evaluationEvent, judgeFor, requestJudgement } from '../evaluations/evaluate-output.ts'
import { surfaceTsgs } from '../guides/surface-tsgs.ts'
import { isAbout, type SaidOfTask, saidOfTask, takeCheckIn } from '../tasks/check-in.ts'

export interface NewMessage {
  role: MessageRole
  content: string
  model?: string | undefined
  /** The task that it is about. */
  taskId?: string | undefined
  agentName?: string | undefined
  usage?: Record<string, unknown> | undefined
  metadata?: Record<string, unknown> | undefined
  /** Gets what is wrong with its check-ins, for its author, once it is stored. */
  onCheckInProblem?: (problem: string) => void
}

/**
 * Stores a message of a session and matches it against guides; the next injection brings the guide notices. Check-ins in an assistant's
 * message about a task that its session holds are stored, if the credential may write tasks. [B5] A message with reflections or check-ins is evaluated in the
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
  const evaluation = blocks.every(({ kind }) => kind === 'result') ? null : await evaluateMessage(ctx, { id, sessionId, taskId, content, blocks })
  return await inProject(ctx, async (tx) => {
    const { aboutId, checkInProblem } = taskId === undefined ? NOTHING_TAKEN : await takeFromMessage(ctx, tx, { sessionId, taskId, said })
    if (checkInProblem !== null) tx.afterCommit(() => message.onCheckInProblem?.(checkInProblem))
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

interface TakenFromMessage {
  /** The id of the task that the message is about. */
  aboutId: string | null
  checkInProblem: string | null
}

const NOTHING_TAKEN: TakenFromMessage = { aboutId: null, checkInProblem: null }

async function takeFromMessage(
  ctx: Ctx,
  tx: Tx,
  { sessionId, taskId, said }: { sessionId: string; taskId: string; said: SaidOfTask | null },
): Promise<TakenFromMessage> {
  const locked = said === null ? null : await tasks.lockTask(tx, taskId)
  const task = said === null ? await tasks.findTask(tx, taskId) : locked
  if (task === null) throw notFound('task')
  requireOwnTask(ctx.actor, task)
  if (said !== null && locked !== null && locked.subagentSessionId === sessionId && !isTerminalTask(locked.status)) {
    const { problem } = await takeCheckIn(ctx, tx, locked, said.blocks, { content: said.text, sessionId })
    return { aboutId: task.id, checkInProblem: problem === null ? null : renderCheckInProblem(locked, problem) }
  }
  return { aboutId: task.id, checkInProblem: null }
}

/** The messages of a session, newest first. */
export async function listMessages(ctx: Ctx, sessionId: string, query: { limit: number; cursor?: string | undefined }): Promise<Page<SessionMessage>> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  const beforeId = idInCursor(query.cursor)
  const items = await readingMany(ctx, (tx) => sessionMessages.listMessages(tx, ctx.actor.projectId, sessionId, { beforeId, limit: query.limit + 1 }))
  return page(items, query.limit, (last) => last.id)
}

/** A message of a session that is not stored yet. */
interface EvaluatedMessage {
  id: string
  sessionId: string
  /** The task that it is about. */
  taskId: string | undefined
  content: string
  /** All that stand in it, at least one. */
  blocks: readonly NplBlock[]
}

/** An evaluation that is yet to be stored. */
interface MessageEvaluation {
  row: NewEvaluationRow
  /** Null where no model is asked. */
  judge: { model: string | null } | null
}

/**
 * Evaluates a message by the criteria that its session had received. It reads in its own transaction and writes nothing, because it may take
 * a second, for which no transaction should wait. The caller checks access to the task.
 */
async function evaluateMessage(ctx: Ctx, message: EvaluatedMessage): Promise<MessageEvaluation> {
  const { projectId } = ctx.actor
  const { id, sessionId, content, blocks } = message
  const { settings, taskId, criteria, criteriaRevision } = await reading(ctx, (tx) => lookUp(tx, projectId, message))
  const subject = { projectId, origin: 'message' as const, taskId, subtaskId: null, messageId: id, sessionId, subagentName: null }
  const rules = evaluationRules(settings)
  const { evaluation, row } = evaluateOutput(ctx.newId(), subject, { output: content, blocks, criteria, criteriaRevision, taskId, settings: rules })
  return { row, judge: judgeFor({ rules, judge: judgeOf(settings) }, evaluation) }
}

/** Stores it, in the transaction that stores the message. */
async function storeMessageEvaluation(ctx: Ctx, tx: Tx, { row, judge }: MessageEvaluation): Promise<void> {
  const { projectId } = ctx.actor
  await evaluations.insertEvaluations(tx, projectId, [row])
  if (judge !== null) await requestJudgement(ctx, tx, { projectId, evaluationId: row.id, model: judge.model })
  await outbox.publish(tx, projectId, [evaluationEvent(row, ctx.actor)])
  tx.afterCommit(() => ctx.notifier.notify('outbox'))
}

async function lookUp(tx: Tx, projectId: string, { taskId: named, sessionId, blocks }: EvaluatedMessage) {
  const [project, task, assignment] = await Promise.all([
    projects.findProject(tx, projectId),
    named === undefined ? null : tasks.findTask(tx, named),
    named === undefined ? null : assignments.findActiveAssignment(tx, named),
  ])
  const settings = project?.settings.evaluation
  if (task === null) return { settings, taskId: null, criteria: [] as EvaluatedCriterion[], criteriaRevision: null }
  // The revision that the check-in names, else the one delivered last, else the current one.
  const delivered = assignment?.sessionId === sessionId ? assignment.deliveredRevision : null
  const revision = revisionNamed(task.id, blocks) ?? delivered ?? task.revision
  const known = revision >= task.revision ? task : ((await taskRevisions.findRevision(tx, task.id, revision)) ?? task)
  return { settings, taskId: task.id, criteria: known.criteria as EvaluatedCriterion[], criteriaRevision: known.revision }
}

/** The revision that the newest check-in about a task names. */
function revisionNamed(taskId: string, blocks: readonly NplBlock[]): number | null {
  const checkIn = blocks.findLast((block) => block.kind === 'check_in' && isAbout(taskId, { taskId: block.attributes['task-id']?.trim() || null }))
  return checkIn === undefined ? null : readCheckIn({ ...checkIn, text: '' }).revision
}
