import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRelayPace } from './event-log.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

it('the relay rests briefly while a process says every second that the log is followed, and longer after three seconds without a word', () => {
  const pace = createRelayPace()
  vi.advanceTimersByTime(10_000)
  expect(pace.restMs()).toBe(250)
  pace.followed()
  expect(pace.restMs()).toBe(25)
  vi.advanceTimersByTime(2_000)
  pace.followed()
  vi.advanceTimersByTime(2_000)
  expect(pace.restMs()).toBe(25)
  vi.advanceTimersByTime(1_500)
  expect(pace.restMs()).toBe(250)
})
