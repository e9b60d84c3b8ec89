import { outbox, type Question, questions } from '@muster/db'
import { DomainError, requireScope, withdrawalText } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { questionEvent, updateEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { deliverAnswer, lockQuestion, requireOwnQuestion } from './locked-question.ts'
import { resumeWaitingRun } from './resume-waiting-run.ts'

/**
 * Withdraws an open question: no answer is needed any more. A run that waits for it goes on without. Repeating it changes nothing.
 *
 * @throws DomainError `not_found`, `conflict` when it was answered or has expired
 */
export async function withdrawQuestion(ctx: Ctx, id: string): Promise<Question> {
  requireScope(ctx.actor, 'tasks:write')
  return await inProject(ctx, async (tx) => {
    const locked = await lockQuestion(tx, id)
    const { question } = locked
    requireOwnQuestion(ctx.actor, question)
    if (question.status === 'withdrawn') return question
    const withdrawn = await questions.closeQuestion(tx, id, { status: 'withdrawn' })
    if (withdrawn === null) throw new DomainError('conflict', `This question is ${question.status} already.`, { status_now: question.status })
    const events = [questionEvent('question.withdrawn', withdrawn, ctx.actor)]
    if (locked.subtask?.waitingFor === id) {
      const { updateId, subtaskId } = await deliverAnswer(ctx, tx, locked, withdrawalText(id, question.prompt), ctx.actor)
      events.push(
        updateEvent('update.queued', updateId, subtaskId as string, ctx.actor),
        ...(await resumeWaitingRun(ctx, tx, locked, 'withdrawn', null, ctx.actor)),
      )
    }
    await outbox.publish(tx, ctx.actor.projectId, events)
    wakeAfterCommit(ctx, tx, events)
    return withdrawn
  })
}
