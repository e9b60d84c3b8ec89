import type { LoggedEvent } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../testing.ts'

const LINGER_MS = 30_000
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

/** What the process's connection for bells did last. */
const lastOfBells = async () => {
  const rows = await admin<{ query: string }[]>`
    select query from pg_stat_activity where datname = current_database() and query ~* '^(un)?listen '`
  return rows.map(({ query }) => query)
}

/** Follows the project, and gives up again. */
function followProject() {
  const seen: LoggedEvent[] = []
  const unsubscribe = api.deps.feed.subscribe({ projectId: api.ctx.actor.projectId }, (event) => seen.push(event))
  return {
    seen,
    /** As if so much time had gone by since. Nothing else may wait for the clock meanwhile. */
    leave(goneMs: number) {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      unsubscribe()
      vi.advanceTimersByTime(goneMs)
      vi.useRealTimers()
    },
  }
}

describe('the feed', () => {
  it('costs the database nothing while nobody follows, and hears of everything from the moment it is ready', async () => {
    expect(await lastOfBells()).toEqual([])
    expect(api.deps.feed.isReady()).toBe(false)

    for (let round = 0; round < 2; round += 1) {
      const { seen, leave } = followProject()
      await api.deps.feed.ready()
      const { id } = await spawnExternal(api.ctx)
      await vi.waitFor(() => expect(seen.map(({ subject }) => subject.id)).toEqual([id]))
      await vi.waitFor(async () => expect(await lastOfBells()).toEqual(['listen "muster_events"']))
      leave(LINGER_MS)
      await vi.waitFor(async () => expect(await lastOfBells()).toEqual(['unlisten "muster_events"']))
      expect(api.deps.feed.isReady()).toBe(false)
    }
  })

  it('stays ready for whoever comes back soon', async () => {
    const first = followProject()
    await api.deps.feed.ready()
    first.leave(LINGER_MS - 1)
    expect(api.deps.feed.isReady()).toBe(true)
    const second = followProject()
    const { id } = await spawnExternal(api.ctx)
    await vi.waitFor(() => expect(second.seen.map(({ subject }) => subject.id)).toEqual([id]))
    second.leave(LINGER_MS)
  })
})
