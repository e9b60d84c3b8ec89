import { SLOT_OUTCOMES, type SlotOutcome } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, oneOf, projectId } from './columns.ts'

/** What became of each point in time at which a schedule was due: at most one subtask ever comes of it. Runs that were triggered are here, too. */
export const scheduleSlots = pgTable(
  'schedule_slots',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    scheduleId: uuid().notNull(),
    /** Of the schedule: whose queue a waiting slot waits for. */
    agentId: text().notNull(),
    slot: instant().notNull(),
    manual: boolean().notNull().default(false),
    outcome: text().$type<SlotOutcome>().notNull(),
    firedAt: instant(),
    subtaskId: uuid(),
  },
  (table) => [
    check('schedule_slots_outcome', oneOf('outcome', SLOT_OUTCOMES)),
    check('schedule_slots_fired', sql`(outcome = 'fired') = (subtask_id is not null) and (outcome = 'fired') = (fired_at is not null)`),
    check('schedule_slots_manual', sql`not manual or outcome = 'fired'`),
    uniqueIndex('schedule_slots_once').on(table.scheduleId, table.slot).where(sql`not manual`),
    index('schedule_slots_by_schedule').on(table.projectId, table.scheduleId, table.id),
    // At most one of a schedule.
    uniqueIndex('schedule_slots_waiting').on(table.scheduleId).where(sql`outcome = 'waiting'`),
    // For the scheduler, which looks at all projects at once.
    index('schedule_slots_waiting_lanes').on(table.projectId, table.agentId, table.slot).where(sql`outcome = 'waiting'`),
  ],
)
