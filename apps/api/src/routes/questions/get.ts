import { getQuestion } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, queryNumber } from '../../http/schemas.ts'
import { inTimeForLook, WAIT_DEADLINE_MS, WAIT_SECONDS_MAX, waitUntil } from '../subtasks/wait-for-end.ts'
import { presentQuestion, questionSchema } from './question-schema.ts'

export const getQuestionEndpoint = endpoint({
  operationId: 'getQuestion',
  method: 'GET',
  path: '/questions/{id}',
  tag: 'Questions',
  summary: 'Read a question',
  description: 'With `wait_seconds`, answers when the question is no longer open, at the latest when the time is over.',
  access: 'tasks:read',
  params: idParams('question'),
  query: z.strictObject({ wait_seconds: queryNumber(0, WAIT_SECONDS_MAX).default(0).describe('Seconds to wait for the answer.') }),
  answers: { 200: { description: 'The question.', schema: questionSchema } },
  errors: ['not_found'],
  deadlineMs: WAIT_DEADLINE_MS,
  async handle({ ctx, deps, params, query, gone, elapsedMs, authorizeAgain }) {
    const seen = await inTimeForLook(getQuestion(ctx, params.id), elapsedMs())
    if (query.wait_seconds === 0 || seen.status !== 'open') return seen
    // Its events are about the subtask or task, and wake by that id.
    const ids = [seen.subtaskId ?? (seen.taskId as string)]
    const wait = { ms: query.wait_seconds * 1_000, gone: gone(), authorizeAgain }
    return await waitUntil(
      deps,
      ids,
      () => inTimeForLook(getQuestion(ctx, params.id)),
      ({ status }) => status !== 'open',
      wait,
    )
  },
  answer: (question) => ({ status: 200, body: presentQuestion(question) }),
})
