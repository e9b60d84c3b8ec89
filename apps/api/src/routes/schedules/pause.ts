import { pauseSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSchedule, scheduleSchema } from './schedule-schema.ts'

export const pauseScheduleEndpoint = endpoint({
  operationId: 'pauseSchedule',
  method: 'POST',
  path: '/schedules/{id}/pause',
  tag: 'Schedules',
  summary: 'Pause a schedule',
  description: 'From now on its slots pass, with the outcome recorded. Started runs continue.',
  access: 'schedules:write',
  params: idParams('schedule'),
  answers: { 200: { description: 'Paused, or finished if no later slot remains.', schema: scheduleSchema, headers: TAG_HEADERS } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params }) => pauseSchedule(ctx, params.id),
  answer: (schedule) => tagged(presentSchedule(schedule)),
})
