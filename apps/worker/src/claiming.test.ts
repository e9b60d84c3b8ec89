import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Runner } from '@muster/runners'
import { type Harness, startHarness } from '@muster/testing'
import { createSubtask, getSubtask } from '@muster/usecases'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDeps } from './deps.ts'
import { startWorker, type Worker } from './worker.ts'

let harness: Harness
const started: Worker[] = []

beforeAll(async () => {
  harness = await startHarness()
})
afterEach(async () => void (await Promise.all(started.splice(0).map((worker) => worker.stop()))))
afterAll(() => harness.close())

const WORKERS = 4

function runner(name: string, run: Runner['run'] = async () => ({ kind: 'completed', result: 'Done.' })): [string, Runner] {
  return [name, { name, steerable: false, usesWorkspace: false, followsDefinitions: true, run }]
}

/** A worker that counts how often it asks the database for work, and how often it calls all others. So many of its claims by name fail. */
async function start(runners: [string, Runner][], capacity = 5, failures = 0) {
  const counts = { claims: 0, calls: 0, failed: 0 }
  // A folder of its own, as on a machine of its own.
  const folder = await mkdtemp(join(harness.deps.settings.DATA_DIR, 'worker-'))
  const deps = createDeps({
    settings: { ...harness.deps.settings, DATABASE_URL: harness.database.appUrl, DATA_DIR: folder, SUBTASK_WORKERS: capacity },
    environment: {},
    log: harness.log,
    runners: new Map(runners),
  })
  const { runJobs, notifier } = deps
  const worker = await startWorker({
    ...deps,
    runJobs: {
      ...runJobs,
      claiming(...given) {
        counts.claims += 1
        return runJobs.claiming(...given)
      },
      claimingOf(...given) {
        counts.claims += 1
        if (counts.failed < failures) {
          counts.failed += 1
          throw new Error('This claim was made to fail.')
        }
        return runJobs.claimingOf(...given)
      },
      findWaitingQueues(...given) {
        counts.claims += 1
        return runJobs.findWaitingQueues(...given)
      },
    },
    notifier: {
      ...notifier,
      notify(channel, payload) {
        if (channel === 'run' && payload === undefined) counts.calls += 1
        notifier.notify(channel, payload)
      },
    },
  })
  started.push(worker)
  return { counts, workerId: deps.workerId }
}

/** Every worker has heard of all others. */
const introduced = () => new Promise((resolve) => setTimeout(resolve, 1_200))

/** The next call comes long enough after the last claim to be a lone one, whose subtask is claimed by its id. */
const lone = () => new Promise((resolve) => setTimeout(resolve, 30))

const hasEnded = (id: string) => vi.waitFor(async () => expect((await getSubtask(harness.ctx, id)).status).toBe('completed'), { timeout: 10_000, interval: 5 })

/** Spawns subtasks of `own` one after the other, each of another agent, and waits for their ends. */
async function runEach(count: number, agents: string): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const { id } = await createSubtask(harness.ctx, { task: 'Work.', agentId: `${agents}-${number}`, runner: 'own' })
    await hasEnded(id)
  }
}

describe('one of many workers', () => {
  it('asks for a new subtask, and not all of them', async () => {
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => start([runner('own')])))
    await introduced()
    const claims = () => workers.reduce((sum, { counts }) => sum + counts.claims, 0)
    const [before, beganMs] = [claims(), performance.now()]
    const COUNT = 60
    await runEach(COUNT, 'agent')
    // Each also looks once a second without being called.
    const unasked = (WORKERS * (performance.now() - beganMs)) / 800
    expect(claims() - before).toBeLessThan(COUNT * 1.5 + unasked)
    const rows = await harness.admin<{ count: number }[]>`select count(*)::int as count from attempts group by worker_id`
    expect(rows).toHaveLength(WORKERS)
  })

  it('does not ask for a subtask of an outside worker', async () => {
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => start([runner('own')])))
    await introduced()
    const claims = () => workers.reduce((sum, { counts }) => sum + counts.claims, 0)
    const [before, beganMs] = [claims(), performance.now()]
    const COUNT = 100
    for (let number = 0; number < COUNT; number += 1) await createSubtask(harness.ctx, { task: 'Work.', agentId: `outside-${number}`, runner: 'external' })
    const unasked = WORKERS * (1 + (performance.now() - beganMs) / 800)
    expect(claims() - before).toBeLessThan(COUNT / 4 + unasked)
    expect(workers.map(({ counts }) => counts.calls)).toEqual([0, 0, 0, 0])
  })

  it('calls all others for what it has no capacity for', async () => {
    const ended = Promise.withResolvers<void>()
    const waits = runner('waits', async () => {
      await ended.promise
      return { kind: 'completed', result: 'Done.' }
    })
    const full = await start([waits, runner('own')], 1)
    await createSubtask(harness.ctx, { task: 'Work.', agentId: 'occupies', runner: 'waits' })
    await vi.waitFor(async () => expect(await harness.admin`select from subtasks where worker_id = ${full.workerId} and status = 'running'`).toHaveLength(1))
    const free = await start([runner('own')])
    await introduced()
    const before = full.counts.calls
    await runEach(20, 'passed')
    // About half of them called it, and it learned of that before or after the other one had come.
    expect(full.counts.calls - before).toBeGreaterThan(2)
    expect(free.counts.calls).toBe(0)
    ended.resolve()
  })

  it('calls all others for what it has no runner for', async () => {
    const other = await start([runner('another')])
    await start([runner('own')])
    await introduced()
    const before = other.counts.calls
    await runEach(20, 'unfit')
    expect(other.counts.calls - before).toBeGreaterThan(2)
  })
})

describe('a worker', () => {
  it('finds a subtask whose call was lost, while others call all the time', async () => {
    await start([runner('own')])
    // Its first look, which takes whatever waits, is over.
    await runEach(1, 'before the loss')
    const { notifier } = harness.ctx
    const mute = { ...notifier, notify: () => {}, withCommit: () => ({ channel: 'muster_run', text: null, committed: () => {} }) }
    const lost = await createSubtask({ ...harness.ctx, notifier: mute }, { task: 'Work.', agentId: 'lost', runner: 'own' })
    const isFound = async () => (await getSubtask(harness.ctx, lost.id)).status === 'completed'
    let called = 0
    for (; called < 100 && !(await isFound()); called += 1) {
      await lone()
      await runEach(1, `calls-${called}`)
    }
    expect(await isFound()).toBe(true)
  })

  it('claims a subtask that has called it after a claim that failed', async () => {
    const { counts } = await start([runner('own')], 5, 1)
    // Its first look, which is not by name, is over.
    await runEach(1, 'before')
    await vi.waitFor(
      async () => {
        await lone()
        await runEach(1, `after-${counts.claims}`)
        expect(counts.failed).toBe(1)
      },
      { timeout: 20_000, interval: 1 },
    )
    expect(harness.log.takeErrors().map(({ message }) => message)).toEqual(['could not claim subtasks'])
  })
})
