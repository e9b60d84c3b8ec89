// SQL: calls of functions that own what no role of ours may touch.
import type { Database, Tx } from '../client.ts'

/** Stores a row, for which the server needs new space on its disk for a moment. @throws the error of a server that cannot store */
export async function checkWrites(sql: Database['sql']): Promise<void> {
  await sql`select muster_system.check_writes()`
}

/** Creates missing partitions for the coming days and events. */
export async function ensurePartitions(tx: Pick<Tx, 'sql'>): Promise<void> {
  await tx.sql`select muster_ensure_partitions()`
}

/** Refreshes the planner's statistics of tables that have grown much since the last time. */
export async function analyzeGrownTables(tx: Pick<Tx, 'sql'>): Promise<void> {
  await tx.sql`select muster_analyze()`
}
