import type { Tx } from '../client.ts'

/** Makes the partitions of the coming days and of the coming events, where they are missing. */
export async function ensurePartitions(tx: Tx): Promise<void> {
  await tx.sql`select muster_ensure_partitions()`
}

/** Refreshes the planner's statistics of tables that have grown much since they were last looked at. */
export async function analyzeGrownTables(tx: Tx): Promise<void> {
  await tx.sql`select muster_analyze()`
}
