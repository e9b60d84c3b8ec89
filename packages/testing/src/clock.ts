import type postgres from 'postgres'

/**
 * Moves the clock of one test database on, for every process that uses it, from its next statement on. The clock that moves is
 * `muster_now()`: connections, timers and JavaScript's own clock stay where they are. Makes the partitions of the new time, as maintenance would.
 *
 * @param admin a superuser's connection to that database
 * @param interval as PostgreSQL reads it: '3 hours', '-10 seconds'
 */
export async function advanceClock(admin: postgres.Sql, interval: string): Promise<void> {
  const moved = await admin`update muster_system.clock set shift = shift + ${interval}::interval returning 1`
  if (moved.length === 0) await admin`insert into muster_system.clock (shift) values (${interval}::interval)`
  await admin`select muster_ensure_partitions()`
}

/** Lets the clock of a test database show the real time again. */
export async function resetClock(admin: postgres.Sql): Promise<void> {
  await admin`delete from muster_system.clock`
}
