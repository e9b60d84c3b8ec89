import { type CheckRun, checkRuns, evaluationReads, evaluations, type LockedTask, type Tx } from '@muster/db'
import { DomainError, isChecked, requireController, requireScope } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { lockOpenTask } from '../tasks/finish-task.ts'
import { insertChecks } from '../tasks/insert-checks.ts'

/**
 * Executes the checks of a task now, whatever state it is in. While it is in review, they count as those of the submission: where one ends otherwise than
 * before, it is evaluated and decided about once more. Otherwise they only show how the criteria stand. Checks that have not ended are answered as they are.
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
      evaluationId: task.status === 'in_review' ? await findEvaluation(tx, task) : null,
      subtaskId: null,
      place: last?.place ?? null,
    })
    return await checkRuns.listOpen(tx, projectId, id)
  })
}

/** The evaluation of what was submitted. Null if that was judged by other checks than those of now. */
async function findEvaluation(tx: Tx, task: LockedTask): Promise<string | null> {
  const { projectId } = task
  const submittedId = await evaluations.findSubmitted(tx, projectId, task.id, task.subagentSessionId)
  const submitted = submittedId === null ? null : await evaluationReads.findEvaluation(tx, projectId, submittedId)
  if (submitted === null) return null
  const checks = new Map(submitted.detail.criteria.map(({ id, check }) => [id, check]))
  return task.criteria.some((criterion) => checks.get(criterion.id) !== criterion.check) ? null : submitted.id
}
