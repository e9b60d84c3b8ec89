import { tasks } from '@muster/db'
import { DomainError, notFound, outputProblems, requireController, requireOpenTask, requireScope, type Task } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { outputsMissing } from './complete-task.ts'
import { isHeldByEndedRun, requestRevision } from './decide-review.ts'
import { finishTask, lockForCompletion } from './finish-task.ts'

export interface Review {
  decision: 'approve' | 'request_revision'
  note?: string | undefined
}

const DEFAULT_REQUEST = 'The result was not accepted. Compare it with the acceptance criteria and complete the task again.'

/**
 * Reviews a submitted task: `approve` completes it, `request_revision` sends its assignee an update with what to revise. To be approved,
 * the outputs must fit the current revision, which may be newer than the submission.
 *
 * @throws DomainError `not_found`, `invalid_transition` when it is not in review, `outputs_missing`
 */
export async function reviewTask(ctx: Ctx, id: string, { decision, note }: Review): Promise<Task> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    if (decision === 'approve') await lockForCompletion(tx, projectId)
    const task = await tasks.lockTask(tx, id)
    if (task === null) throw notFound('task')
    requireOpenTask(task)
    if (task.status !== 'in_review') {
      throw new DomainError('invalid_transition', `This task is ${task.status}. It can be reviewed once its outputs are submitted.`, {
        status_now: task.status,
      })
    }
    if (decision === 'approve') {
      const problems = outputProblems(task.requiredOutputs, task.completionOutputs ?? {})
      if (problems.length > 0) throw outputsMissing(problems)
      await finishTask(ctx, tx, task, { status: 'completed' }, ctx.actor)
    } else {
      const hasRunEnded = await isHeldByEndedRun(tx, task)
      await requestRevision(ctx, tx, task, { content: note ?? DEFAULT_REQUEST, note: note ?? null, actor: ctx.actor, hasRunEnded })
    }
    return (await tasks.findTask(tx, id)) as Task
  })
}
