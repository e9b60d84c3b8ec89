import { getTaskPayload } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { payloadSchema, presentPayload } from '../evaluations/evaluation-schema.ts'

export const getTaskPayloadEndpoint = endpoint({
  operationId: 'getTaskPayload',
  method: 'GET',
  path: '/tasks/{id}/payload',
  tag: 'Tasks',
  summary: 'Read the output that was evaluated last',
  description:
    'The output of the task that was evaluated last, whole: what it was completed with, the result of the subtask that ran it, a message about it, or a text that was handed in for it. 404 while there is none.',
  access: 'evaluations:read',
  params: idParams('task'),
  deadlineMs: 30_000,
  answers: { 200: { description: 'The output.', schema: payloadSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getTaskPayload(ctx, params.id),
  answer: (payload) => ({ status: 200, body: presentPayload(payload) }),
})
