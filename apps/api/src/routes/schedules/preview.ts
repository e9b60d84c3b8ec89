import { previewSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { RULE_ERRORS, schedulePreviewRequestSchema, toScheduleOptions } from './new-schedule-schema.ts'
import { presentRule, schedulePreviewSchema } from './schedule-schema.ts'

export const previewScheduleEndpoint = endpoint({
  operationId: 'previewSchedule',
  method: 'POST',
  path: '/schedules/preview',
  tag: 'Schedules',
  summary: 'Preview a schedule without creating it',
  description: 'Takes the body of a creation, and shows the reading and the next times. Stores nothing.',
  access: 'schedules:write',
  needsNoRoom: 'it stores nothing',
  unaudited: 'stores nothing but the answer to repeat',
  spawns: true,
  body: schedulePreviewRequestSchema,
  answers: { 200: { description: 'How the phrase is read.', schema: schedulePreviewSchema } },
  errors: [...RULE_ERRORS],
  handle: async ({ ctx, deps, body }) => {
    const { phrase, timezone, maxFires, subagent, model, runner } = toScheduleOptions(deps, body)
    const rule = await previewSchedule(ctx, phrase, timezone ?? null, body.from == null ? undefined : new Date(body.from), { subagent, model, runner })
    return { rule, maxFires }
  },
  answer: ({ rule, maxFires }) => ({ status: 200, body: presentRule(rule, maxFires) }),
})
