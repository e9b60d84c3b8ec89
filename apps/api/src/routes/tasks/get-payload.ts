import { getTaskPayload } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { payloadSchema, presentPayload } from '../evaluations/evaluation-schema.ts'

export const getTaskPayloadEndpoint = endpoint({
  operationId: 'getTaskPayload',
  method: 'GET',
  path: '/tasks/{id}/payload',
  tag: 'Tasks',
  summary: 'Read the last evaluated output',
  description:
    'The complete output of the task’s latest evaluation: submitted outputs, the result of a subtask, a message, or a text sent for evaluation. 404 if there is none yet.',
  access: 'evaluations:read',
  params: idParams('task'),
  deadlineMs: 30_000,
  answers: { 200: { description: 'The output.', schema: payloadSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getTaskPayload(ctx, params.id),
  answer: (payload) => ({ status: 200, body: presentPayload(payload) }),
})
