import { resumeSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSchedule, scheduleSchema } from './schedule-schema.ts'

export const resumeScheduleEndpoint = endpoint({
  operationId: 'resumeSchedule',
  method: 'POST',
  path: '/schedules/{id}/resume',
  tag: 'Schedules',
  summary: 'Resume a paused schedule',
  description: 'It fires again from its next slot.',
  access: 'schedules:write',
  spawns: true,
  params: idParams('schedule'),
  answers: { 200: { description: 'Active.', schema: scheduleSchema, headers: TAG_HEADERS } },
  errors: ['spawn_blocked', 'not_found', 'invalid_transition', 'schedules_disabled'],
  handle: ({ ctx, params }) => resumeSchedule(ctx, params.id),
  answer: (schedule) => tagged(presentSchedule(schedule)),
})
