import type { Tx } from '../../client.ts'

/** The time as everything stored has it. Needs no project. */
export async function readClock(tx: Pick<Tx, 'sql'>): Promise<Date> {
  const [row] = await tx.sql<{ now: string }[]>`select muster_now() as now`
  return new Date(row?.now as string)
}
