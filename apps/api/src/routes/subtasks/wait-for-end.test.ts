import type { LoggedEvent, Subtask } from '@muster/domain'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApiDeps } from '../../api-deps.ts'
import { createEventFeed } from '../../events/feed.ts'
import { createDemand } from '../../http/demand.ts'
import { waitForEnd } from './wait-for-end.ts'

const PENDING = { id: 's', projectId: 'p', status: 'pending' } as Subtask
const ENDED: Subtask = { ...PENDING, status: 'completed' }
const COMPLETED = { id: 1, projectId: 'p', type: 'subtask.completed', subject: { kind: 'subtask', id: 's' } } as LoggedEvent

// No second goes by unless a test says so: nothing is found by looking now and then.
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})
const settle = () => vi.advanceTimersByTimeAsync(0)

function waiting(isReady: boolean) {
  const feed = createEventFeed(createDemand(1_000))
  feed.setReady(isReady)
  const stopping = new AbortController()
  const gone = new AbortController()
  const looks: PromiseWithResolvers<Subtask>[] = []
  const look = () => {
    const next = Promise.withResolvers<Subtask>()
    looks.push(next)
    return next.promise
  }
  const end = waitForEnd({ feed, stopping: stopping.signal } as unknown as ApiDeps, PENDING, look, 600_000, gone.signal)
  return { feed, looks, end, stopping, gone }
}

describe('a wait for the end of a subtask', () => {
  it('looks again as soon as the feed is ready: what ended before that is not published', async () => {
    const { feed, looks, end } = waiting(false)
    looks[0]?.resolve(PENDING)
    await settle()
    expect(looks).toHaveLength(1)
    feed.setReady(true)
    await settle()
    looks[1]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
    expect(feed.size()).toBe(0)
  })

  it('hears of an end that comes while it looks', async () => {
    const { feed, looks, end } = waiting(true)
    feed.publish(COMPLETED)
    looks[0]?.resolve(PENDING)
    await settle()
    looks[1]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
  })

  it('hears of an end that comes while it waits, and of nobody else’s', async () => {
    const { feed, looks, end } = waiting(true)
    looks[0]?.resolve(PENDING)
    await settle()
    feed.publish({ ...COMPLETED, subject: { kind: 'subtask', id: 'other' } })
    feed.publish({ ...COMPLETED, type: 'subtask.started' })
    await settle()
    expect(looks).toHaveLength(1)
    feed.publish(COMPLETED)
    await settle()
    looks[1]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
  })

  it('looks every second besides', async () => {
    const { looks, end } = waiting(true)
    looks[0]?.resolve(PENDING)
    await vi.advanceTimersByTimeAsync(1_000)
    looks[1]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
  })

  it.each(['stopping', 'gone'] as const)('ends with what there is when the %s signal comes', async (signal) => {
    const { looks, end, ...signals } = waiting(false)
    looks[0]?.resolve(PENDING)
    await settle()
    signals[signal].abort()
    await settle()
    looks[1]?.resolve(PENDING)
    expect(await end).toBe(PENDING)
  })
})
