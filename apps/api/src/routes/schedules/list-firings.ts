import { listFirings } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component, idParams, queryNumber, time, toTime } from '../../http/schemas.ts'

const FIRINGS_MAX = 500

const firingsSchema = component(
  'ScheduleFirings',
  z.object({
    firings: z.array(time('The time of a slot.')).describe('In order.'),
    is_cut: z.boolean().describe('More would come until then.'),
  }),
  { firings: ['2026-03-02T14:00:00.000Z', '2026-03-03T14:00:00.000Z'], is_cut: false },
)

export const listScheduleFiringsEndpoint = endpoint({
  operationId: 'listScheduleFirings',
  method: 'GET',
  path: '/schedules/{id}/firings',
  tag: 'Schedules',
  summary: 'List the next firings of a schedule',
  description: 'The times at which it fires next, as it is now. None if it is not active.',
  access: 'schedules:read',
  params: idParams('schedule'),
  query: z.strictObject({
    until: z.iso.datetime({ offset: true }).optional().describe('The last time that counts; absent: as far as the limit goes.'),
    limit: queryNumber(1, FIRINGS_MAX).default(100).describe('How many at most.'),
  }),
  answers: { 200: { description: 'The firings.', schema: firingsSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, query }) => listFirings(ctx, params.id, { until: query.until === undefined ? undefined : new Date(query.until), limit: query.limit }),
  answer: ({ firings, isCut }) => ({ status: 200, body: { firings: firings.map(toTime), is_cut: isCut } }),
})
