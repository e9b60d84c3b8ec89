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
}

/** Times of the wall clock. */
export interface CalendarTiming {
  kind: 'calendar'
  /** One or more cron expressions of six fields, as cron-parser reads them (`L`, `#` included), all due. */
  crons: string[]
  /** Only in every `count`-th of these periods, counted from the one that contains the date `since` (`2026-03-06`). Weeks begin on Monday. */
  every: { count: number; unit: 'day' | 'week' | 'month' | 'year'; since: string } | null
}
