import { flagQuality } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { newQualityFlagSchema, presentQualityFlag, qualityFlagSchema } from '../evaluations/quality-flag-schema.ts'

export const flagTaskQualityEndpoint = endpoint({
  operationId: 'flagTaskQuality',
  method: 'POST',
  path: '/tasks/{id}/quality-flag',
  tag: 'Tasks',
  summary: 'Flag the quality of a task',
  description:
    'Replaces the previous flag, also that of the assistant’s messages about the task. `excellent` and `good` make the task an example for `GET /training/export`; `needs_work` and `bad` remove it. A sub-agent’s own credential may not call this.',
  access: 'evaluations:write',
  params: idParams('task'),
  body: newQualityFlagSchema,
  answers: { 200: { description: 'The flag.', schema: qualityFlagSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) => flagQuality(ctx, { kind: 'task', id: params.id }, body),
  answer: (flag) => ({ status: 200, body: presentQualityFlag(flag) }),
})
