import { createSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { tagged } from '../../http/entity-tag.ts'
import { newScheduleSchema, RULE_ERRORS, toScheduleOptions } from './new-schedule-schema.ts'
import { presentSchedule, scheduleSchema } from './schedule-schema.ts'

export const createScheduleEndpoint = endpoint({
  operationId: 'createSchedule',
  method: 'POST',
  path: '/schedules',
  tag: 'Schedules',
  summary: 'Schedule work',
  description:
    'Stores a rule that creates a subtask each time it is due. Send exactly one of `when`, `every` and `cron`. `reading` and `upcoming` show how it was understood. An ambiguous phrase is refused with `candidates`.',
  access: 'schedules:write',
  spawns: true,
  body: newScheduleSchema,
  answers: { 201: { description: 'Stored.', schema: scheduleSchema, headers: ['Location', 'ETag'] } },
  errors: [...RULE_ERRORS, 'schedules_disabled'],
  handle: async ({ ctx, deps, body }) => createSchedule(ctx, { ...toScheduleOptions(deps, body), task: body.task }),
  answer: (schedule) => tagged(presentSchedule(schedule), 201, { location: `/schedules/${schedule.id}` }),
})
