import { DomainError, type Subtask } from '@muster/domain'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApiDeps } from '../../api-deps.ts'
import { createDemand } from '../../http/demand.ts'
import { createEndWaiters } from '../../http/end-waiters.ts'
import { spawnAndWait, waitForEnd } from './wait-for-end.ts'

const PENDING = { id: 's', projectId: 'p', status: 'pending' } as Subtask
const ENDED: Subtask = { ...PENDING, status: 'completed' }

// No second goes by unless a test says so: nothing is found by looking now and then.
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})
const settle = () => vi.advanceTimersByTimeAsync(0)

function waiting(authorizeAgain = async () => {}) {
  const endWaiters = createEndWaiters(createDemand(1_000))
  const stopping = new AbortController()
  const gone = new AbortController()
  const looks: PromiseWithResolvers<Subtask>[] = []
  const look = () => {
    const next = Promise.withResolvers<Subtask>()
    looks.push(next)
    return next.promise
  }
  const deps = { endWaiters, stopping: stopping.signal } as unknown as ApiDeps
  const end = waitForEnd(deps, 's', look, { ms: 600_000, gone: gone.signal, authorizeAgain })
  return { endWaiters, looks, end, stopping, gone }
}

describe('a wait for the end of a subtask', () => {
  it('answers at once what has ended', async () => {
    const { endWaiters, looks, end } = waiting(() => Promise.reject(new Error('asked')))
    looks[0]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
    expect(endWaiters.size()).toBe(0)
  })

  it('looks again when listening has begun: what ended before that was not announced', async () => {
    const { endWaiters, looks, end } = waiting()
    looks[0]?.resolve(PENDING)
    await settle()
    endWaiters.wake([])
    await settle()
    looks[1]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
  })

  it('hears of an end that comes while it looks', async () => {
    const { endWaiters, looks, end } = waiting()
    endWaiters.wake(['s'])
    looks[0]?.resolve(PENDING)
    await settle()
    looks[1]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
  })

  it('hears of an end that comes while it waits, and of no other', async () => {
    const { endWaiters, looks, end } = waiting()
    looks[0]?.resolve(PENDING)
    await settle()
    endWaiters.wake(['other'])
    await settle()
    expect(looks).toHaveLength(1)
    endWaiters.wake(['other', 's'])
    await settle()
    looks[1]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
  })

  it('hands out nothing that it sees later to a credential that has ended meanwhile', async () => {
    const { endWaiters, looks, end } = waiting(() => Promise.reject(new DomainError('unauthenticated', 'It has ended.')))
    const refused = expect(end).rejects.toMatchObject({ code: 'unauthenticated' })
    looks[0]?.resolve(PENDING)
    await settle()
    endWaiters.wake(['s'])
    await settle()
    looks[1]?.resolve(ENDED)
    await refused
  })

  it('looks every second besides', async () => {
    const { looks, end } = waiting()
    looks[0]?.resolve(PENDING)
    await vi.advanceTimersByTimeAsync(1_000)
    looks[1]?.resolve(ENDED)
    expect(await end).toBe(ENDED)
  })

  it.each(['stopping', 'gone'] as const)('ends with what there is when the %s signal comes', async (signal) => {
    const { looks, end, ...signals } = waiting()
    looks[0]?.resolve(PENDING)
    await settle()
    signals[signal].abort()
    await settle()
    looks[1]?.resolve(PENDING)
    expect(await end).toBe(PENDING)
  })
})

describe('a wait of the caller that spawns', () => {
  const spawning = (read: () => Promise<Subtask>, seconds = 2) => {
    const endWaiters = createEndWaiters(createDemand(1_000))
    const isUnavailable = (error: unknown) => (error as Error).message === 'gone'
    const { signal } = new AbortController()
    const deps = { endWaiters, stopping: signal, isUnavailable } as unknown as ApiDeps
    const spawn = () => Promise.resolve({ ...PENDING, runnerReason: 'Only one.' })
    const answer = spawnAndWait(deps, 's', spawn, read, { ms: seconds * 1_000, gone: signal, authorizeAgain: async () => {} })
    return { endWaiters, answer }
  }

  it('keeps what only the acceptance says', async () => {
    const { endWaiters, answer } = spawning(() => Promise.resolve(ENDED))
    await settle()
    endWaiters.wake(['s'])
    expect(await answer).toEqual({ ...ENDED, runnerReason: 'Only one.' })
  })

  it.each([new Error('gone'), new DomainError('unavailable', 'The database did not answer in time.')])(
    'answers with what was accepted during an outage',
    async (error) => {
      const { answer } = spawning(() => Promise.reject(error))
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await answer).toEqual({ ...PENDING, runnerReason: 'Only one.' })
    },
  )

  it('fails with every other error', async () => {
    const { answer } = spawning(() => Promise.reject(new Error('a defect')))
    const refused = expect(answer).rejects.toThrow('a defect')
    await vi.advanceTimersByTimeAsync(1_000)
    await refused
  })
})
