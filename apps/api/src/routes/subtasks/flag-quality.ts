import { flagQuality } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { newQualityFlagSchema, presentQualityFlag, qualityFlagSchema } from '../evaluations/quality-flag-schema.ts'

export const flagSubtaskQualityEndpoint = endpoint({
  operationId: 'flagSubtaskQuality',
  method: 'POST',
  path: '/subtasks/{id}/quality-flag',
  tag: 'Subtasks',
  summary: 'Flag the quality of a subtask',
  description:
    'Replaces the previous flag. `excellent` and `good` make the subtask an example for `GET /training/export`; `needs_work` and `bad` remove it. A sub-agent’s own credential may not call this.',
  access: 'evaluations:write',
  params: idParams('subtask'),
  body: newQualityFlagSchema,
  answers: { 200: { description: 'The flag.', schema: qualityFlagSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) => flagQuality(ctx, { kind: 'subtask', id: params.id }, body),
  answer: (flag) => ({ status: 200, body: presentQualityFlag(flag) }),
})
