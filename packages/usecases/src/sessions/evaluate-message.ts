import { assignments, evaluations, type NewEvaluationRow, outbox, projects, type Tx, taskRevisions, tasks } from '@muster/db'
import { type EvaluatedCriterion, evaluationRules, judgeOf, type NplBlock, readCheckIn } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'
import { judgeFor } from '../evaluations/evaluate-ends.ts'
import { evaluateOutput, evaluationEvent } from '../evaluations/evaluate-output.ts'
import { requestJudgement } from '../evaluations/request-judgement.ts'
import { isAbout } from '../tasks/check-in.ts'

/** A message of a session that is not stored yet. */
export interface EvaluatedMessage {
  id: string
  sessionId: string
  /** The task that it is about. */
  taskId: string | undefined
  content: string
  /** All that stand in it, at least one. */
  blocks: readonly NplBlock[]
}

/** An evaluation that is yet to be stored. */
export interface MessageEvaluation {
  row: NewEvaluationRow
  /** Null where no model is asked. */
  judge: { model: string | null } | null
}

/**
 * Evaluates a message by the criteria that its session had received. It reads in its own transaction and writes nothing, because it may take
 * a second, for which no transaction should wait. The caller checks access to the task.
 */
export async function evaluateMessage(ctx: Ctx, message: EvaluatedMessage): Promise<MessageEvaluation> {
  const { projectId } = ctx.actor
  const { id, sessionId, content, blocks } = message
  const { settings, taskId, criteria, criteriaRevision } = await reading(ctx, (tx) => lookUp(tx, projectId, message))
  const subject = { projectId, origin: 'message' as const, taskId, subtaskId: null, messageId: id, sessionId, subagentName: null }
  const rules = evaluationRules(settings)
  const { evaluation, row } = evaluateOutput(ctx.newId(), subject, { output: content, blocks, criteria, criteriaRevision, taskId, settings: rules })
  return { row, judge: judgeFor({ rules, judge: judgeOf(settings) }, evaluation) }
}

/** Stores it, in the transaction that stores the message. */
export async function storeMessageEvaluation(ctx: Ctx, tx: Tx, { row, judge }: MessageEvaluation): Promise<void> {
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
