import { assignments, inbox, type LockedTask, outbox, questions, subtasks, type Tx, taskDependencies, tasks, taskUpdates } from '@muster/db'
import {
  DomainError,
  isTerminal,
  type NewEvent,
  type OutputProblem,
  type ReportedTaskStatus,
  requireController,
  requireFound,
  requireOpenTask,
  requireScope,
  subtaskSessionId,
  type Task,
  type TerminalTaskStatus,
} from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { questionEvent, taskEvent, taskUpdateEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { cancelLockedSubtask } from '../subtasks/cancel-subtask.ts'

/**
 * Gives a task up as failed, from every state that is not terminal.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended
 */
export function failTask(ctx: Ctx, id: string, reason: string): Promise<Task> {
  return endTask(ctx, id, 'failed', reason)
}

/**
 * Calls a task off, from every state that is not terminal, and with it the subtask that runs it.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended
 */
export function cancelTask(ctx: Ctx, id: string, reason: string | null): Promise<Task> {
  return endTask(ctx, id, 'cancelled', reason)
}

async function endTask(ctx: Ctx, id: string, status: 'failed' | 'cancelled', reason: string | null): Promise<Task> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  return await inProject(ctx, async (tx) => {
    const task = await lockOpenTask(tx, id)
    // The end of the run was reported as completed. That its task then failed or was cancelled is another report.
    const held = (await isHeldByEndedRun(tx, task)) ? { ...task, subtaskId: null } : task
    await finishTask(ctx, tx, held, { status, lastError: reason }, ctx.actor)
    await cancelSubtaskOf(ctx, tx, task, ctx.actor)
    return (await tasks.findTask(tx, id)) as Task
  })
}

/**
 * Locks a task that has not ended.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended
 */
export async function lockOpenTask(tx: Tx, id: string): Promise<LockedTask> {
  const task = requireFound(await tasks.lockTask(tx, id), 'task')
  requireOpenTask(task)
  return task
}

/** Keeps dependencies from being edited while tasks are completed. Before the locks of tasks, whose completion may release others. */
export async function lockForCompletion(tx: Tx, projectId: string): Promise<void> {
  await taskDependencies.lockDependencies(tx, projectId, 'complete')
}

/**
 * Ends a locked task: its assignment ends, undelivered updates expire, open questions are withdrawn, and its parent session gets an inbox item. Completion also
 * releases, in the same commit, the tasks that waited for this one alone; their dependencies must have been locked before the task was.
 */
export async function finishTask(
  deps: Pick<Deps, 'notifier' | 'newId'>,
  tx: Tx,
  task: LockedTask,
  end: { status: TerminalTaskStatus; lastError?: string | null; outputs?: Record<string, unknown>; summary?: string | null },
  actor: NewEvent['actor'],
): Promise<void> {
  const { projectId, id } = task
  await tasks.writeTransition(tx, id, {
    status: end.status,
    ...(end.outputs === undefined ? {} : { completionOutputs: end.outputs }),
    ...(end.summary === undefined ? {} : { summary: end.summary }),
    ...(end.lastError === undefined ? {} : { lastError: end.lastError }),
  })
  await reportTask(deps, tx, task, end.status)
  await assignments.endAssignments(tx, id)
  const expired = await taskUpdates.expireTaskUpdates(tx, projectId, id)
  const released = end.status === 'completed' ? await releaseDependents(tx, task) : []
  const withdrawn = await questions.withdrawOpen(tx, projectId, { taskId: id })
  const summary = end.summary === undefined ? task.summary : end.summary
  const events = [
    ...withdrawn.map((question) => questionEvent('question.withdrawn', question, actor)),
    ...expired.map((updateId) => taskUpdateEvent('update.expired', updateId, id, actor)),
    taskEvent(`task.${end.status}`, { ...task, status: end.status }, actor, end.status === 'completed' ? { summary } : { reason: end.lastError ?? null }),
    ...released.map((dependent) => taskEvent('task.unblocked', { ...dependent, status: 'pending' }, actor, { unblocked_by: id })),
  ]
  await outbox.publish(tx, projectId, events)
  wakeAfterCommit(deps, tx, events)
}

async function releaseDependents(tx: Tx, task: LockedTask): ReturnType<typeof taskDependencies.releaseDependents> {
  if (!(await taskDependencies.hasDependents(tx, task.projectId, task.id))) return []
  await taskDependencies.lockReleasing(tx, task.projectId)
  return await taskDependencies.releaseDependents(tx, task.projectId, task.id)
}

/** Cancels the subtask that runs a locked task, if one does, because its result is no longer needed. */
export async function cancelSubtaskOf(deps: Deps, tx: Tx, task: LockedTask, actor: NewEvent['actor']): Promise<void> {
  if (task.subtaskId === null) return
  const row = await subtasks.lockSubtask(tx, task.subtaskId)
  if (row === null || isTerminal(row.status)) return
  await cancelLockedSubtask(deps, tx, task.projectId, row, actor)
}

/** Whether a locked task is held by the session of the subtask that runs it, or that ran it last. */
export function isHeldByRun(task: Pick<LockedTask, 'subtaskId' | 'subagentSessionId'>): boolean {
  return task.subtaskId !== null && task.subagentSessionId === subtaskSessionId(task.subtaskId)
}

/** Whether a locked task is held by the session of a subtask that is over. */
export async function isHeldByEndedRun(tx: Tx, task: LockedTask): Promise<boolean> {
  if (task.subtaskId === null || !isHeldByRun(task)) return false
  const run = await subtasks.lockSubtask(tx, task.subtaskId)
  return run === null || isTerminal(run.status)
}

/**
 * Inserts the end or the review of a locked task into the inbox of its parent session, in the commit that changes the task. A task that a subtask runs
 * is left out: the end of that subtask is in the inbox already.
 */
export async function reportTask(deps: Pick<Deps, 'newId'>, tx: Tx, task: LockedTask, status: ReportedTaskStatus): Promise<void> {
  if (task.parentSessionId === null || isHeldByRun(task)) return
  await inbox.insertTaskItem(tx, task.projectId, { id: deps.newId(), sessionId: task.parentSessionId, taskId: task.id, taskStatus: status })
}

/** The refusal of outputs, naming each. */
export function outputsMissing(problems: readonly OutputProblem[]): DomainError {
  const names = problems.map(({ name, reason }) => `${name} ${reason}`).join('; ')
  return new DomainError('outputs_missing', `The task is not complete: ${names}. Nothing was changed.`, {
    errors: problems.map(({ name, reason }) => ({ pointer: `/outputs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, field: `outputs.${name}`, reason })),
  })
}
