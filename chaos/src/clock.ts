import { advanceClock } from '@muster/testing/clock'
import type postgres from 'postgres'

/** A time that is read may be written some time later, by a statement that had to wait. */
const SLACK_MS = 2_000

/** How the system's clock was moved in a run, and what the times that it told are worth. */
export interface ClockMoves {
  /** The earliest and the latest that the clock can have told within a period of real time. */
  told(fromMs: number, toMs: number): { fromMs: number; toMs: number }
  /** Whether it was moved within a period of real time. */
  wasMoved(fromMs: number, toMs: number): boolean
}

/** Makes what `chaos.is_told_twice(time)` needs: of two times within a period that the clock went through twice nobody can say which came first. */
export async function prepareClock(admin: postgres.Sql): Promise<void> {
  // From the beginning, so that every move waits for the one before it.
  await advanceClock(admin, '0 seconds')
  await admin.unsafe(`
    create schema chaos;
    create table chaos.clock_moves (at timestamptz not null default clock_timestamp(), by_ms float8 not null, twice tstzrange not null);
    create function chaos.is_told_twice(told timestamptz) returns boolean language sql stable
      begin atomic select exists (select from chaos.clock_moves where twice @> told); end`)
}

/** Moves the clock of all processes by so many milliseconds, back where that is negative. */
export async function moveClock(admin: postgres.Sql, byMs: number): Promise<void> {
  await admin.begin(async (transaction) => {
    const sql = transaction as unknown as postgres.Sql
    // First, since this waits for a move that is not committed yet, which the times below must contain.
    await advanceClock(sql, `${byMs} milliseconds`)
    const slack = `${SLACK_MS} milliseconds`
    await sql`
      insert into chaos.clock_moves (by_ms, twice)
      select ${byMs}, case when ${byMs} < 0 then tstzrange(muster_now() - ${slack}::interval, muster_now() - ${byMs} * interval '1 millisecond' + ${slack}::interval) else 'empty' end`
  })
}

export async function readClockMoves(admin: postgres.Sql): Promise<ClockMoves> {
  const moves = await admin<{ at_ms: number; by_ms: number }[]>`
    select extract(epoch from at)::float8 * 1000 as at_ms, by_ms from chaos.clock_moves order by at`
  const shiftAt = (ms: number) => moves.reduce((sum, move) => (move.at_ms <= ms ? sum + move.by_ms : sum), 0)
  const within = (fromMs: number, toMs: number) => moves.filter((move) => move.at_ms > fromMs - SLACK_MS && move.at_ms < toMs + SLACK_MS)
  return {
    told(fromMs, toMs) {
      const shifts = [fromMs - SLACK_MS, ...within(fromMs, toMs).map((move) => move.at_ms)].map(shiftAt)
      return { fromMs: fromMs + Math.min(...shifts), toMs: toMs + Math.max(...shifts) }
    },
    wasMoved: (fromMs, toMs) => within(fromMs, toMs).length > 0,
  }
}
