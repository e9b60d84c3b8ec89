import { outbox, type Question, questions } from '@muster/db'
import { type Answer, answerProblems, answerText, canonicalJson, DomainError, requireController, requireScope, requireValid } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { questionEvent, updateEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { digestOf } from './ask-question.ts'
import { deliverAnswer, lockQuestion } from './locked-question.ts'
import { resumeWaitingRun } from './resume-waiting-run.ts'

export interface AnswerInput extends Answer {
  /** The current revision of the task, as a confirmation that the answer still holds although the brief has changed since the question. */
  revision?: number | undefined
}

/**
 * Answers a question, once. The answer reaches the run or the assignee as an update. The same answer by the same caller again changes nothing.
 *
 * @throws DomainError `not_found`, `conflict` naming who answered, or for other arguments than those that were asked about, `revision_stale` if the brief
 * has changed since and the answer does not confirm its revision, `invalid_transition` when the work has ended, `validation_failed`
 */
export async function answerQuestion(ctx: Ctx, id: string, { revision, ...given }: AnswerInput): Promise<Question> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { kind, id: actorId, name = null } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const locked = await lockQuestion(tx, id)
    const { question } = locked
    const problems = answerProblems(question, given)
    const answer = toStored(question, given)
    if (question.status !== 'open') {
      const isRepeated = question.answeredByKind === kind && question.answeredById === actorId && canonicalJson(question.answer) === canonicalJson(answer)
      if (question.status === 'answered' && problems.length === 0 && isRepeated) return question
      throw closed(question)
    }
    if (locked.isOver) throw new DomainError('invalid_transition', 'The work that asked this has ended. No answer is needed.')
    requireValid(problems)
    if (given.arguments_digest !== undefined && given.arguments_digest !== question.argumentsDigest) {
      throw new DomainError('conflict', 'The digest is of other arguments than this approval is about. Read the question again.', {
        arguments_digest: question.argumentsDigest,
      })
    }
    const now = locked.task?.revision ?? null
    if (now !== null && now !== question.revision && now !== revision) {
      const message = `The question was asked at revision ${question.revision}, and the task is at ${now}. Send revision ${now} if the answer still holds.`
      throw new DomainError('revision_stale', message, { revision: now })
    }
    const sender = { kind, id: actorId, name }
    const text = answerText(id, question.prompt, question.options, answer)
    const delivery = await deliverAnswer(ctx, tx, locked, text, sender)
    const answeredBy = { kind, id: actorId }
    const answered = await questions.closeQuestion(tx, id, { status: 'answered', answer, answeredBy, updateId: delivery.updateId })
    if (answered === null) throw closed({ ...question, status: 'expired' })
    const events = [
      ...(delivery.subtaskId === null ? [] : [updateEvent('update.queued', delivery.updateId, delivery.subtaskId, ctx.actor)]),
      questionEvent('question.answered', answered, ctx.actor, { answer, update_id: delivery.updateId }),
      ...(await resumeWaitingRun(ctx, tx, locked, 'answered', answer, ctx.actor)),
    ]
    await outbox.publish(tx, ctx.actor.projectId, events)
    wakeAfterCommit(ctx, tx, events)
    return answered
  })
}

/** The answer without absent fields, and for an approval with the digest of exactly the arguments that it permits. */
function toStored({ argumentsDigest }: Question, { arguments_digest: _, ...given }: Answer): Answer {
  const answer = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Answer
  if (answer.decision !== 'approve' || argumentsDigest === null) return answer
  return { ...answer, arguments_digest: answer.edited_arguments === undefined ? argumentsDigest : digestOf(answer.edited_arguments) }
}

function closed({ status, answeredByKind, answeredById, answeredAt }: Question): DomainError {
  if (status !== 'answered') {
    return new DomainError('conflict', `This question is ${status}; it takes no answer any more.`, { status_now: status })
  }
  return new DomainError('conflict', `This question was answered by ${answeredByKind} ${answeredById}. Your answer was not stored.`, {
    status_now: status,
    answered_by: { kind: answeredByKind as string, id: answeredById as string },
    answered_at: answeredAt?.toISOString(),
  })
}
