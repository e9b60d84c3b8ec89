import type { LoggedEvent } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { spawnExternal, startApi, type TestApi } from './testing/api.ts'

const LINGER_MS = 30_000
const PATIENCE = { timeout: 10_000 }
let api: TestApi
let admin: postgres.Sql

beforeAll(async () => {
  const database = await testDatabase()
  admin = postgres(database.adminUrl, { max: 1 })
  api = await startApi(database, { AUTH: 'open' })
})
afterAll(async () => {
  await admin.end()
  await api.close()
})

/** The last statement of the process's connection for notifications. */
const lastOfNotifiers = async () => {
  const rows = await admin<{ query: string }[]>`
    select query from pg_stat_activity where datname = current_database() and query ~* '^(un)?listen '`
  return rows.map(({ query }) => query)
}

/** Ends a need as if so much time had gone by since. Nothing else may wait for the clock meanwhile. */
function lapse(end: () => void, goneMs: number) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  end()
  vi.advanceTimersByTime(goneMs)
  vi.useRealTimers()
}

/** Follows the project, and gives up again. */
function followProject() {
  const seen: LoggedEvent[] = []
  const unsubscribe = api.deps.feed.subscribe({ projectId: api.ctx.actor.projectId }, (event) => seen.push(event))
  return { seen, leave: (goneMs: number) => lapse(unsubscribe, goneMs) }
}

describe('a process of the API', () => {
  it('listens to nothing without followers, and receives everything from the moment it is ready', async () => {
    expect(await lastOfNotifiers()).toEqual([])
    expect(api.deps.feed.isReady()).toBe(false)

    for (let round = 0; round < 2; round += 1) {
      const { seen, leave } = followProject()
      await api.deps.feed.ready()
      const { id } = await spawnExternal(api.ctx)
      await vi.waitFor(() => expect(seen.map(({ subject }) => subject.id)).toEqual([id]), PATIENCE)
      await vi.waitFor(async () => expect(await lastOfNotifiers()).toEqual(['listen "muster_events"']), PATIENCE)
      leave(LINGER_MS)
      await vi.waitFor(async () => expect(await lastOfNotifiers()).toEqual(['unlisten "muster_events"']), PATIENCE)
      await vi.waitFor(() => expect(api.deps.feed.isReady()).toBe(false), PATIENCE)
    }
  })

  it('keeps listening for a follower that returns soon', async () => {
    const first = followProject()
    await api.deps.feed.ready()
    await vi.waitFor(async () => expect(await lastOfNotifiers()).toEqual(['listen "muster_events"']), PATIENCE)
    first.leave(LINGER_MS - 1)
    // Enough time for it to stop listening, if it did.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(api.deps.feed.isReady()).toBe(true)
    expect(await lastOfNotifiers()).toEqual(['listen "muster_events"'])
    const second = followProject()
    const { id } = await spawnExternal(api.ctx)
    await vi.waitFor(() => expect(second.seen.map(({ subject }) => subject.id)).toEqual([id]), PATIENCE)
    second.leave(LINGER_MS)
    await vi.waitFor(async () => expect(await lastOfNotifiers()).toEqual(['unlisten "muster_events"']), PATIENCE)
  })

  it('listens for work while a request waits for it', async () => {
    // The first is woken as soon as the process listens: there may have been work before.
    await api.deps.runWaiters.wait(60_000)
    expect(await lastOfNotifiers()).toEqual(['listen "muster_run"'])
    const left = new AbortController()
    const waiting = api.deps.runWaiters.wait(60_000, left.signal)
    lapse(() => left.abort(), LINGER_MS)
    await waiting
    await vi.waitFor(async () => expect(await lastOfNotifiers()).toEqual(['unlisten "muster_run"']), PATIENCE)
  })
})
