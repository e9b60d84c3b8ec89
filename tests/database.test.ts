import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { StopMode } from '@muster/local-postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OwnPostgres, startOwnPostgres } from './harness/own-postgres.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Problem, Subtask } from './harness/wire.ts'

/** Longer than any handler may take (5 s), with room for a busy machine. */
const ANSWER_WITHIN_MS = 10_000

let postgres: OwnPostgres
let system: System

beforeAll(async () => {
  postgres = await startOwnPostgres()
  system = await startSystem({
    apis: 2,
    workers: 2,
    // As the processes of `npm start` reach theirs.
    database: { ...postgres.database, appUrl: await postgres.server.socketUrlFor('muster', 'muster') },
    env: { SUBTASK_WORKERS: '2', SUBTASK_MAX_PENDING: '1000', SUBTASK_MAX_CONCURRENT: '1000', SUBTASK_LEASE_SECONDS: '3' },
  })
})
afterAll(() => system.close())

interface Seen {
  accepted: string[]
  /** Status and code of every answer that was not a success. */
  refusals: Map<string, number>
  slowestMs: number
}

let loads = 0

/** Spawns and reads without pause until told to stop, as clients that know nothing of the database. */
function startLoad(): { seen: Seen; stop: () => Promise<Seen> } {
  const seen: Seen = { accepted: [], refusals: new Map(), slowestMs: 0 }
  const load = ++loads
  let isOn = true
  const note = (answer: { status: number; body: unknown; tookMs: number }) => {
    seen.slowestMs = Math.max(seen.slowestMs, answer.tookMs)
    if (answer.status < 300) return
    const what = `${answer.status} ${(answer.body as Problem).code}`
    seen.refusals.set(what, (seen.refusals.get(what) ?? 0) + 1)
  }
  const lanes = [0, 1, 2, 3].map(async (lane) => {
    const client = system.apis[lane % 2]?.client ?? system.client
    for (let round = 0; isOn; round += 1) {
      const body = { task: `Lane ${lane}, round ${round}.`, runner: 'append', agent_id: `agent-${lane}`, parent_session_id: `session-${lane}` }
      // Asked with a key, a refused spawn is asked again, so that none is lost and none is doubled.
      const headers = { 'idempotency-key': `load ${load}, lane ${lane}, round ${round}` }
      for (let isAccepted = false; isOn && !isAccepted; ) {
        const answer = await client.call<Subtask>('POST', '/subtasks', { body, headers })
        note(answer)
        isAccepted = answer.status === 202
        if (isAccepted) seen.accepted.push(answer.body.id)
        else await sleep(50)
      }
      note(await client.call('GET', '/subtasks?limit=5'))
      await sleep(20)
    }
  })
  return {
    seen,
    async stop() {
      isOn = false
      await Promise.all(lanes)
      return seen
    },
  }
}

/** What has to hold once the load is over: nothing lost, nothing twice, and nobody was told of a defect. */
async function expectNothingLost({ accepted, refusals, slowestMs }: Seen): Promise<void> {
  const codes = [...refusals.keys()]
  expect(codes.filter((code) => code !== '503 unavailable' && code !== '409 request_in_progress')).toEqual([])
  expect(slowestMs).toBeLessThan(ANSWER_WITHIN_MS)
  await until('all that was accepted has ended', async () => {
    const [left] = await system.admin`select from subtasks where completed_at is null limit 1`
    return left === undefined
  })
  const rows = await system.admin<{ id: string; status: string }[]>`select id, status from subtasks`
  const completed = new Set(rows.filter(({ status }) => status === 'completed').map(({ id }) => id))
  expect(accepted.filter((id) => !completed.has(id))).toEqual([])
  expect(rows.filter(({ status }) => status !== 'completed')).toEqual([])
  // Rows, attempts, events and inbox items agree: each ended once.
  await until('the last events are in the log', async () => (await system.admin`select from outbox limit 1`).length === 0)
  expect(await system.invariants()).toEqual([])
}

/** A process of the server may have ended by itself meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const isUnavailable = (seen: Seen) => (seen.refusals.get('503 unavailable') ?? 0) > 0

describe('PostgreSQL under load', () => {
  it.each<StopMode>(['fast', 'immediate'])('stopped (%s) and started again: 503 meanwhile, back by itself, nothing lost, nothing twice', async (mode) => {
    const load = startLoad()
    await until('there is work going on', async () => load.seen.accepted.length > 20)
    const acceptedBefore = load.seen.accepted.length
    await postgres.server.stop(mode)
    await until('clients are told to come again', () => isUnavailable(load.seen))
    const ready = await Promise.all(system.apis.map(({ client }) => client.call<{ status: string }>('GET', '/readyz')))
    expect(ready.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(ready.map(() => [503, '1']))
    for (const { client } of system.apis) expect((await client.call('GET', '/healthz')).status).toBe(200)

    await postgres.server.restart(mode)
    await until('clients are served again', () => load.seen.accepted.length > acceptedBefore + 20)
    await expectNothingLost(await load.stop())
    for (const { child } of [...system.apis, ...system.workers]) expect(child.hasExited).toBe(false)
  })

  it('restarted during a run: the holder keeps its attempt, and its result counts', async () => {
    const { id } = await system.client.spawn({ task: 'Hold over a restart.', runner: 'hold', max_attempts: 1, parent_session_id: 'restart' })
    await system.ledger.written(id, 'start', 1)
    await postgres.server.stop('immediate')
    system.ledger.release(id)
    await system.ledger.written(id, 'end', 1)
    await postgres.server.restart('immediate')

    await until('the API is back', async () => (await system.client.call('GET', '/readyz')).status === 200)
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', attempt: 1, failures: 0 })
    expect(await system.client.inbox('restart')).toMatchObject([{ subtask_id: id }])
  })

  it('that answers nothing any more, without being gone: 503 within the deadline, back by itself, nothing lost, nothing twice', async () => {
    const load = startLoad()
    await until('there is work going on', async () => load.seen.accepted.length > 20)
    const before = load.seen.accepted.length
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(postgres.server.pid)])
    const pids = [postgres.server.pid, ...stdout.trim().split('\n').map(Number)]
    try {
      for (const pid of pids) signal(pid, 'SIGSTOP')
      await until('clients are told to come again', () => isUnavailable(load.seen))
    } finally {
      for (const pid of pids) signal(pid, 'SIGCONT')
    }
    await until('clients are served again', () => load.seen.accepted.length > before + 5)
    await expectNothingLost(await load.stop())
  })

  it('whose connections are cut again and again: nothing lost, nothing twice', async () => {
    const load = startLoad()
    await until('there is work going on', async () => load.seen.accepted.length > 20)
    for (let cut = 0; cut < 5; cut += 1) {
      const before = load.seen.accepted.length
      await system.admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'muster' and pid <> pg_backend_pid()`
      await until('clients are served again', () => load.seen.accepted.length > before + 5)
    }
    await expectNothingLost(await load.stop())
  })
})
