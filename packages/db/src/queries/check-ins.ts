import type { Tx } from '../client.ts'
import { checkIns } from '../schema/check-ins.ts'

export type NewCheckIn = Omit<typeof checkIns.$inferInsert, 'createdAt'>

export async function insertCheckIn(tx: Tx, checkIn: NewCheckIn): Promise<void> {
  await tx.orm.insert(checkIns).values(checkIn)
}
