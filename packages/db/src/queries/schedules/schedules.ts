import { SCHEDULE_STATES, type Schedule, type ScheduleState } from '@muster/domain'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { pipeline, type Tx } from '../../client.ts'
import { schedules } from '../../schema/schedules.ts'
import { along, anyOf, given, planForValues } from '../core/lists.ts'

type Row = typeof schedules.$inferSelect

/** Fields set at creation. */
export type NewScheduleRow = Omit<Schedule, 'state' | 'fireCount' | 'lastFiredAt' | 'createdAt' | 'updatedAt'>

/** Fields that may change. */
export type ScheduleChange = Partial<Omit<Schedule, 'id' | 'projectId' | 'createdBySession' | 'createdAt' | 'updatedAt'>>

export async function insertSchedule(tx: Tx, row: NewScheduleRow): Promise<Schedule> {
  const [inserted] = await tx.orm
    .insert(schedules)
    .values(toColumns(row) as typeof schedules.$inferInsert)
    .returning()
  return toSchedule(inserted as Row)
}

export async function findSchedule(tx: Tx, id: string): Promise<Schedule | null> {
  const [row] = await tx.orm.select().from(schedules).where(eq(schedules.id, id))
  return row === undefined ? null : toSchedule(row)
}

/** Locks a schedule's row until the end of the transaction. Such locks come after those of subtasks and before those of lanes. */
export async function lockSchedule(tx: Tx, id: string): Promise<Schedule | null> {
  const [row] = await tx.orm.select().from(schedules).where(eq(schedules.id, id)).for('update')
  return row === undefined ? null : toSchedule(row)
}

/** Locks several, in the order of their ids; with `skipLocked` only those that no other transaction has locked. Ignores unknown ids. */
export async function lockSchedules(tx: Tx, ids: readonly string[], { skipLocked = false } = {}): Promise<Schedule[]> {
  if (ids.length === 0) return []
  const rows = await tx.orm
    .select()
    .from(schedules)
    .where(inArray(schedules.id, ids as string[]))
    .orderBy(schedules.id)
    .for('update', skipLocked ? { skipLocked } : {})
  return rows.map(toSchedule)
}

/**
 * Locks those of some schedules that are still due, without waiting: several workers that see the same ones due each fire others. In the order of
 * their ids.
 */
export async function lockDueSchedules(tx: Tx, ids: readonly string[]): Promise<Schedule[]> {
  const rows = await tx.orm
    .select()
    .from(schedules)
    .where(and(anyOf(schedules.id, ids), sql`${schedules.nextFireAt} <= (select muster_now())`))
    .orderBy(schedules.id)
    .for('update', { skipLocked: true })
  return rows.map(toSchedule)
}

/** Changes the given fields of a schedule, which must be locked. */
export async function changeSchedule(tx: Tx, id: string, change: ScheduleChange): Promise<Schedule> {
  const [changed] = await tx.orm
    .update(schedules)
    .set({ ...toColumns(change), updatedAt: sql`muster_now()` })
    .where(eq(schedules.id, id))
    .returning()
  return toSchedule(changed as Row)
}

export interface ScheduleFilter {
  states?: readonly ScheduleState[] | undefined
  agentId?: string | undefined
  beforeId?: string | undefined
  limit: number
}

/** Newest first. */
export async function listSchedules(tx: Tx, projectId: string, filter: ScheduleFilter): Promise<Schedule[]> {
  const lane = given([[schedules.agentId, filter.agentId]])
  // The newest of each state are read in one pipeline, and the newest of those are the page.
  const pages = (filter.states ?? SCHEDULE_STATES).map((state) => {
    const { where, orderBy } = along([...lane, [schedules.state, state]], schedules.id, filter.beforeId)
    return tx.orm
      .select()
      .from(schedules)
      .where(and(eq(schedules.projectId, projectId), ...where))
      .orderBy(...orderBy)
      .limit(filter.limit)
  })
  const [, ...rows] = await pipeline([planForValues(tx), ...pages])
  return rows
    .flat()
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, filter.limit)
    .map(toSchedule)
}

function toColumns({ budget, ...columns }: ScheduleChange): Partial<typeof schedules.$inferInsert> {
  if (budget === undefined) return columns
  return { ...columns, budgetMaxSteps: budget.maxSteps, budgetMaxTokens: budget.maxTokens, budgetMaxCostMicros: budget.maxCostUsdMicros }
}

function toSchedule({ budgetMaxSteps, budgetMaxTokens, budgetMaxCostMicros, ...columns }: Row): Schedule {
  return { ...columns, budget: { maxSteps: budgetMaxSteps, maxTokens: budgetMaxTokens, maxCostUsdMicros: budgetMaxCostMicros } }
}
