import {
  MISSED_POLICIES,
  type MissedPolicy,
  OVERLAPS,
  type Overlap,
  PHRASE_KINDS,
  type PhraseKind,
  PRIORITIES,
  type Priority,
  SCHEDULE_STATES,
  type ScheduleState,
  type ScheduleWarning,
  type Timing,
} from '@muster/domain'
import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, oneOf, projectId } from './columns.ts'

/** Rules that create subtasks at points in time. Every change and every firing locks the row. */
export const schedules = pgTable(
  'schedules',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    agentId: text().notNull(),
    task: text().notNull(),
    phraseKind: text().$type<PhraseKind>().notNull(),
    phrase: text().notNull(),
    canonical: text().notNull(),
    reading: text().notNull(),
    timezone: text().notNull(),
    timing: jsonb().$type<Timing>().notNull(),
    warnings: jsonb().$type<ScheduleWarning[]>().notNull().default([]),
    state: text().$type<ScheduleState>().notNull().default('active'),
    anchorAt: instant().notNull(),
    nextFireAt: instant(),
    fireCount: integer().notNull().default(0),
    maxFires: integer(),
    lastFiredAt: instant(),
    overlap: text().$type<Overlap>().notNull(),
    missed: text().$type<MissedPolicy>().notNull(),
    graceSeconds: integer().notNull(),
    notify: boolean().notNull(),
    timeoutSeconds: integer().notNull(),
    priority: text().$type<Priority>().notNull(),
    /** A slot that fires pins the current version of the definition. */
    subagent: text(),
    runner: text().notNull(),
    model: text(),
    budgetMaxSteps: integer().notNull(),
    budgetMaxTokens: bigint({ mode: 'number' }),
    budgetMaxCostMicros: bigint({ mode: 'number' }),
    parentSessionId: text(),
    createdBySession: text(),
    /** The span that asked for it: the traces of its runs link to it. */
    traceparent: text(),
    metadata: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    createdAt: instantNow(),
    updatedAt: instantNow(),
  },
  (table) => [
    check('schedules_phrase_kind', oneOf('phrase_kind', PHRASE_KINDS)),
    check('schedules_state', oneOf('state', SCHEDULE_STATES)),
    check('schedules_overlap', oneOf('overlap', OVERLAPS)),
    check('schedules_missed', oneOf('missed', MISSED_POLICIES)),
    check('schedules_priority', oneOf('priority', PRIORITIES)),
    check('schedules_ended', sql`next_fire_at is null or state in ('active', 'paused')`),
    check('schedules_max_fires', sql`max_fires is null or fire_count <= max_fires`),
    // A list of a project is read state by state.
    index('schedules_by_state').on(table.projectId, table.state, table.id),
    index('schedules_by_agent').on(table.projectId, table.agentId, table.state, table.id),
    // For the scheduler, which reads all projects at once.
    index('schedules_due').on(table.nextFireAt).where(sql`next_fire_at is not null`),
  ],
)
