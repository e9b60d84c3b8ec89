import { reviseSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { expectedTag } from '../../http/if-match.ts'
import { idParams } from '../../http/schemas.ts'
import { RULE_ERRORS, schedulePatchSchema, toScheduleRevision } from './new-schedule-schema.ts'
import { presentSchedule, scheduleSchema, scheduleTag } from './schedule-schema.ts'

export const reviseScheduleEndpoint = endpoint({
  operationId: 'reviseSchedule',
  method: 'PATCH',
  path: '/schedules/{id}',
  tag: 'Schedules',
  summary: 'Change a schedule',
  description: 'Fields that are not sent stay. A new phrase or `timezone` is read again as of now; later slots follow the new rule.',
  access: 'schedules:write',
  spawns: true,
  params: idParams('schedule'),
  body: schedulePatchSchema,
  takesIfMatch: 'optional',
  answers: { 200: { description: 'The schedule as it is now.', schema: scheduleSchema, headers: TAG_HEADERS } },
  errors: [...RULE_ERRORS, 'not_found', 'invalid_transition', 'revision_stale', 'secrets_not_configured'],
  handle: ({ ctx, deps, params, patched, headers }) =>
    reviseSchedule(
      ctx,
      params.id,
      (schedule) => toScheduleRevision(deps, patched({ ...presentSchedule(schedule), callback: schedule.callback })),
      expectedTag(headers, scheduleTag),
    ),
  answer: (schedule) => tagged(presentSchedule(schedule)),
})
