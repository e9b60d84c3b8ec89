// SQL: asked before a project is known, so without a transaction.
import type { Tx } from '../../client.ts'

/** The time of the database, which every stored row has. */
export async function readClock(tx: Pick<Tx, 'sql'>): Promise<Date> {
  const [row] = await tx.sql<{ now: string }[]>`select muster_now() as now`
  return new Date(row?.now as string)
}
