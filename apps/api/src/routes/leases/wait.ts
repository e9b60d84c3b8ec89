import { waitForAnswer } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSubtask, subtaskSchema } from '../subtasks/subtask-schema.ts'
import { toUsage, waitSchema } from './lease-schema.ts'

export const waitForAnswerEndpoint = endpoint({
  operationId: 'waitForAnswer',
  method: 'POST',
  path: '/subtasks/{id}/wait',
  tag: 'Outside workers',
  summary: 'Wait for an answer',
  description:
    'Ends the attempt until the question is closed. A `waiting` subtask uses none of the limits of its agent, and its timeout does not run. Then it is pending again, before newer work of its agent, with the answer in the brief.',
  access: 'subtasks:claim',
  needsNoRoom: 'accepted work goes on',
  unaudited: 'the traffic of an outside worker, fenced by its lease; the events of the subtask name the worker',
  params: idParams('subtask'),
  body: waitSchema,
  repairsText: true,
  // A continuation of 1 MiB, escaped as JSON.
  bodyBytesMax: 8 * 1_048_576,
  deadlineMs: 30_000,
  answers: { 200: { description: 'The subtask as it is now.', schema: subtaskSchema } },
  errors: ['not_found', 'lease_lost'],
  handle: ({ ctx, params, body }) =>
    waitForAnswer(ctx, params.id, {
      leaseToken: body.lease_token,
      questionId: body.question_id,
      continuation: body.continuation,
      usage: toUsage(body.usage),
    }),
  answer: (subtask) => ({ status: 200, body: presentSubtask(subtask) }),
})
