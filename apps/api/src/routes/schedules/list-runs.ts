import { listScheduleRuns } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, pageQuery } from '../../http/schemas.ts'
import { presentScheduleRun, scheduleRunListSchema } from './schedule-schema.ts'

export const listScheduleRunsEndpoint = endpoint({
  operationId: 'listScheduleRuns',
  method: 'GET',
  path: '/schedules/{id}/runs',
  tag: 'Schedules',
  summary: 'List the runs of a schedule',
  description: 'Newest first: each past slot, with its outcome, and each triggered run.',
  access: 'schedules:read',
  params: idParams('schedule'),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of runs.', schema: scheduleRunListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listScheduleRuns(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentScheduleRun), next_cursor: nextCursor } }),
})
