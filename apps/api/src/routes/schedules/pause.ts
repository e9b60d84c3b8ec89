import { pauseSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { presentSchedule, scheduleSchema } from './schedule-schema.ts'

export const pauseScheduleEndpoint = endpoint({
  operationId: 'pauseSchedule',
  method: 'POST',
  path: '/schedules/{id}/pause',
  tag: 'Schedules',
  summary: 'Pause a schedule',
  description: 'Its slots pass from now on, and say so; runs that have begun go on. Doing it again changes nothing.',
  access: 'schedules:write',
  params: idParams('schedule'),
  answers: { 200: { description: 'It is paused, or finished where nothing was to come but what it lets pass.', schema: scheduleSchema } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params }) => pauseSchedule(ctx, params.id),
  answer: (schedule) => ({ status: 200, body: presentSchedule(schedule) }),
})
