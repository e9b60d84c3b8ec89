import { bodies, evaluationReads, evaluations, outbox, projects, type StoredEvaluation, type Tx, tasks } from '@muster/db'
import { type EvaluatedCriterion, type EvaluationSettings, evaluationRules, judgeOf, notFound, requireController, requireScope } from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { evaluateOutput, evaluationEvent, requestJudgement } from './evaluate-output.ts'

export interface NewEvaluation {
  output: string
  /** In place of those of the task. */
  acceptanceCriteria?: readonly string[] | undefined
  /** Moves the lower bound only. */
  threshold?: number | undefined
  /** The task that it is about: by the criteria of its current revision. */
  taskId?: string | undefined
  sessionId?: string | undefined
  /** Whether a model is to give verdicts as well, and which; as the project has it where it is absent. */
  judge?: EvaluationSettings['judge']
}

/** An evaluation, and the output itself where it is good enough to be read. */
export interface CreatedEvaluation {
  evaluation: StoredEvaluation
  fullPayload: string | null
}

/**
 * Evaluates any text and stores both. A sub-agent's own credential may not call this: its text would count as work on its task. [D2]
 *
 * @throws DomainError `not_found` for a task that there is not, `validation_failed` for a threshold above the score from which results are approved
 */
export async function createEvaluation(ctx: Ctx, input: NewEvaluation): Promise<CreatedEvaluation> {
  requireScope(ctx.actor, 'evaluations:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  const { output, sessionId = null } = input
  const { settings, taskId, criteria, criteriaRevision } = await reading(ctx, (tx) => lookUp(tx, projectId, input))
  const rules = evaluationRules(settings, input.threshold)
  const judge = judgeOf(input.judge === undefined ? settings : { judge: input.judge })
  const subject = { projectId, origin: 'request' as const, taskId, subtaskId: null, messageId: null, sessionId, subagentName: null }
  // Before the transaction: it may take a second, and its inputs do not change.
  const { row } = evaluateOutput(ctx.newId(), subject, { output, criteria, criteriaRevision, taskId, settings: rules })
  const outputBodyId = bodies.needsBody(output) ? ctx.newId() : null
  return await inProject(ctx, async (tx) => {
    if (outputBodyId !== null) await bodies.insertBody(tx, projectId, outputBodyId, output)
    await evaluations.insertEvaluations(tx, projectId, [{ ...row, output: outputBodyId === null ? output : null, outputBodyId }])
    if (judge !== null) await requestJudgement(ctx, tx, { projectId, evaluationId: row.id, model: judge.model })
    await outbox.publish(tx, projectId, [evaluationEvent(row, ctx.actor)])
    tx.afterCommit(() => ctx.notifier.notify('outbox'))
    const evaluation = (await evaluationReads.findEvaluation(tx, projectId, row.id)) as StoredEvaluation
    return { evaluation, fullPayload: row.recommendation === 'request_revision' ? null : output }
  })
}

/** By what is judged: the criteria of the request, else those of the task as it is now. */
async function lookUp(tx: Tx, projectId: string, { taskId, acceptanceCriteria = [] }: NewEvaluation) {
  const [project, task] = await Promise.all([projects.findProject(tx, projectId), taskId === undefined ? null : tasks.findTask(tx, taskId)])
  if (taskId !== undefined && task === null) throw notFound('task')
  const own = ownCriteria(acceptanceCriteria)
  return {
    settings: project?.settings.evaluation,
    taskId: task?.id ?? null,
    criteria: own.length > 0 ? own : (task?.criteria ?? []),
    criteriaRevision: own.length > 0 ? null : (task?.revision ?? null),
  }
}

/** Each once, under an id of its own that a check-in can name. */
function ownCriteria(texts: readonly string[]): EvaluatedCriterion[] {
  return [...new Set(texts)].map((text, place) => ({ id: `criterion-${place + 1}`, text, source: 'acceptance', required: true }))
}
