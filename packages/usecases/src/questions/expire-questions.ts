import { dueQuestions, isDatabaseUnavailable, type LockedTask, outbox, questions, type Tx, transaction } from '@muster/db'
import { answerText, expiryText } from '@muster/domain'
import { returnTaskToPending } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import { questionEvent, updateEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { cancelLockedSubtask } from '../subtasks/cancel-subtask.ts'
import { cancelSubtaskOf, finishTask, isHeldByEndedRun, isHeldByRun } from '../tasks/finish-task.ts'
import { deliverAnswer, type LockedQuestion, lockQuestion } from './locked-question.ts'
import { resumeWaitingRun } from './resume-waiting-run.ts'

const BATCH = 100
const EXPIRY = { kind: 'system', id: 'expiry' } as const

/**
 * Expires the questions that are due, each once and in a commit of its own. Several processes do it at once: the first to lock a question closes it.
 * One that cannot be expired keeps no other, and is tried again the next time.
 */
export async function expireQuestions(deps: Deps): Promise<number> {
  let expired = 0
  for (const { projectId, id } of await dueQuestions.listDueQuestions(deps.dispatchDb, BATCH)) {
    try {
      if (await transaction(deps.db, projectId, (tx) => expireQuestion(deps, tx, id))) expired += 1
    } catch (error) {
      // In an outage the others fail too.
      if (isDatabaseUnavailable(error)) throw error
      deps.log.error({ err: error, project_id: projectId, question_id: id }, 'could not expire a question; it is tried again')
    }
  }
  return expired
}

async function expireQuestion(deps: Deps, tx: Tx, id: string): Promise<boolean> {
  const locked = await lockQuestion(tx, id)
  const { projectId, prompt, options, defaultAnswer, onExpiry } = locked.question
  // What ended while it was open needs no answer: its default must not appear as one.
  if (locked.isOver) {
    const withdrawn = await questions.closeQuestion(tx, id, { status: 'withdrawn' })
    if (withdrawn === null) return false
    await announce(deps, tx, projectId, [questionEvent('question.withdrawn', withdrawn, EXPIRY)])
    return true
  }
  const isDefault = onExpiry === 'default' && defaultAnswer !== null
  const expired = await questions.closeQuestion(tx, id, { status: 'expired', ...(isDefault ? { answer: defaultAnswer } : {}) })
  if (expired === null) return false
  const events = [questionEvent('question.expired', expired, EXPIRY, { on_expiry: onExpiry, answer: expired.answer })]
  if (onExpiry === 'fail') {
    await endWork(deps, tx, locked)
  } else {
    const text = isDefault ? answerText(id, prompt, options, defaultAnswer) : expiryText(id, prompt)
    const { updateId, subtaskId } = await deliverAnswer(deps, tx, locked, text, EXPIRY)
    if (subtaskId !== null) events.push(updateEvent('update.queued', updateId, subtaskId, EXPIRY))
    events.push(...(await resumeWaitingRun(deps, tx, locked, 'expired', isDefault ? defaultAnswer : null, EXPIRY)))
  }
  await announce(deps, tx, projectId, events)
  return true
}

/** A task fails. A run is asked to stop: only its worker can end it. A subtask that does not run ends at once, and returns its task. */
async function endWork(deps: Deps, tx: Tx, { question, task, subtask }: LockedQuestion): Promise<void> {
  const { projectId } = question
  const reason = `Question ${question.id} expired without an answer.`
  if (subtask !== null) {
    if (subtask.status !== 'running' && task?.subtaskId === subtask.id && isHeldByRun(task)) {
      await returnTaskToPending(deps, tx, projectId, task.id, reason, EXPIRY)
    }
    return await cancelLockedSubtask(deps, tx, projectId, subtask, EXPIRY)
  }
  const locked = task as LockedTask
  // The end of a run that is over was reported as completed. That its task then failed is another report.
  const held = (await isHeldByEndedRun(tx, locked)) ? { ...locked, subtaskId: null } : locked
  await finishTask(deps, tx, held, { status: 'failed', lastError: reason }, EXPIRY)
  await cancelSubtaskOf(deps, tx, locked, EXPIRY)
}

async function announce(deps: Deps, tx: Tx, projectId: string, events: Parameters<typeof wakeAfterCommit>[2]): Promise<void> {
  await outbox.publish(tx, projectId, [...events])
  wakeAfterCommit(deps, tx, events)
}
