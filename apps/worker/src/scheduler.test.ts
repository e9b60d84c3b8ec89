import { type Harness, readSlots, startHarness, storeSchedules } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startScheduler } from './scheduler.ts'

/** Looks of a scheduler go through the pool that sees all projects. */
function countingLooks(deps: Harness['deps']): { deps: Harness['deps']; looks: () => number } {
  let looks = 0
  const sql = new Proxy(deps.dispatchDb.sql, {
    apply(target, self, args) {
      looks += 1
      return Reflect.apply(target, self, args)
    },
  })
  return { deps: { ...deps, dispatchDb: { ...deps.dispatchDb, sql } }, looks: () => looks }
}

const NOT_RESTORED = { isHeldNow: async () => false }

const unexpected = (error: unknown) => {
  throw error
}

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ settings: { SCHEDULE_CHECK_INTERVAL: '3600' } })
})
afterAll(() => harness.close())

describe('a scheduler', () => {
  it('sleeps until the next slot is due, and has looked a few times only', async () => {
    const [id = ''] = await storeSchedules(harness.admin, [{ dueInMs: 700 }])
    const { deps, looks } = countingLooks(harness.deps)
    const scheduler = startScheduler(deps, unexpected, NOT_RESTORED)
    await vi.waitFor(async () => expect(await readSlots(harness.admin, id)).toMatchObject([{ outcome: 'fired' }]), { timeout: 10_000, interval: 20 })
    await scheduler.stop()
    // At the beginning, when it is due (a timer may come a moment early), and once more for what has come meanwhile.
    expect(looks()).toBeLessThanOrEqual(5)
  })

  it('looks again when it is woken, and leaves in peace what it cannot fire', async () => {
    const { deps, looks } = countingLooks(harness.deps)
    const scheduler = startScheduler(deps, unexpected, NOT_RESTORED)
    await vi.waitFor(() => expect(looks()).toBe(1))
    const [bad = '', good = ''] = await storeSchedules(harness.admin, [
      { timing: { kind: 'calendar', crons: ['when it suits'], every: null } },
      { agentId: 'another' },
    ])
    scheduler.wakeIfWaiting()
    scheduler.wake()
    await vi.waitFor(async () => expect(await readSlots(harness.admin, good)).toMatchObject([{ outcome: 'fired' }]), { timeout: 10_000, interval: 20 })
    await scheduler.stop()
    expect(harness.log.takeErrors()).toMatchObject([{ fields: { schedule_id: bad } }])
    expect(looks()).toBeLessThanOrEqual(4)
    await harness.admin`delete from schedules where id = ${bad}`
  })

  it('goes on after an outage', async () => {
    const [id = ''] = await storeSchedules(harness.admin, [{ agentId: 'outage' }])
    let isAway = true
    const sql = new Proxy(harness.deps.dispatchDb.sql, {
      apply(target, self, args) {
        if (isAway) throw Object.assign(new Error('away'), { code: 'CONNECTION_CLOSED' })
        return Reflect.apply(target, self, args)
      },
    })
    const errors: unknown[] = []
    const scheduler = startScheduler({ ...harness.deps, dispatchDb: { ...harness.deps.dispatchDb, sql } }, (error) => errors.push(error), NOT_RESTORED)
    await vi.waitFor(() => expect(errors).toHaveLength(1))
    isAway = false
    await vi.waitFor(async () => expect(await readSlots(harness.admin, id)).toMatchObject([{ outcome: 'fired' }]), { timeout: 10_000, interval: 20 })
    await scheduler.stop()
  })

  it('does nothing while schedules are switched off', async () => {
    const { deps, looks } = countingLooks(harness.deps)
    const scheduler = startScheduler({ ...deps, settings: { ...deps.settings, SCHEDULE_ENABLED: false } }, unexpected, NOT_RESTORED)
    scheduler.wake()
    scheduler.wakeIfWaiting()
    await scheduler.stop()
    expect(looks()).toBe(0)
  })
})
