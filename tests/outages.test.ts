import { advanceClock, mountSmallDisk, reserveLog, startDatabaseProxy } from '@muster/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { startOwnPostgres } from './harness/own-postgres.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Problem, Subtask } from './harness/wire.ts'

let system: System | undefined

afterEach(async () => {
  await system?.close()
  system = undefined
})

describe('an outage longer than the timeout of what runs', () => {
  it('costs the attempt its worker, never the subtask its life: everything killed and started again, it completes in attempt 2', async () => {
    const postgres = await startOwnPostgres()
    system = await startSystem({ database: postgres.database, env: { SUBTASK_LEASE_SECONDS: '2' } })
    const { id } = await system.client.spawn({
      task: 'Hold over an outage.',
      runner: 'hold',
      timeout_seconds: 20,
      max_attempts: 2,
      parent_session_id: 'outage',
    })
    await system.ledger.written(id, 'start', 1)

    await Promise.all([...system.apis, ...system.workers].map(({ child }) => child.end('SIGKILL')))
    await postgres.server.stop('immediate')
    await postgres.server.restart('immediate')
    await advanceClock(system.admin, '60 seconds')
    await system.startApi()
    await system.startWorker()

    await system.ledger.written(id, 'start', 2)
    system.ledger.release(id)
    const ended = await system.client.ended(id)
    expect(ended).toMatchObject({ status: 'completed', attempt: 2, failures: 1, result: 'Held in attempt 2. Told: nothing' })
    // The minute is no part of what it took.
    expect(ended.lost_ms).toBeGreaterThan(50_000)
    expect(ended.duration_ms).toBeLessThan(50_000)
    const [lost] = await system.admin`
      select outcome, error, lost_ms > 50000 as was_lost, extract(epoch from ended_at - started_at) * 1000 - lost_ms < 50000 as ran_shortly
      from attempts where subtask_id = ${id} and attempt = 1`
    expect(lost).toEqual({ outcome: 'lost', error: expect.stringContaining('The worker was lost'), was_lost: true, ran_shortly: true })
    expect(await system.client.inbox('outage')).toMatchObject([{ subtask_id: id, final_outcome: 'completed' }])
  })
})

describe('a COMMIT whose answer is lost', () => {
  it('is answered 503 without a claim that nothing happened, and a repetition with the same Idempotency-Key has one effect', async () => {
    system = await startSystem()
    const proxy = await startDatabaseProxy(system.database.appUrl)
    try {
      const { client } = await system.startApi({ DATABASE_URL: proxy.url })
      const task = 'Store this, and lose the answer.'
      const request = { body: { task, runner: 'append' }, headers: { 'idempotency-key': 'lost' } }
      const lost = proxy.loseCommitOf(task)
      const first = await client.call<Problem>('POST', '/subtasks', request)
      expect([first.status, first.body.code, first.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
      await lost
      expect(first.body.detail).toContain('may or may not have taken effect')
      expect(await system.admin`select from subtasks where task = ${task}`).toHaveLength(1)

      const second = await client.call<Subtask>('POST', '/subtasks', request)
      expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
      expect(await client.ended(second.body.id)).toMatchObject({ status: 'completed' })
      expect(await system.admin`select from subtasks where task = ${task}`).toHaveLength(1)
      await system.apis.at(-1)?.child.end('SIGTERM')
    } finally {
      await proxy.close()
    }
  })
})

/** Too long for the room that is left in pages that are there already. */
const RESULT_LENGTH = 200_000
/** Whatever names files, relations or settings of the database. */
const DATABASE_TEXT = /base\/|pg_|No space left|could not (extend|write)|read-only transaction|SQLSTATE/

/**
 * Spawns and lets a run end while the database takes no writes: callers are told to come again, the end waits in the worker, and with the next write that
 * succeeds all is as if nothing had been.
 */
async function expectOutageWithoutLoss(running: System, outage: { begin: () => Promise<unknown>; end: () => Promise<unknown>; reason: string }): Promise<void> {
  const { client } = running
  const spawn = (name: string) =>
    client.call<Pick<Subtask, 'id'> & Problem>('POST', '/subtasks', {
      // Too long for the room that is left in pages that are there already.
      body: { task: `${name} ${'x'.repeat(20_000)}`, runner: 'append', agent_id: name, parent_session_id: 'during' },
      headers: { 'idempotency-key': name },
    })
  const accepted: string[] = []
  const { id } = await client.spawn({
    task: 'End while nothing can be stored.',
    runner: 'hold',
    max_attempts: 1,
    timeout_seconds: 60,
    parent_session_id: 'held',
    metadata: { long: RESULT_LENGTH },
  })
  await running.ledger.written(id, 'start', 1)

  await outage.begin()
  const notReady = await until('the API says that it is not ready', async () => {
    const answer = await client.call<{ reason: string }>('GET', '/readyz')
    return answer.status === 503 ? answer : null
  })
  expect(notReady.body.reason).toContain(outage.reason)
  const refused: Awaited<ReturnType<typeof spawn>>[] = []
  for (let place = 0; refused.length < 10; place += 1) {
    const answer = await spawn(`during-${place}`)
    if (answer.status === 202) accepted.push(answer.body.id)
    else refused.push(answer)
  }
  for (const answer of refused) {
    expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
    expect(JSON.stringify(answer.body)).not.toMatch(DATABASE_TEXT)
  }
  // The process is there, and what needs no room is answered.
  expect((await client.call('GET', '/healthz')).status).toBe(200)
  running.ledger.release(id)
  await running.ledger.written(id, 'end', 1)

  expect((await client.get(id)).status).toBe('running')

  await outage.end()
  // As after an outage of twenty seconds: every lease has lapsed, and nothing may be taken before workers could renew theirs.
  await until('the clock can be moved', () =>
    advanceClock(running.admin, '20 seconds').then(
      () => true,
      () => false,
    ),
  )
  await until('the API is ready again', async () => (await client.call('GET', '/readyz')).status === 200)
  const ended = await client.ended(id)
  expect(ended).toMatchObject({ status: 'completed', attempt: 1, failures: 0, error: null })
  expect(ended.result?.length).toBeGreaterThan(RESULT_LENGTH)
  for (let place = 0; place < 3; place += 1) accepted.push((await spawn(`after-${place}`)).body.id)
  for (const each of accepted) expect(await client.ended(each)).toMatchObject({ status: 'completed', attempt: 1, failures: 0, error: null })
  const stored = await running.admin<{ error: string }[]>`
    select error from subtasks where error is not null union all select error from attempts where error is not null`
  expect(stored).toEqual([])
  expect(running.workers.map(({ child }) => child.hasExited)).toEqual([false])
}

describe('a database that takes no writes', () => {
  const env = { SUBTASK_LEASE_SECONDS: '3', SUBTASK_MAX_PENDING: '1000', SUBTASK_MAX_CONCURRENT: '1000' }

  it('with a full disk: 503 and not ready meanwhile, ends wait in the worker, nothing counts as a failure', async () => {
    const disk = await mountSmallDisk(400)
    try {
      const postgres = await startOwnPostgres(disk)
      const running = await startSystem({ database: postgres.database, env })
      system = running
      await expectOutageWithoutLoss(running, {
        begin: async () => {
          await reserveLog(running.admin)
          await disk.fill()
        },
        end: () => disk.free(),
        reason: 'disk is full',
      })
      await system.close()
      system = undefined
    } finally {
      await system?.abandon()
      system = undefined
      await disk.close()
    }
  })

  it('while it is read-only: 503 and not ready meanwhile, ends wait in the worker, nothing counts as a failure', async () => {
    const postgres = await startOwnPostgres()
    const running = await startSystem({ database: postgres.database, env })
    system = running
    const setReadOnly = async (value: 'on' | 'off') => {
      await running.admin.unsafe(`alter system set default_transaction_read_only = ${value}`)
      await running.admin`select pg_reload_conf()`
    }
    await expectOutageWithoutLoss(running, { begin: () => setReadOnly('on'), end: () => setReadOnly('off'), reason: 'read-only' })
  })
})

describe('a worker whose own disk is full', () => {
  it('gives back what it cannot begin, claims no more until there is room, and nothing counts as a failure; tasks are refused as unavailable', async () => {
    const disk = await mountSmallDisk(1)
    try {
      const running = await startSystem({ env: { DATA_DIR: disk.path } })
      system = running
      // Folders on a tmpfs need no room but an entry, so it is the number of entries that runs out.
      await disk.fill()
      await disk.takeEntries()
      const { id } = await running.client.spawn({ task: 'Begin when there is room.', runner: 'append', max_attempts: 1 })
      const [worker] = running.workers
      await worker?.child.line('run released: the disk of this worker is full or fails')
      const refused = await running.client.call<Problem>('POST', '/tasks', { body: { title: 'Later', instructions: 'Write a page about disks.' } })
      expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
      expect(refused.body.detail).not.toContain(disk.path)

      await disk.free()
      const ended = await running.client.ended(id)
      expect(ended).toMatchObject({ status: 'completed', failures: 0, error: null })
      // Not once for every look.
      expect(ended.attempt).toBeLessThan(5)
      await system.close()
      system = undefined
    } finally {
      await system?.abandon()
      system = undefined
      await disk.close()
    }
  })
})
