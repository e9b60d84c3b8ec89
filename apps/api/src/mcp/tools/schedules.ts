import { createSchedule } from '@muster/usecases'
import { z } from 'zod'
import { text } from '../../http/schemas.ts'
import { newScheduleSchema, toScheduleOptions } from '../../routes/schedules/new-schedule-schema.ts'
import { presentSchedule } from '../../routes/schedules/schedule-schema.ts'
import { mcpTool, parse } from '../tool.ts'
import { callback } from './runs.ts'

const phrase = text(500).optional()

export const scheduleTaskTool = mcpTool({
  name: 'schedule_task',
  title: 'Schedule a task',
  description: 'Runs `task` later or again and again. Send exactly one of `when`, `every` and `cron`. The answer says how it was read.',
  effect: 'adds',
  tier: 'core',
  scopes: ['schedules:write'],
  input: z.strictObject({
    task: text(100_000),
    when: phrase.describe('Once: "in 2 hours", "tomorrow 9am", or RFC 3339.'),
    every: phrase.describe('Recurring: "30 minutes", "daily at 8am EST".'),
    cron: phrase,
    timezone: text(64).optional().describe('IANA name, for times without a zone.'),
    notify: z.boolean().optional(),
    callback,
  }),
  output: z.object({ task_id: z.string(), schedule: z.looseObject({ reading: z.string(), next_fire_at: z.string().nullable() }) }),
  async handle({ ctx, deps, sessionId, agentId }, input) {
    const agent = agentId === undefined ? {} : { agent_id: agentId }
    const body = parse(newScheduleSchema, { ...agent, parent_session_id: sessionId, ...input })
    const { id, reading, next_fire_at, upcoming, timezone, warnings } = presentSchedule(
      await createSchedule(ctx, { ...toScheduleOptions(deps, body), task: body.task }),
    )
    return { task_id: id, schedule: { reading, next_fire_at, upcoming, timezone, warnings } }
  },
})
