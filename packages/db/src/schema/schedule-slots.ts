import { SLOT_OUTCOMES, type SlotOutcome } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, oneOf, projectId } from './columns.ts'

/** The points in time at which a schedule was due, with their outcomes: at most one subtask each. Triggered runs are included. */
export const scheduleSlots = pgTable(
  'schedule_slots',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    scheduleId: uuid().notNull(),
    /** The agent of the schedule: a waiting slot waits for room in its queue. */
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
    // At most one for each schedule.
    uniqueIndex('schedule_slots_waiting').on(table.scheduleId).where(sql`outcome = 'waiting'`),
    // For the scheduler, which reads all projects at once.
    index('schedule_slots_waiting_lanes').on(table.projectId, table.agentId, table.slot).where(sql`outcome = 'waiting'`),
  ],
)
