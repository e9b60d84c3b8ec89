import { listSchedules } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component, pageQuery, printableId } from '../../http/schemas.ts'
import { presentSchedule, scheduleListSchema } from './schedule-schema.ts'

export const listSchedulesEndpoint = endpoint({
  operationId: 'listSchedules',
  method: 'GET',
  path: '/schedules',
  tag: 'Schedules',
  summary: 'List schedules',
  description: 'Newest first. Only active schedules, unless `active` says otherwise.',
  access: 'schedules:read',
  query: z.strictObject({
    active: component('ScheduleFilter', z.enum(['true', 'false', 'all']))
      .default('true')
      .describe('true: active only. false: paused and ended only. all: every schedule.'),
    agent_id: printableId('Only those of this agent.', 'default').optional(),
    ...pageQuery,
  }),
  answers: { 200: { description: 'A page of schedules.', schema: scheduleListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query: { active, agent_id, ...page } }) =>
    listSchedules(ctx, { active: active === 'all' ? undefined : active === 'true', agentId: agent_id, ...page }),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentSchedule), next_cursor: nextCursor } }),
})
