import { getSubtaskPayload } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { payloadSchema, presentPayload } from '../evaluations/evaluation-schema.ts'

export const getSubtaskPayloadEndpoint = endpoint({
  operationId: 'getSubtaskPayload',
  method: 'GET',
  path: '/subtasks/{id}/payload',
  tag: 'Subtasks',
  summary: 'Read the last evaluated output',
  description: 'The complete result as it was evaluated. 404 if the subtask has not completed.',
  access: 'evaluations:read',
  params: idParams('subtask'),
  deadlineMs: 30_000,
  answers: { 200: { description: 'The output.', schema: payloadSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getSubtaskPayload(ctx, params.id),
  answer: (payload) => ({ status: 200, body: presentPayload(payload) }),
})
