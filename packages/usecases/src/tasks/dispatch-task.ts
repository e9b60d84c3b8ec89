import { assignments, type LockedTask, outbox, tasks } from '@muster/db'
import { DomainError, requireController, requireScope, type Subtask, type SubtaskBudget, subtaskSessionId, type TaskStatus, taskOfBrief } from '@muster/domain'
import { unassign } from '../assignments/unassign-task.ts'
import { type Ctx, inProject } from '../core/ctx.ts'
import { previousSession, taskEvent } from '../events/event-data.ts'
import { inBackground, insertWithCallback, type NewSubtask, prepareRun } from '../subtasks/create-subtask.ts'
import { requireUnblocked } from './assign-task.ts'
import { isHeldByRun, lockOpenTask } from './finish-task.ts'

/** How a brief is run. The brief itself supplies the prompt and the outputs. */
export type TaskDispatch = Omit<NewSubtask, 'task' | 'taskId' | 'requiredOutputs'>

/** `blocked`: not by others, which is refused before. */
const DISPATCHABLE: readonly TaskStatus[] = ['pending', 'blocked', 'assigned', 'in_progress', 'revision_requested']

/**
 * Runs a brief as a subtask, which becomes the assignee: it receives each update between two steps, its outputs complete the task, and its
 * failure unassigns the task. The previous assignee receives nothing more.
 *
 * @param choose how to run it; asked, and so may refuse, only when there is something to run
 * @throws DomainError `not_found`, `invalid_transition` when it has ended, waits for others, is in review or runs already, and what
 *   spawning a subtask is refused for
 */
export async function dispatchTask(ctx: Ctx, id: string, choose: () => TaskDispatch): Promise<Subtask> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const task = await lockOpenTask(tx, id)
    await requireUnblocked(tx, task)
    requireIdle(task)
    const input = choose()
    const prepared = prepareRun(ctx, {
      ...input,
      task: taskOfBrief(task),
      taskId: id,
      priority: input.priority ?? task.priority,
      parentSessionId: input.parentSessionId ?? task.parentSessionId ?? undefined,
      requiredOutputs: task.requiredOutputs,
    })
    const row = await inBackground(ctx, tx, { ...prepared, taskRevision: task.revision }, input.runner, input.subagent)
    const sessionId = subtaskSessionId(row.id)
    const superseded = await unassign(tx, task, ctx.actor)
    await assignments.openAssignment(tx, projectId, { taskId: id, sessionId, credentialHash: null })
    await tasks.writeTransition(tx, id, { status: 'in_progress', subagentSessionId: sessionId, subtaskId: row.id, lastError: null })
    await outbox.publish(tx, projectId, [
      ...superseded,
      taskEvent('task.assigned', { ...task, status: 'in_progress', subagentSessionId: sessionId }, ctx.actor, {
        ...previousSession(task.subagentSessionId),
        subtask_id: row.id,
      }),
    ])
    // Last, since it takes the lane's lock. A refusal takes everything back.
    return await insertWithCallback(ctx, tx, { row, taskBudget: budgetOf(task) }, input.callback)
  })
}

function budgetOf({ budgetMaxTokens: maxTokens, budgetMaxCostMicros: maxCostUsdMicros }: LockedTask): SubtaskBudget | undefined {
  return maxTokens === null && maxCostUsdMicros === null ? undefined : { maxTokens, maxCostUsdMicros }
}

/** A task is run by one subtask at a time. */
function requireIdle(task: LockedTask): void {
  if (!DISPATCHABLE.includes(task.status)) {
    throw new DomainError('invalid_transition', 'This task has been submitted and waits for review.', { status_now: task.status })
  }
  if (!isHeldByRun(task) || task.status !== 'in_progress') return
  throw new DomainError('invalid_transition', `This task runs already, as subtask ${task.subtaskId}. Cancel that first, or wait for it.`, {
    status_now: task.status,
    subtask_id: task.subtaskId,
  })
}
