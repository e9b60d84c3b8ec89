import { getSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSchedule, scheduleSchema } from './schedule-schema.ts'

export const getScheduleEndpoint = endpoint({
  operationId: 'getSchedule',
  method: 'GET',
  path: '/schedules/{id}',
  tag: 'Schedules',
  summary: 'Read a schedule',
  description: 'The schedule, its reading and its next times.',
  access: 'schedules:read',
  params: idParams('schedule'),
  answers: { 200: { description: 'The schedule.', schema: scheduleSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getSchedule(ctx, params.id),
  answer: (schedule) => ({ status: 200, body: presentSchedule(schedule) }),
})
