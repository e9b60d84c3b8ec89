import {
  cronExprOf,
  firingsAfter,
  MISSED_POLICIES,
  OVERLAPS,
  ruleOf,
  SCHEDULE_STATES,
  type Schedule,
  type ScheduleRun,
  SLOT_OUTCOMES,
  type Timing,
} from '@muster/domain'
import type { ScheduleRule } from '@muster/usecases'
import { z } from 'zod'
import { contentTag } from '../../http/entity-tag.ts'
import { component, formerly, listComponent, time, toTime, toTimeOrNull } from '../../http/schemas.ts'
import { budgetSchema, presentBudget, prioritySchema } from '../subtasks/subtask-schema.ts'

const EXAMPLE_ID = '0198c9c0-2b40-7d15-b7a1-6f0e9d2c4a58'
const UPCOMING_MAX = 5

const warningSchema = component('ScheduleWarning', z.object({ code: z.string(), message: z.string() }))

export const overlapSchema = component(
  'OverlapPolicy',
  z.enum(OVERLAPS).describe('What happens to a slot while an earlier run is still active. skip: the slot passes. allow: it fires too.'),
)

export const missedSchema = component(
  'MissedPolicy',
  z.enum(MISSED_POLICIES).describe('Slots that the server could not fire in time. skip: they pass. run_once: one run, for the latest, replaces all.'),
)

const rule = {
  schedule_type: component('ScheduleType', z.enum(['once', 'recurring'])),
  phrase: z.string().describe('As it was sent.'),
  canonical: z.string().describe('A phrase for the same field that reads as the same rule.'),
  reading: z.string().describe('How the phrase was understood, in words.'),
  timezone: z.string(),
  fire_at: time('Of one that fires once: when.').nullable(),
  interval_seconds: z.int().nullable().describe('For an interval: elapsed seconds between two firings.'),
  cron_expr: z.string().nullable().describe('The rule as a five-field cron expression; null if cron cannot express it.'),
  rule: z.string().nullable().describe('The rule as DTSTART and RRULE (RFC 5545); null for intervals and one-time schedules.'),
  anchor_at: time('Where counting begins.'),
  next_fire_at: time('When it is due next.').nullable(),
  upcoming: z.array(time('The time of the slot.')).describe('The next five times.'),
  warnings: z.array(warningSchema).describe('How details were decided that the phrase left open.'),
}

const EXAMPLE_RULE = {
  schedule_type: 'recurring' as const,
  phrase: 'weekdays at 9 ET',
  canonical: 'every weekday at 09:00 America/New_York',
  reading: 'Every weekday at 09:00, America/New_York',
  timezone: 'America/New_York',
  fire_at: null,
  interval_seconds: null,
  cron_expr: '0 9 * * 1,2,3,4,5',
  rule: 'DTSTART;TZID=America/New_York:20260302T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
  anchor_at: '2026-03-02T08:00:00.000Z',
  next_fire_at: '2026-03-02T14:00:00.000Z',
  upcoming: ['2026-03-02T14:00:00.000Z', '2026-03-03T14:00:00.000Z', '2026-03-04T14:00:00.000Z', '2026-03-05T14:00:00.000Z', '2026-03-06T14:00:00.000Z'],
  warnings: [],
}

export const schedulePreviewSchema = component('SchedulePreview', z.object(rule), EXAMPLE_RULE)

export const scheduleSchema = component(
  'Schedule',
  z.object({
    id: z.uuid(),
    agent_id: z.string(),
    task: z.string(),
    ...rule,
    state: component('ScheduleState', z.enum(SCHEDULE_STATES)).describe('Only an active schedule fires. finished and deactivated are final.'),
    active: z.boolean().describe('Whether its state is active.'),
    fire_count: z.int().describe('The number of fired slots. Triggered runs do not count.'),
    max_fires: z.int().nullable(),
    last_fired_at: time('When a slot last fired.').nullable(),
    overlap: overlapSchema,
    missed: missedSchema,
    grace_seconds: z.int(),
    notify: z.boolean(),
    timeout_seconds: z.int(),
    priority: prioritySchema,
    subagent: z.string().nullable().describe('The sub-agent of each run, in its then current version.'),
    runner: z.string(),
    model: z.string().nullable(),
    budget: budgetSchema,
    parent_session_id: z.string().nullable().describe('The session whose inbox receives the results; null: no inbox receives them.'),
    metadata: z.record(z.string(), z.unknown()),
    created_by_session_id: z.string().nullable().describe('The session that created it.'),
    created_by_session: formerly(z.string().nullable(), 'created_by_session_id'),
    created_at: time(),
    updated_at: time('When it last changed or fired.'),
  }),
  {
    id: EXAMPLE_ID,
    agent_id: 'default',
    task: 'Inspect packages and report.',
    ...EXAMPLE_RULE,
    state: 'active',
    active: true,
    fire_count: 0,
    max_fires: null,
    last_fired_at: null,
    overlap: 'skip',
    missed: 'run_once',
    grace_seconds: 60,
    notify: true,
    timeout_seconds: 120,
    priority: 'normal',
    subagent: null,
    runner: 'scout',
    model: null,
    budget: { max_steps: 50, max_tokens: null, max_cost_usd: null },
    parent_session_id: 'research-1',
    metadata: {},
    created_by_session_id: 'research-1',
    created_by_session: 'research-1',
    created_at: '2026-03-02T08:00:00.000Z',
    updated_at: '2026-03-02T08:00:00.000Z',
  },
)

export const scheduleListSchema = listComponent('ScheduleList', scheduleSchema)

const scheduleRunSchema = component(
  'ScheduleRun',
  z.object({
    slot: time('When it was due; of a triggered one, when it was asked for.'),
    fired_at: time('When its subtask was made.').nullable(),
    outcome: component('SlotOutcome', z.enum(SLOT_OUTCOMES)).describe(
      'waiting: the queue of its agent is full; the slot fires as soon as there is room. All other outcomes are final.',
    ),
    manual: z.boolean().describe('Whether the run was triggered by hand.'),
    subtask_id: z.uuid().nullable(),
  }),
  {
    slot: '2026-03-02T14:00:00.000Z',
    fired_at: '2026-03-02T14:00:00.012Z',
    outcome: 'fired',
    manual: false,
    subtask_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47',
  },
)

export const scheduleRunListSchema = listComponent('ScheduleRunList', scheduleRunSchema)

export function presentSchedule(schedule: Schedule): z.output<typeof scheduleSchema> {
  const { maxFires, fireCount } = schedule
  return {
    id: schedule.id,
    agent_id: schedule.agentId,
    task: schedule.task,
    ...presentRule(schedule, maxFires === null ? UPCOMING_MAX : maxFires - fireCount),
    state: schedule.state,
    active: schedule.state === 'active',
    fire_count: fireCount,
    max_fires: maxFires,
    last_fired_at: toTimeOrNull(schedule.lastFiredAt),
    overlap: schedule.overlap,
    missed: schedule.missed,
    grace_seconds: schedule.graceSeconds,
    notify: schedule.notify,
    timeout_seconds: schedule.timeoutSeconds,
    priority: schedule.priority,
    subagent: schedule.subagent,
    runner: schedule.runner,
    model: schedule.model,
    budget: presentBudget(schedule.budget),
    parent_session_id: schedule.parentSessionId,
    metadata: schedule.metadata,
    created_by_session_id: schedule.createdBySession,
    created_by_session: schedule.createdBySession,
    created_at: toTime(schedule.createdAt),
    updated_at: toTime(schedule.updatedAt),
  }
}

/** Changes with every firing as well: what was read then is not the schedule of now. */
export const scheduleTag = (schedule: Schedule): string => contentTag(JSON.stringify(presentSchedule(schedule)))

/** @param firesLeft how often it may still fire */
export function presentRule(read: ScheduleRule, firesLeft = UPCOMING_MAX): z.output<typeof schedulePreviewSchema> {
  const { timing, timezone, nextFireAt } = read
  return {
    schedule_type: timing.kind === 'once' ? 'once' : 'recurring',
    phrase: read.phrase,
    canonical: read.canonical,
    reading: read.reading,
    timezone,
    fire_at: timing.kind === 'once' ? toTime(new Date(timing.at)) : null,
    interval_seconds: timing.kind === 'interval' ? timing.seconds : null,
    cron_expr: cronExprOf(timing),
    rule: ruleOf(timing, timezone, read.anchorAt),
    anchor_at: toTime(read.anchorAt),
    next_fire_at: toTimeOrNull(nextFireAt),
    upcoming: upcomingFrom(timing, timezone, nextFireAt, Math.min(firesLeft, UPCOMING_MAX)).map(toTime),
    warnings: read.warnings.map(({ code, message }) => ({ code, message })),
  }
}

function upcomingFrom(timing: Timing, timezone: string, nextFireAt: Date | null, most: number): Date[] {
  if (nextFireAt === null || most < 1) return []
  return [nextFireAt, ...firingsAfter(timing, timezone, nextFireAt, most - 1)]
}

export function presentScheduleRun(run: ScheduleRun): z.output<typeof scheduleRunSchema> {
  return {
    slot: toTime(run.slot),
    fired_at: toTimeOrNull(run.firedAt),
    outcome: run.outcome,
    manual: run.manual,
    subtask_id: run.subtaskId,
  }
}
