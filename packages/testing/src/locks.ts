import type postgres from 'postgres'
import { vi } from 'vitest'

/**
 * Holds the row of a subtask, of a task or of a schedule, so that a test decides in which order others come to it: they queue up behind, first come,
 * first served.
 *
 * @returns lets go
 */
export async function holdRow(admin: postgres.Sql, id: string, table: 'subtasks' | 'tasks' | 'schedules' = 'subtasks'): Promise<() => Promise<void>> {
  const connection = await admin.reserve()
  await connection`begin`
  await connection`select from ${connection(table)} where id = ${id} for update`
  return async () => {
    await connection`commit`
    connection.release()
  }
}

/** Returns when that many sessions of the database wait for a lock. */
export async function waitUntilBlocked(admin: postgres.Sql, sessions: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const [row] = await admin<{ blocked: number }[]>`
        select count(*)::int as blocked from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      if ((row?.blocked ?? 0) < sessions) throw new Error(`Only ${row?.blocked} sessions wait for a lock, and not ${sessions}.`)
    },
    { timeout: 10_000, interval: 5 },
  )
}
