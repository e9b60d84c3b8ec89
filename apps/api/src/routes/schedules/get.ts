import { getSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { NOT_MODIFIED, TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSchedule, scheduleSchema } from './schedule-schema.ts'

export const getScheduleEndpoint = endpoint({
  operationId: 'getSchedule',
  method: 'GET',
  path: '/schedules/{id}',
  tag: 'Schedules',
  summary: 'Read a schedule',
  description: 'Also its reading and its next times.',
  access: 'schedules:read',
  params: idParams('schedule'),
  takesIfNoneMatch: true,
  answers: { 200: { description: 'The schedule.', schema: scheduleSchema, headers: TAG_HEADERS }, 304: NOT_MODIFIED },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getSchedule(ctx, params.id),
  answer: (schedule) => tagged(presentSchedule(schedule)),
})
