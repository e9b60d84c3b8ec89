import { z } from 'zod'
import { toInstant, toWallTime } from '../schedules/wall-clock.ts'

const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as "22:00"' })

/** A part of each day in the time zone of the project. */
export const quietHoursSchema = z
  .strictObject({ from: clock, to: clock })
  .refine(({ from, to }) => from !== to, { error: 'must end at another time than they begin' })
  .describe('Messages of these hours are sent when they are over. The time zone is that of the project')

export type QuietHours = z.infer<typeof quietHoursSchema>

/** Seconds until quiet hours are over; 0 outside of them. */
export function secondsOfQuiet(now: Date, { from, to }: QuietHours, timezone: string): number {
  const wall = toWallTime(now, timezone)
  const minutes = wall.hour * 60 + wall.minute
  const [start, end] = [minutesOf(from), minutesOf(to)]
  const isQuiet = start < end ? minutes >= start && minutes < end : minutes >= start || minutes < end
  if (!isQuiet) return 0
  const day = { ...wall, hour: Math.floor(end / 60), minute: end % 60, second: 0 }
  const sameDay = toInstant(day, timezone)
  const over = sameDay > now ? sameDay : toInstant({ ...day, ...nextDay(wall) }, timezone)
  return (over.getTime() - now.getTime()) / 1_000
}

function minutesOf(text: string): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number)
  return hour * 60 + minute
}

function nextDay({ year, month, day }: { year: number; month: number; day: number }): { year: number; month: number; day: number } {
  const next = new Date(Date.UTC(year, month - 1, day + 1))
  return { year: next.getUTCFullYear(), month: next.getUTCMonth() + 1, day: next.getUTCDate() }
}
