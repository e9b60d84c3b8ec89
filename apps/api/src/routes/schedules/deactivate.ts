import { deactivateSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { expectedTag } from '../../http/if-match.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSchedule, scheduleSchema, scheduleTag } from './schedule-schema.ts'

export const deactivateScheduleEndpoint = endpoint({
  operationId: 'deactivateSchedule',
  method: 'DELETE',
  path: '/schedules/{id}',
  tag: 'Schedules',
  summary: 'Deactivate a schedule',
  description: 'The schedule never fires again and can still be read. Started runs continue.',
  access: 'schedules:write',
  params: idParams('schedule'),
  takesIfMatch: 'optional',
  answers: { 200: { description: 'Deactivated, or already finished.', schema: scheduleSchema, headers: TAG_HEADERS } },
  errors: ['not_found', 'revision_stale'],
  handle: ({ ctx, params, headers }) => deactivateSchedule(ctx, params.id, expectedTag(headers, scheduleTag)),
  answer: (schedule) => tagged(presentSchedule(schedule)),
})
