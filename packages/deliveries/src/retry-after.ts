import type { IncomingHttpHeaders } from 'node:http'
import { now } from './clock.ts'

/** What `Retry-After` asks for, in seconds: a number, or a time, which is compared with that of the answer, or with ours if it has none. */
export function readRetryAfter({ 'retry-after': value, date }: IncomingHttpHeaders): number | null {
  if (value === undefined) return null
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const sentMs = Date.parse(date ?? '')
  const seconds = (Date.parse(value) - (Number.isNaN(sentMs) ? now().getTime() : sentMs)) / 1_000
  return seconds > 0 ? seconds : null
}
