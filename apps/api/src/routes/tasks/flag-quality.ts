import { flagQuality } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { newQualityFlagSchema, presentQualityFlag, qualityFlagSchema } from '../evaluations/quality-flag-schema.ts'

export const flagTaskQualityEndpoint = endpoint({
  operationId: 'flagTaskQuality',
  method: 'POST',
  path: '/tasks/{id}/quality-flag',
  tag: 'Tasks',
  summary: 'Say of what quality a task is',
  description:
    'In place of what was said before; what the assistant said about it in messages is flagged with it. `excellent` and `good` make it an example for `GET /training/export`, `bad` takes that back. Not for a sub-agent’s own credential.',
  access: 'evaluations:write',
  params: idParams('task'),
  body: newQualityFlagSchema,
  answers: { 200: { description: 'The flag.', schema: qualityFlagSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) => flagQuality(ctx, { kind: 'task', id: params.id }, body),
  answer: (flag) => ({ status: 200, body: presentQualityFlag(flag) }),
})
