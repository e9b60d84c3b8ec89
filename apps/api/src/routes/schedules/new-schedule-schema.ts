import { type ErrorCode, isTimeZone, PHRASE_KINDS, PHRASE_LENGTH_MAX, type Phrase, type PhraseKind } from '@muster/domain'
import type { NewSchedule, ScheduleRevision } from '@muster/usecases'
import { z } from 'zod'
import type { ApiDeps } from '../../api-deps.ts'
import { printableId, requestComponent, text } from '../../http/schemas.ts'
import { newSubtaskSchema, pickRunner, requireTimeout, SPAWN_ERRORS, toBudgetOptions, toSpawnOptions } from '../subtasks/new-subtask-schema.ts'
import { callbackSchema } from '../webhooks/webhook-schema.ts'
import { missedSchema, overlapSchema } from './schedule-schema.ts'

const phrase = text(PHRASE_LENGTH_MAX)

const phrases = {
  when: phrase
    .nullish()
    .describe('One point in time, as a phrase or RFC 3339.')
    .meta({ examples: ['in 90 minutes', 'tomorrow at noon', '2026-03-10T09:00:00-05:00'] }),
  every: phrase
    .nullish()
    .describe('A recurrence, as a phrase.')
    .meta({ examples: ['30 minutes', 'weekdays at 9 ET', 'first monday of the month at 9am'] }),
  cron: phrase
    .nullish()
    .describe('A recurrence, as a cron expression of five fields, or of six with seconds first.')
    .meta({ examples: ['0 9 * * 1-5'] }),
}

const timezoneSchema = text(64)
  .refine(isTimeZone, 'is not a time zone: use the name that IANA has for it, such as America/New_York, or UTC; letters such as EST belong into the phrase')
  .describe('IANA name, for times that name no zone. Default: that of the project, otherwise UTC.')
  .meta({ examples: ['America/New_York'] })

const spawn = newSubtaskSchema.shape
const maxFires = z.int().min(1).max(1_000_000_000)
const graceSeconds = z.int().min(0).max(31_536_000).describe('Seconds that a slot may fire late before it counts as missed.')
const parentSession = printableId('The session whose inbox gets the results. Default: none; channels, webhooks and callback get them.', 'research-1')

/** The one phrase of a body; null in one that has none, or several. */
function phraseOf(body: { [Kind in PhraseKind]?: string | null | undefined }): Phrase | null {
  const given = PHRASE_KINDS.filter((kind) => body[kind] != null)
  const [kind] = given
  return given.length === 1 && kind !== undefined ? { kind, text: body[kind] as string } : null
}

const LIST = 'when, every and cron'

/** Refuses more than one phrase, or fewer than `least`. Beside everything else that is wrong, since what it looks at may be right. */
function onePhrase<Schema extends z.ZodObject>(schema: Schema, least: 0 | 1): Schema {
  return schema.superRefine(
    (body: unknown, context) => {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) return
      const given = PHRASE_KINDS.filter((kind) => (body as Record<string, unknown>)[kind] != null)
      if (given.length < least) context.addIssue({ code: 'custom', message: `has to say when: exactly one of ${LIST} is needed`, path: [], input: undefined })
      if (given.length < 2) return
      for (const kind of given) {
        const others = given.filter((other) => other !== kind).join(' and ')
        context.addIssue({ code: 'custom', message: `cannot stand beside ${others}: it takes exactly one of ${LIST}`, path: [kind] })
      }
    },
    { when: () => true },
  )
}

const EXAMPLE = { task: 'Inspect packages and report.', every: 'weekdays at 9 ET', parent_session_id: 'research-1' }

const create = {
  task: spawn.task,
  ...phrases,
  timezone: timezoneSchema.nullish(),
  agent_id: spawn.agent_id,
  notify: spawn.notify,
  timeout_seconds: spawn.timeout_seconds,
  priority: spawn.priority,
  subagent: spawn.subagent.describe('The sub-agent of each run, in its then current version.'),
  runner: spawn.runner,
  model: spawn.model,
  budget: spawn.budget,
  max_fires: maxFires.nullish().describe('The schedule finishes after this number of firings. Default: no limit.'),
  overlap: overlapSchema.default('skip'),
  missed: missedSchema.default('run_once'),
  grace_seconds: graceSeconds.default(60),
  parent_session_id: parentSession.nullish(),
  callback: callbackSchema.optional().describe('Where the end of each run is sent to. It is not shown again.'),
  metadata: spawn.metadata.describe('Each run gets a copy.'),
}

export const newScheduleSchema = requestComponent('NewSchedule', onePhrase(z.strictObject(create), 1), EXAMPLE)

/** Time zone rules are meaningless before the first year; after the last one, dates no longer have four-digit years. */
function isOfTheseAges(instant: string): boolean {
  const year = new Date(instant).getUTCFullYear()
  return year >= 1970 && year < 3_000
}

export const schedulePreviewRequestSchema = requestComponent(
  'SchedulePreviewRequest',
  onePhrase(
    z.strictObject({
      ...create,
      task: spawn.task.optional(),
      from: z.iso
        .datetime({ offset: true })
        .refine(isOfTheseAges, 'has to lie between the years 1970 and 3000')
        .nullish()
        .describe('The time at which to read the phrase. Default: now.'),
    }),
    1,
  ).describe('The body of a creation, and the time at which to read the phrase.'),
  { ...EXAMPLE, from: '2026-03-02T08:00:00.000Z' },
)

export const schedulePatchSchema = requestComponent(
  'SchedulePatch',
  onePhrase(
    z.strictObject({
      task: spawn.task.optional(),
      ...phrases,
      timezone: timezoneSchema.nullish(),
      agent_id: spawn.agent_id.removeDefault().optional(),
      notify: spawn.notify.removeDefault().optional(),
      timeout_seconds: spawn.timeout_seconds.unwrap().nullish(),
      priority: spawn.priority.removeDefault().optional(),
      subagent: spawn.subagent,
      runner: spawn.runner,
      model: spawn.model,
      budget: spawn.budget.unwrap().nullish().describe('The budget of each run. Replaces the whole budget.'),
      max_fires: maxFires.nullish().describe('A value that is not above `fire_count` finishes the schedule.'),
      overlap: overlapSchema.optional(),
      missed: missedSchema.optional(),
      grace_seconds: graceSeconds.optional(),
      parent_session_id: parentSession.nullish(),
      callback: callbackSchema
        .nullish()
        .describe(
          'Where the end of each run is sent to from now on; null: nowhere. A merge patch without `secret` keeps the secret; `secret: null` removes it.',
        ),
      metadata: spawn.metadata.removeDefault().optional(),
    }),
    0,
  ).describe('Only the fields to change. Null removes a field or resets it to its default.'),
  { every: 'weekdays at 10 ET', max_fires: 20 },
)

/** What a rule, and what its runs are to be, can be refused for. */
export const RULE_ERRORS: readonly ErrorCode[] = [...SPAWN_ERRORS, 'schedule_ambiguous', 'schedule_unparseable', 'schedule_in_past']

type NewScheduleBody = z.output<typeof newScheduleSchema>

/** Everything of a new schedule but what its runs are to do. @throws DomainError as `toSpawnOptions` does */
export function toScheduleOptions(deps: ApiDeps, body: Omit<NewScheduleBody, 'task'>): Omit<NewSchedule, 'task'> {
  return {
    ...toSpawnOptions(deps, body),
    phrase: phraseOf(body) as Phrase,
    timezone: body.timezone ?? undefined,
    priority: body.priority,
    callback: body.callback,
    maxFires: body.max_fires ?? undefined,
    overlap: body.overlap,
    missed: body.missed,
    graceSeconds: body.grace_seconds,
  }
}

/** What a patch changes. Null where the schedule itself has a default is that default. @throws DomainError as `toSpawnOptions` does */
export function toScheduleRevision(deps: ApiDeps, body: z.output<typeof schedulePatchSchema>): ScheduleRevision {
  requireTimeout(deps, body.timeout_seconds)
  const { budget, runner } = body
  return {
    task: body.task,
    phrase: phraseOf(body) ?? undefined,
    timezone: body.timezone,
    agentId: body.agent_id,
    notify: body.notify,
    timeoutSeconds: body.timeout_seconds === null ? deps.settings.SUBTASK_DEFAULT_TIMEOUT : body.timeout_seconds,
    priority: body.priority,
    subagent: body.subagent,
    runner: runner === undefined ? undefined : pickRunner(deps, runner),
    model: body.model,
    budget: budget === null ? {} : budget && toBudgetOptions(budget),
    maxFires: body.max_fires,
    overlap: body.overlap,
    missed: body.missed,
    graceSeconds: body.grace_seconds,
    parentSessionId: body.parent_session_id,
    callback: body.callback,
    metadata: body.metadata,
  }
}
