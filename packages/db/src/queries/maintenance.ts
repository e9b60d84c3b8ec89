import type { Database, Tx } from '../client.ts'

/** Stores a row, and needs new room on the disk of the server for a moment. @throws the error of a server that cannot */
export async function checkWrites(sql: Database['sql']): Promise<void> {
  await sql`select muster_system.check_writes()`
}

/** Makes the partitions of the coming days and of the coming events, where they are missing. */
export async function ensurePartitions(tx: Tx): Promise<void> {
  await tx.sql`select muster_ensure_partitions()`
}

/** Refreshes the planner's statistics of tables that have grown much since they were last looked at. */
export async function analyzeGrownTables(tx: Tx): Promise<void> {
  await tx.sql`select muster_analyze()`
}
