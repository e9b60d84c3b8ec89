import { expect, it } from 'vitest'
import { secondsOfQuiet } from '../index.ts'

const NIGHT = { from: '22:00', to: '07:00' }

it.each([
  ['before they begin', '2026-03-02T21:59:59Z', 'UTC', NIGHT, 0],
  ['from their beginning', '2026-03-02T22:00:00Z', 'UTC', NIGHT, 9 * 3_600],
  ['after midnight', '2026-03-03T06:59:30Z', 'UTC', NIGHT, 30],
  ['when they are over', '2026-03-03T07:00:00Z', 'UTC', NIGHT, 0],
  ['within one day', '2026-03-02T12:30:00Z', 'UTC', { from: '12:00', to: '13:00' }, 1_800],
  ['over the end of a month', '2026-03-31T23:00:00Z', 'UTC', NIGHT, 8 * 3_600],
  ['in the zone of the project', '2026-03-02T03:30:00Z', 'America/New_York', NIGHT, 8.5 * 3_600],
  ['in a night in which the clock is set forward', '2026-03-29T00:00:00Z', 'Europe/Berlin', NIGHT, 5 * 3_600],
])('quiet hours %s', (_, now, zone, hours, seconds) => expect(secondsOfQuiet(new Date(now), hours, zone)).toBe(seconds))
