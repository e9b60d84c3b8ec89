import { deactivateSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSchedule, scheduleSchema } from './schedule-schema.ts'

export const deactivateScheduleEndpoint = endpoint({
  operationId: 'deactivateSchedule',
  method: 'DELETE',
  path: '/schedules/{id}',
  tag: 'Schedules',
  summary: 'Deactivate a schedule',
  description:
    'The schedule never fires again and can still be read. Started runs continue. Repeating the call, or calling it for a finished schedule, changes nothing.',
  access: 'schedules:write',
  params: idParams('schedule'),
  answers: { 200: { description: 'Deactivated, or already finished.', schema: scheduleSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => deactivateSchedule(ctx, params.id),
  answer: (schedule) => ({ status: 200, body: presentSchedule(schedule) }),
})
