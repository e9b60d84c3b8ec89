import { subtasks, type Tx } from '@muster/db'
import { type Answer, isAboutBudget, type NewEvent, type QuestionStatus } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { subtaskEvent } from '../events/event-data.ts'
import { grantFreePermits, takeLaterPermit } from '../subtasks/grant-permits.ts'
import type { LockedQuestion } from './locked-question.ts'
import { endOverBudget, raiseBudget } from './raise-budget.ts'

/**
 * Returns the subtask that waits for a question, which was just closed, to pending, before the newer work of its agent. Returns the events to publish: none
 * if no run waits for this question. Takes the lock of the lane. The answer about a budget that is used up raises it, or ends the run.
 *
 * @param answer null if there is none
 * @throws DomainError as `raiseBudget` does
 */
export async function resumeWaitingRun(
  deps: Deps,
  tx: Tx,
  locked: LockedQuestion,
  status: QuestionStatus,
  answer: Answer | null,
  actor: NewEvent['actor'],
): Promise<NewEvent[]> {
  const { question, subtask } = locked
  if (subtask === null || subtask.waitingFor !== question.id) return []
  if (isAboutBudget(question) && answer !== null) {
    if (answer.decision !== 'approve') return await endOverBudget(deps, tx, { ...locked, subtask }, actor)
    await raiseBudget(deps, tx, { ...locked, subtask }, answer)
  }
  const { id, agentId, attempt } = subtask
  const rankAt = await subtasks.resumeWaiting(tx, id)
  await grantFreePermits(deps, tx, question.projectId, [agentId])
  if ((await subtasks.lockSubtask(tx, id))?.hasPermit === false) {
    const hasTaken = await takeLaterPermit(deps, tx, question.projectId, { id, agentId, jobId: deps.newId() }, rankAt)
    if (hasTaken) tx.afterCommit(() => deps.notifier.notify('run'))
  }
  return [subtaskEvent('subtask.resumed', subtask, actor, { attempt, question_id: question.id, reason: `Question ${question.id} is ${status}.` })]
}
