import { type CalendarTiming, nextWall, readCron } from './cron-times.ts'
import { instantOfWall, latestWallUpTo, toWallTime } from './wall-clock.ts'

/**
 * When a schedule is due, as it is stored. Wall-clock times are those of the schedule's time zone, which stands beside it. Instants are RFC 3339
 * in UTC.
 */
export type Timing = OnceTiming | IntervalTiming | CalendarTiming

export interface OnceTiming {
  kind: 'once'
  at: string
}

/** Real time counted from `anchorAt`, whatever clocks are changed to meanwhile: due at every multiple, and never drifting. */
export interface IntervalTiming {
  kind: 'interval'
  seconds: number
  anchorAt: string
  /** The last date that it is due on, by the clock of the schedule's zone. Absent: it never ends. */
  until?: string
}

const SAMPLE = 100
/** What comes seldom is not searched for through the centuries: the days of a calendar have come in every order by then. */
const SAMPLE_MS = 30 * 366 * 86_400_000

/**
 * The first instant strictly after `after` at which it is due, or null when none is within a hundred years, which counts as never. Wall-clock rules keep
 * their local time: what falls into an hour that is skipped is due at the first instant after the gap, all of it at once; what falls into an hour that
 * comes twice is due the first time. An interval is first due one interval after its anchor.
 * @throws RangeError for an unknown time zone, Error for what is no cron expression: neither was ever stored
 */
export function nextFiring(timing: Timing, timezone: string, after: Date): Date | null {
  if (timing.kind === 'once') {
    const at = new Date(timing.at)
    return at > after ? at : null
  }
  if (timing.kind === 'interval') {
    const anchor = Date.parse(timing.anchorAt)
    const length = timing.seconds * 1_000
    const next = new Date(anchor + Math.max(1, Math.floor((after.getTime() - anchor) / length) + 1) * length)
    return timing.until !== undefined && wallDateOf(next, timezone) > timing.until ? null : next
  }
  const wall = nextWall(timing, latestWallUpTo(after.getTime(), timezone))
  return wall === null ? null : new Date(instantOfWall(wall, timezone))
}

function wallDateOf(instant: Date, timezone: string): string {
  const { year, month, day } = toWallTime(instant, timezone)
  return [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join('-')
}

/** At most `most` firings strictly after `after`, in order. */
export function firingsAfter(timing: Timing, timezone: string, after: Date, most: number): Date[] {
  const firings: Date[] = []
  for (let from = after; firings.length < most; ) {
    const next = nextFiring(timing, timezone, from)
    if (next === null) break
    firings.push(next)
    from = next
  }
  return firings
}

/**
 * Seconds between the two firings that come closest to each other, or null where there are no two. Of a wall-clock rule by its own clock, so that a day
 * of 23 hours does not count. Exact within the days of one expression; across days and expressions as the next firings show it.
 */
export function shortestGapSeconds(timing: Timing, timezone: string, after: Date): number | null {
  if (timing.kind === 'once') return null
  if (timing.kind === 'interval') return timing.seconds
  const gaps = timing.crons.map((cron) => shortestGapOfDay(cron))
  const first = nextWall(timing, latestWallUpTo(after.getTime(), timezone))
  // That it is due at all is not sure, and the gap of a day that never comes is none.
  if (first === null) return null
  let last = first
  for (let each = 0; each < SAMPLE && last - first < SAMPLE_MS; each += 1) {
    const wall = nextWall(timing, last)
    if (wall === null) break
    gaps.push((wall - last) / 1_000)
    last = wall
  }
  const shortest = Math.min(...gaps)
  return Number.isFinite(shortest) ? shortest : null
}

/** Infinity for a rule of once a day. */
function shortestGapOfDay(cron: string): number {
  const { hours, minutes, seconds } = readCron(cron)
  let shortest = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const hour of hours) {
    for (const minute of minutes) {
      for (const second of seconds) {
        const time = hour * 3_600 + minute * 60 + second
        shortest = Math.min(shortest, time - last)
        last = time
      }
    }
  }
  return shortest
}
