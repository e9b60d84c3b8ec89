import type { Database } from '@muster/db'
import type { Runner } from '@muster/runners'
import { type Harness, startHarness } from '@muster/testing'
import { createSubtask, getSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDeps } from './deps.ts'
import { startWorker } from './worker.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const quick: Runner = {
  name: 'own',
  steerable: false,
  usesWorkspace: false,
  followsDefinitions: true,
  run: async ({ brief }) => ({ kind: 'completed', result: `Done in attempt ${brief.attempt}.` }),
}

function compose(runners: [string, Runner][]) {
  const { settings } = harness.deps
  return createDeps({ settings: { ...settings, DATABASE_URL: harness.database.appUrl }, environment: {}, log: harness.log, runners: new Map(runners) })
}

/** Loses the answer to the first statement that has claimed something: it is committed, and the worker does not know. */
function losingFirstClaim(db: Database): { db: Database; lost: () => boolean } {
  let isLost = false
  const sql = new Proxy(db.sql, {
    apply(target, self, statement: Parameters<typeof db.sql>) {
      const query = Reflect.apply(target, self, statement)
      // Parts of it are made by the same function, and are left as they are.
      if (!String(statement[0]).includes('claimed as (')) return query
      return query.then((rows: { id: string | null }[]) => {
        if (isLost || !rows.some(({ id }) => id !== null)) return rows
        isLost = true
        throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' })
      })
    },
  })
  return { db: { ...db, sql }, lost: () => isLost }
}

describe('a worker that cannot start', () => {
  it('leaves nothing running: its retry would have a second pg-boss beside it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    await harness.admin`revoke insert on pgboss.queue from muster_dispatch`
    try {
      await expect(startWorker(compose([['unseen', quick]]))).rejects.toMatchObject({ code: '42501' })
      // The timers of pg-boss would run for ever, over new connections.
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      await harness.admin`grant insert on pgboss.queue to muster_dispatch`
      vi.useRealTimers()
    }
  })
})

describe('a run of a sub-agent', () => {
  it('is ended, not run, by a worker whose runner does not follow definitions', async () => {
    const worker = await startWorker(compose([['own', { ...quick, followsDefinitions: false }]]))
    const { id } = await createSubtask(harness.ctx, { task: 'Work.', subagent: 'Explore', runner: 'own' })
    await vi.waitFor(async () => expect((await getSubtask(harness.ctx, id)).status).toBe('failed'), { timeout: 10_000, interval: 50 })
    const error = 'The runner own does not follow sub-agent definitions, and this subtask is a run of Explore.'
    expect(await getSubtask(harness.ctx, id)).toMatchObject({ attempt: 1, error })
    await worker.stop()
  })
})

describe('a claim whose answer was lost', () => {
  it('is released at once, and counts as no failure', async () => {
    const deps = compose([['own', quick]])
    const lossy = losingFirstClaim(deps.dispatchDb)
    const worker = await startWorker({ ...deps, dispatchDb: lossy.db })
    const { id } = await createSubtask(harness.ctx, { task: 'Work.', runner: 'own', maxAttempts: 1 })
    // Far below the lease of 30 s, after which the reaper would have failed it.
    await vi.waitFor(async () => expect((await getSubtask(harness.ctx, id)).status).toBe('completed'), { timeout: 10_000, interval: 50 })
    expect(lossy.lost()).toBe(true)
    expect(await getSubtask(harness.ctx, id)).toMatchObject({ attempt: 2, failures: 0, result: 'Done in attempt 2.' })
    await worker.stop()
  })
})
