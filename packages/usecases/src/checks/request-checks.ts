import { bodies, type CheckRun, checkRuns, evaluationReads, evaluations, type LockedTask, outbox, type Tx } from '@muster/db'
import { DomainError, isChecked, requireController, requireScope } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { evaluationEvent } from '../evaluations/evaluate-output.ts'
import { lockOpenTask } from '../tasks/finish-task.ts'
import { insertChecks } from '../tasks/insert-checks.ts'

/**
 * Executes the checks of a task now, whatever state it is in. While it is in review, they count as those of the submission: where that has been
 * decided about before, it is evaluated once more. Otherwise they only show how the criteria stand. Checks that have not ended are answered as they are.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended, `conflict` if no criterion names a check
 */
export async function requestChecks(ctx: Ctx, id: string): Promise<CheckRun[]> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const task = await lockOpenTask(tx, id)
    if (!task.criteria.some(isChecked)) throw new DomainError('conflict', 'No criterion of this task names a check.')
    const open = await checkRuns.listOpen(tx, projectId, id)
    if (open.length > 0) return open
    const [last] = await checkRuns.listCheckRuns(tx, projectId, id, undefined, 1)
    await insertChecks(ctx, tx, task, {
      criteria: task.criteria,
      evaluationId: task.status === 'in_review' ? await evaluateAgain(ctx, tx, task) : null,
      subtaskId: null,
      place: last?.place ?? null,
    })
    return await checkRuns.listOpen(tx, projectId, id)
  })
}

/** Stores the evaluation of a submission once more, for the verdicts of other checks. Null if it was judged by other criteria than those of now. */
async function evaluateAgain(ctx: Ctx, tx: Tx, task: LockedTask): Promise<string | null> {
  const { projectId } = task
  const submittedId = await evaluations.findSubmitted(tx, projectId, task.id, task.subagentSessionId)
  const submitted = submittedId === null ? null : await evaluationReads.findEvaluation(tx, projectId, submittedId)
  if (submitted === null) return null
  const { detail } = submitted
  const checks = new Map(detail.criteria.map(({ id: criterionId, check }) => [criterionId, check]))
  if (task.criteria.some((criterion) => checks.get(criterion.id) !== criterion.check)) return null
  const text = (await evaluationReads.findOutput(tx, projectId, submitted.id))?.output ?? ''
  const outputBodyId = bodies.needsBody(text) ? ctx.newId() : null
  if (outputBodyId !== null) await bodies.insertBody(tx, projectId, outputBodyId, text)
  const { origin: _, subtaskId: __, createdAt: ___, judgement: ____, ...kept } = submitted
  const row = {
    ...kept,
    id: ctx.newId(),
    origin: 'completion' as const,
    subtaskId: null,
    judge: null,
    output: outputBodyId === null ? text : null,
    outputBodyId,
  }
  await evaluations.insertEvaluations(tx, projectId, [row])
  await outbox.publish(tx, projectId, [evaluationEvent(row, ctx.actor)])
  tx.afterCommit(() => ctx.notifier.notify('outbox'))
  return row.id
}
