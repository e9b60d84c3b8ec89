import type { ScheduleRun } from '@muster/domain'
import { and, eq } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { scheduleSlots } from '../../schema/schedule-slots.ts'
import { along } from '../core/lists.ts'

const waitingSlotOf = (scheduleId: string) => and(eq(scheduleSlots.scheduleId, scheduleId), eq(scheduleSlots.outcome, 'waiting'))

/** Skips the waiting slot of a locked schedule that is paused or has ended. Returns the slot; null when none waited. */
export async function skipWaitingSlot(tx: Tx, scheduleId: string): Promise<Date | null> {
  const [row] = await tx.orm.update(scheduleSlots).set({ outcome: 'skipped_paused' }).where(waitingSlotOf(scheduleId)).returning({ slot: scheduleSlots.slot })
  return row?.slot ?? null
}

/** The slot of a locked schedule that waits for room; null for none. */
export async function findWaitingSlot(tx: Tx, scheduleId: string): Promise<Date | null> {
  const [row] = await tx.orm.select({ slot: scheduleSlots.slot }).from(scheduleSlots).where(waitingSlotOf(scheduleId))
  return row?.slot ?? null
}

/** Moves the waiting slot of a locked schedule to the queue of another agent. */
export async function moveWaitingSlot(tx: Tx, projectId: string, scheduleId: string, agentId: string): Promise<void> {
  await tx.orm
    .update(scheduleSlots)
    .set({ agentId })
    .where(and(eq(scheduleSlots.projectId, projectId), waitingSlotOf(scheduleId)))
}

export interface RunFilter {
  beforeId?: string | undefined
  limit: number
}

/** The outcomes of the slots of a schedule, and its triggered runs; newest first. */
export async function listRuns(tx: Tx, projectId: string, scheduleId: string, { beforeId, limit }: RunFilter): Promise<ScheduleRun[]> {
  const { where, orderBy } = along([[scheduleSlots.scheduleId, scheduleId]], scheduleSlots.id, beforeId)
  const rows = await tx.orm
    .select()
    .from(scheduleSlots)
    .where(and(eq(scheduleSlots.projectId, projectId), ...where))
    .orderBy(...orderBy)
    .limit(limit)
  return rows.map(({ projectId: _, agentId: __, ...run }) => run)
}
