import { type Question, questions } from '@muster/db'
import { type QuestionStatus, requireFound, requireScope } from '@muster/domain'
import { type Ctx, reading, readingMany } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'
import { requireOwnQuestion } from './locked-question.ts'

/** @throws DomainError `not_found` */
export async function getQuestion(ctx: Ctx, id: string): Promise<Question> {
  requireScope(ctx.actor, 'tasks:read')
  const question = requireFound(await reading(ctx, (tx) => questions.findQuestion(tx, id)), 'question')
  requireOwnQuestion(ctx.actor, question)
  return question
}

export interface QuestionQuery {
  status?: QuestionStatus | undefined
  /** The parent session. */
  session?: string | undefined
  /** Also those of the subtasks that run it. */
  taskId?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Newest first. A sub-agent's own credential sees what its session asked. */
export async function listQuestions(ctx: Ctx, query: QuestionQuery): Promise<Page<Question>> {
  requireScope(ctx.actor, 'tasks:read')
  const beforeId = idInCursor(query.cursor)
  const items = await readingMany(ctx, (tx) =>
    questions.listQuestions(tx, ctx.actor.projectId, {
      status: query.status,
      sessionId: query.session,
      taskId: query.taskId,
      askedBySession: ctx.actor.lineage?.sessionId,
      beforeId,
      limit: query.limit + 1,
    }),
  )
  return page(items, query.limit, (last) => last.id)
}
