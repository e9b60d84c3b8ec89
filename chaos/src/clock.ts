import { advanceClock } from '@muster/testing/clock'
import type postgres from 'postgres'

/** Most that a fault puts the clock back by. */
export const BACK_MAX_MS = 3_000
/** A move is written down a moment before others see it, which wait for its commit. */
const SLACK_MS = 2_000

/** How Muster's clock in the database was moved in a run, and what the times that it told are worth. */
export interface ClockMoves {
  /** Bounds of what the clock can have told within a period of real time. */
  shown(fromMs: number, toMs: number): { fromMs: number; toMs: number }
  /** Whether it was moved within a period of real time, or shortly before or after. */
  wasMoved(fromMs: number, toMs: number): boolean
}

/** Makes what `chaos.is_repeated(time)` needs: of two times within a period that the clock went through twice, the first cannot be known. */
export async function prepareClock(admin: postgres.Sql): Promise<void> {
  // From the beginning, so that every move finds the row, and waits for the one before it.
  await advanceClock(admin, '0 seconds')
  await admin.unsafe(`
    create schema chaos;
    create table chaos.clock_moves (at timestamptz not null, by_ms float8 not null, twice tstzrange not null);
    create function chaos.is_repeated(told timestamptz) returns boolean language sql stable
      begin atomic select exists (select from chaos.clock_moves where twice @> told); end`)
}

/** Moves the clock of all processes by so many milliseconds, back where that is negative. */
export async function moveClock(admin: postgres.Sql, byMs: number): Promise<void> {
  await admin`
    with moved as (
      update muster_system.clock set shift = shift + ${byMs} * interval '1 millisecond' returning clock_timestamp() as at, clock_timestamp() + shift as told
    )
    insert into chaos.clock_moves (at, by_ms, twice)
    select at, ${byMs}, case when ${byMs} < 0
      then tstzrange(told - ${SLACK_MS} * interval '1 millisecond', told + ${SLACK_MS - byMs} * interval '1 millisecond') else 'empty' end
    from moved`
}

export async function readClockMoves(admin: postgres.Sql): Promise<ClockMoves> {
  const moves = await admin<{ at_ms: number; by_ms: number }[]>`
    select extract(epoch from at)::float8 * 1000 as at_ms, by_ms from chaos.clock_moves order by at`
  const shiftAt = (ms: number) => moves.reduce((sum, move) => (move.at_ms <= ms ? sum + move.by_ms : sum), 0)
  const within = (fromMs: number, toMs: number) => moves.filter((move) => move.at_ms > fromMs - SLACK_MS && move.at_ms < toMs + SLACK_MS)
  return {
    shown(fromMs, toMs) {
      const shifts = [fromMs - SLACK_MS, ...within(fromMs, toMs).map((move) => move.at_ms)].map(shiftAt)
      return { fromMs: fromMs + Math.min(...shifts), toMs: toMs + Math.max(...shifts) }
    },
    wasMoved: (fromMs, toMs) => within(fromMs, toMs).length > 0,
  }
}
