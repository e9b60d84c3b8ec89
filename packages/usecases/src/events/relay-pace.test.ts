import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRelayPace } from './relay.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(10_000)
})
afterEach(() => {
  vi.useRealTimers()
})

/** Asks as the relay does, which waits as long as it is told and then takes 1 ms. */
function move(pace: ReturnType<typeof createRelayPace>): number {
  const waitMs = pace.restMs()
  vi.advanceTimersByTime(waitMs + 1)
  return waitMs
}

it('rests between two moves while nobody follows the log', () => {
  const pace = createRelayPace()
  expect([move(pace), move(pace), move(pace)]).toEqual([0, 499, 499])
  vi.advanceTimersByTime(1_000)
  expect(move(pace)).toBe(0)
})

it('moves the events of a lone subtask one after the other while the log is followed, and many no more often than every 25 ms', () => {
  const pace = createRelayPace()
  move(pace)
  pace.followed()
  expect(move(pace)).toBeLessThanOrEqual(25)
  vi.advanceTimersByTime(200)
  pace.followed()
  expect([move(pace), move(pace), move(pace), move(pace)]).toEqual([0, 0, 0, 0])
  const waits = Array.from({ length: 40 }, () => move(pace))
  expect(waits.reduce((sum, ms) => sum + ms + 1, 0)).toBeGreaterThan(40 * 25 - 10)
  expect(Math.max(...waits)).toBeLessThanOrEqual(25)
})

it('counts the log as followed for three seconds after a process has said so', () => {
  const pace = createRelayPace()
  pace.followed()
  vi.advanceTimersByTime(2_900)
  expect([move(pace), move(pace)]).toEqual([0, 0])
  vi.advanceTimersByTime(200)
  move(pace)
  expect(move(pace)).toBeGreaterThan(100)
})
