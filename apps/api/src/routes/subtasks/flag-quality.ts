import { flagQuality } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { newQualityFlagSchema, presentQualityFlag, qualityFlagSchema } from '../evaluations/quality-flag-schema.ts'

export const flagSubtaskQualityEndpoint = endpoint({
  operationId: 'flagSubtaskQuality',
  method: 'POST',
  path: '/subtasks/{id}/quality-flag',
  tag: 'Subtasks',
  summary: 'Say of what quality a subtask is',
  description:
    'In place of what was said before. `excellent` and `good` make it an example for `GET /training/export`, `bad` takes that back. Not for a sub-agent’s own credential.',
  access: 'evaluations:write',
  params: idParams('subtask'),
  body: newQualityFlagSchema,
  answers: { 200: { description: 'The flag.', schema: qualityFlagSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) => flagQuality(ctx, { kind: 'subtask', id: params.id }, body),
  answer: (flag) => ({ status: 200, body: presentQualityFlag(flag) }),
})
