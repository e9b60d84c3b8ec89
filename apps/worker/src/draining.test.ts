import type { Runner } from '@muster/runners'
import { type Harness, startHarness } from '@muster/testing'
import { createSubtask, drainWorker, getSubtask, listWorkers } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDeps } from './deps.ts'
import { startWorker } from './worker.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** A worker whose runs end when they are let to, or when they are stopped. */
async function holdingWorker() {
  const gate = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const own: Runner = {
    name: 'own',
    steerable: false,
    usesWorkspace: false,
    followsDefinitions: true,
    async run({ signal }) {
      started.resolve()
      await Promise.race([gate.promise, new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))])
      return signal.aborted ? { kind: 'stopped' } : { kind: 'completed', result: 'Done.' }
    },
  }
  const settings = { ...harness.deps.settings, DATABASE_URL: harness.database.appUrl }
  const drains = Promise.withResolvers<void>()
  const log = { ...harness.log, info: (_: object, message: string) => (message === 'draining' ? drains.resolve() : undefined) }
  const deps = createDeps({ settings, environment: {}, log, runners: new Map([['own', own]]) })
  const worker = await startWorker(deps)
  const { id } = await createSubtask(harness.ctx, { task: 'Work.', runner: 'own' })
  await started.promise
  return { id: deps.workerId, subtaskId: id, drains: drains.promise, letGo: () => gate.resolve(), stop: () => worker.stop() }
}

const stateOf = async (id: string) => (await listWorkers(harness.ctx, { limit: 100 })).items.find((worker) => worker.id === id)?.state
const untilState = (id: string, state: string) => vi.waitFor(async () => expect(await stateOf(id)).toBe(state), { timeout: 10_000, interval: 50 })
const statusOf = async (id: string) => (await getSubtask(harness.ctx, id)).status
const untilStatus = (id: string, status: string) => vi.waitFor(async () => expect(await statusOf(id)).toBe(status), { timeout: 10_000, interval: 50 })

describe('a worker that drains', () => {
  it('finishes its run, takes nothing new meanwhile or afterwards, and then says that it is drained', async () => {
    const worker = await holdingWorker()
    await drainWorker(harness.ctx, worker.id, 'finish')
    await worker.drains
    const { id: next } = await createSubtask(harness.ctx, { task: 'Later.', runner: 'own' })
    expect(await stateOf(worker.id)).toBe('draining')
    worker.letGo()
    await untilStatus(worker.subtaskId, 'completed')
    await untilState(worker.id, 'drained')
    expect(await statusOf(next)).toBe('pending')
    await worker.stop()
    // It has signed off; another one takes the rest.
    expect(await stateOf(worker.id)).toBeUndefined()
    const another = await holdingWorker()
    another.letGo()
    await untilStatus(next, 'completed')
    await another.stop()
  })

  it('releases its run at once where it shall, also after it was asked to finish it', async () => {
    const worker = await holdingWorker()
    await drainWorker(harness.ctx, worker.id, 'finish')
    await worker.drains
    await drainWorker(harness.ctx, worker.id, 'release')
    await untilState(worker.id, 'drained')
    expect(await getSubtask(harness.ctx, worker.subtaskId)).toMatchObject({ status: 'pending', failures: 0 })
    await worker.stop()
    await harness.admin`delete from pgboss.job`
  })
})
