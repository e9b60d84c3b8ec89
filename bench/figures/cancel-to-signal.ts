import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import { agentNames } from '../contenders/agents.ts'
import { startApi } from '../contenders/api.ts'
import { takeEntries } from '../contenders/entries.ts'
import { startMusterWorker, startSpawner } from '../contenders/muster.ts'
import { installPgBoss, PG_BOSS_QUEUE, startPgBossProducer, startPgBossWorker } from '../contenders/pg-boss.ts'
import type { ServingChild } from '../instrument/child.ts'
import { machineMs } from '../instrument/clock.ts'
import { atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'
import { percentile } from '../instrument/statistics.ts'

const HELD = { capacity: 50, runMs: null }
const APART_MS = 20
const PEER = 'pg-boss heartbeat of 1 s'

interface Spawner {
  call: ServingChild['call']
}

/** Starts runs that wait to be asked to stop, stops each in turn, and measures how long each took to notice. */
async function cancelHeld(spawner: Spawner, worker: ServingChild, cancel: (id: string) => Promise<void>): Promise<number[]> {
  const ids = await spawner.call<string[]>('spawn', { count: HELD.capacity, agents: agentNames(HELD.capacity) })
  while ((await worker.call<{ entered: number }>('count')).entered < ids.length) await sleep(20)
  const askedMs = new Map<string, number>()
  const asked: Promise<void>[] = []
  for (const id of ids) {
    askedMs.set(id, machineMs())
    asked.push(cancel(id))
    await sleep(APART_MS)
  }
  await Promise.all(asked)
  const entries = await takeEntries([worker], ids.length, 'left')
  return entries.map((entry) => (entry.signalledMs as number) - (askedMs.get(entry.id) as number))
}

async function measureOurs(bench: Bench) {
  await using database = await bench.server.musterDatabase()
  await using worker = await startMusterWorker(bench, database, HELD)
  const api = await startApi(bench, database)
  await using _ = api.process
  await using spawner = await startSpawner(bench, database)
  const overHttp = async (id: string) => {
    const answer = await fetch(`${api.address}/subtasks/${id}`, { method: 'DELETE', headers: api.headers })
    if (answer.status !== 202) throw new Error(`DELETE answered ${answer.status}: ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  // The same commit without a notification: the worker finds it by its own poll.
  const inSilence = async (id: string) => void (await database.admin`update subtasks set cancel_requested_at = muster_now() where id = ${id}`)
  await cancelHeld(spawner, worker, overHttp)
  const delivered: number[] = []
  for (let round = 0; round < bench.size(4, 1); round += 1) delivered.push(...(await cancelHeld(spawner, worker, overHttp)))
  return { delivered, lost: await cancelHeld(spawner, worker, inSilence) }
}

async function measurePeer(bench: Bench): Promise<number[]> {
  await using database = await bench.server.emptyDatabase()
  await installPgBoss(database, { notify: true, heartbeatSeconds: 10 })
  await using worker = await startPgBossWorker(bench, database, { ...HELD, useListenNotify: true, work: { heartbeatRefreshSeconds: 1 } })
  await using producer = await startPgBossProducer(bench, database)
  const boss = new PgBoss({ connectionString: database.adminUrl, supervise: false, schedule: false, migrate: false, createSchema: false })
  boss.on('error', () => {})
  await boss.start()
  try {
    return await cancelHeld(producer, worker, async (id) => void (await boss.cancel(PG_BOSS_QUEUE, id)))
  } finally {
    await boss.stop({ graceful: false })
  }
}

export const cancelToSignal: Figure = {
  name: 'cancel-to-signal',
  title: 'DELETE /subtasks/{id} sent → the run in another process has its signal',
  raised: 'SUBTASK_WORKERS=50',
  async measure(bench) {
    const rows = new Rows()
    for (let run = 1; run <= bench.runs; run += 1) {
      const { delivered, lost } = await measureOurs(bench)
      const peer = await bench.peer(PEER, () => measurePeer(bench))
      const add = (share: number, label: string, goal: ReturnType<typeof atMost> | null) => {
        rows.add({ label: `cancel → signal, ${label}`, unit: 'ms', better: 'lower', goal }, null, percentile(delivered, share))
        if (peer !== null) rows.add({ label: `cancel → signal, ${label}`, unit: 'ms', better: 'lower', goal }, PEER, percentile(peer, share))
      }
      add(0.5, 'p50', null)
      add(0.99, 'p99', atMost(20, 'ms'))
      rows.add({ label: 'cancel → signal, notification lost, p99', unit: 'ms', better: 'lower', goal: atMost(1_000, 'ms') }, null, percentile(lost, 0.99))
      bench.log(
        `run ${run}: p50 ${percentile(delivered, 0.5).toFixed(1)} ms, p99 ${percentile(delivered, 0.99).toFixed(1)} ms, lost ${percentile(lost, 0.99).toFixed(0)} ms${peer !== null ? `, peer p99 ${percentile(peer, 0.99).toFixed(0)} ms` : ''}`,
      )
    }
    return rows.list()
  },
}
