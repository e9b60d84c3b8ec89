import { type LockedTask, outbox, subtasks, type Tx, tasks } from '@muster/db'
import { DomainError, isTerminal, notFound, outputProblems, requireController, requireScope, subtaskSessionId, type Task } from '@muster/domain'
import { lockForCompletion, outputsMissing } from './complete-task.ts'
import type { Ctx } from './ctx.ts'
import { taskEvent } from './event-data.ts'
import { finishTask, requireOpen } from './finish-task.ts'
import { inProject } from './in-project.ts'
import { queueTaskUpdate } from './queue-task-update.ts'
import { leaveEndedRun } from './take-away-task.ts'

export interface Review {
  decision: 'approve' | 'request_revision'
  note?: string | undefined
}

const DEFAULT_REQUEST = 'The result was not accepted. Hold it against the acceptance criteria once more, and complete the task again.'

/**
 * Decides over a task that was handed in: approved, it is completed; otherwise its holder is told what to revise. What was handed in must
 * still be what the brief asks for, which may have changed since.
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
    requireOpen(task)
    if (task.status !== 'in_review') {
      throw new DomainError('invalid_transition', `This task is ${task.status}; there is nothing to review before it is handed in.`, {
        status_now: task.status,
      })
    }
    if (decision === 'approve') {
      const problems = outputProblems(task.requiredOutputs, task.completionOutputs ?? {})
      if (problems.length > 0) throw outputsMissing(problems)
      await finishTask(ctx, tx, task, { status: 'completed' }, ctx.actor)
    } else {
      await tasks.writeTransition(tx, id, { status: 'revision_requested' })
      if (await isHeldByEndedRun(tx, task)) await leaveEndedRun(tx, task, ctx.actor)
      await outbox.publish(tx, projectId, [taskEvent('task.revision_requested', { ...task, status: 'revision_requested' }, ctx.actor, { note: note ?? null })])
      await queueTaskUpdate(ctx, tx, task, { type: 'revision_request', content: note ?? DEFAULT_REQUEST, revision: task.revision, actor: ctx.actor })
    }
    return (await tasks.findTask(tx, id)) as Task
  })
}

/** Whether a locked task is held by the session of a subtask that is over. */
async function isHeldByEndedRun(tx: Tx, task: LockedTask): Promise<boolean> {
  if (task.subtaskId === null || task.subagentSessionId !== subtaskSessionId(task.subtaskId)) return false
  const run = await subtasks.lockSubtask(tx, task.subtaskId)
  return run === null || isTerminal(run.status)
}
