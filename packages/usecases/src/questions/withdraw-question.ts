import { outbox, type Question, questions } from '@muster/db'
import { DomainError, requireScope } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { questionEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { lockQuestion, requireOwnQuestion } from './locked-question.ts'

/**
 * Withdraws an open question: no answer is needed any more. Repeating it changes nothing.
 *
 * @throws DomainError `not_found`, `conflict` when it was answered or has expired
 */
export async function withdrawQuestion(ctx: Ctx, id: string): Promise<Question> {
  requireScope(ctx.actor, 'tasks:write')
  return await inProject(ctx, async (tx) => {
    const { question } = await lockQuestion(tx, id)
    requireOwnQuestion(ctx.actor, question)
    if (question.status === 'withdrawn') return question
    const withdrawn = await questions.closeQuestion(tx, id, { status: 'withdrawn' })
    if (withdrawn === null) throw new DomainError('conflict', `This question is ${question.status} already.`, { status_now: question.status })
    const events = [questionEvent('question.withdrawn', withdrawn, ctx.actor)]
    await outbox.publish(tx, ctx.actor.projectId, events)
    wakeAfterCommit(ctx, tx, events)
    return withdrawn
  })
}
