import { type LockedSubtask, type LockedTask, type Question, questions, settle, subtasks, type Tx, tasks, updates } from '@muster/db'
import { type Actor, isTerminal, isTerminalTask, notFound, requireFound, type Sender } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { queueTaskUpdate } from '../tasks/send-task-update.ts'

/** A question with what it is about, all locked. */
export interface LockedQuestion {
  question: Question
  /** The task of the question, or the one that its subtask runs. */
  task: LockedTask | null
  subtask: LockedSubtask | null
  /** Whether its subtask or task has ended, so that an answer has no reader. */
  isOver: boolean
}

/** @throws DomainError `not_found` */
export async function lockQuestion(tx: Tx, id: string): Promise<LockedQuestion> {
  const { subtaskId, taskId } = requireFound(await questions.findQuestion(tx, id), 'question')
  // Locks of tasks come before those of subtasks, and those before the question.
  const [runTaskId] = subtaskId === null ? [taskId as string] : await settle.listTaskIds(tx, [subtaskId])
  const task = runTaskId === undefined ? null : await tasks.lockTask(tx, runTaskId)
  const subtask = subtaskId === null ? null : await subtasks.lockSubtask(tx, subtaskId)
  const question = requireFound(await questions.lockQuestion(tx, id), 'question')
  const isOver = subtaskId === null ? task === null || isTerminalTask(task.status) : subtask === null || isTerminal(subtask.status)
  return { question, task, subtask, isOver }
}

/** Confines a sub-agent's own credential to what its own session asked. @throws DomainError `not_found` */
export function requireOwnQuestion(actor: Actor, question: Question): void {
  if (actor.lineage !== null && question.askedBySession !== actor.lineage.sessionId) throw notFound('question')
}

/** Queues the update that carries an answer, for a subject that has not ended. Returns its id. */
export async function deliverAnswer(
  deps: Pick<Deps, 'newId' | 'notifier'>,
  tx: Tx,
  { question, task, subtask }: LockedQuestion,
  content: string,
  sender: Sender,
): Promise<{ updateId: string; subtaskId: string | null }> {
  if (subtask === null) {
    const { updateId } = await queueTaskUpdate(deps, tx, task as LockedTask, {
      type: 'note',
      content,
      revision: (task as LockedTask).revision,
      actor: sender,
    })
    return { updateId, subtaskId: null }
  }
  const { projectId } = question
  const note = { id: deps.newId(), projectId, subtaskId: subtask.id, content, sender, delivery: 'next_step' as const }
  const { updateId } = await updates.insertNote(tx, note)
  tx.afterCommit(() => deps.notifier.notify('cancel', subtask.id))
  return { updateId, subtaskId: subtask.id }
}
