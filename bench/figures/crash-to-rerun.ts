import { agentNames } from '../contenders/agents.ts'
import { takeEntries } from '../contenders/entries.ts'
import { startMusterWorker, startSpawner } from '../contenders/muster.ts'
import { installPgBoss, startPgBossProducer, startPgBossWorker } from '../contenders/pg-boss.ts'
import type { ServingChild } from '../instrument/child.ts'
import { machineMs } from '../instrument/clock.ts'
import { atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'

const HELD = { capacity: 20, runMs: null }
const JOBS = 20
const PEER = 'pg-boss, heartbeat of 10 s'

/** Kills the worker that runs everything, and answers how long it takes until the last run has been entered by another one. */
async function kill(producer: ServingChild, startWorker: () => Promise<ServingChild>): Promise<number> {
  await using doomed = await startWorker()
  await producer.call('spawn', { count: JOBS, agents: agentNames(10) })
  await takeEntries([doomed], JOBS)
  await using heir = await startWorker()
  const killedMs = machineMs()
  await doomed.kill()
  const entries = await takeEntries([heir], JOBS)
  return Math.max(...entries.map((entry) => entry.enteredMs)) - killedMs
}

/** Milliseconds from the kill of a worker until the last of its runs runs in another one. */
export async function measureOurs(bench: Bench): Promise<number> {
  await using database = await bench.server.musterDatabase()
  await using spawner = await startSpawner(bench, database)
  return await kill(spawner, () => startMusterWorker(bench, database, HELD))
}

async function measurePeer(bench: Bench): Promise<number> {
  await using database = await bench.server.emptyDatabase()
  await installPgBoss(database, { notify: true, heartbeatSeconds: 10, retryLimit: 3, retryDelay: 0 })
  await using producer = await startPgBossProducer(bench, database)
  return await kill(producer, () =>
    startPgBossWorker(bench, database, { ...HELD, useListenNotify: false, work: { pollingIntervalSeconds: 0.5 }, superviseSeconds: 1 }),
  )
}

export const crashToRerun: Figure = {
  name: 'crash-to-rerun',
  title: `kill -9 of a worker with ${JOBS} runs → the last of them runs in another worker`,
  raised: 'SUBTASK_WORKERS=20',
  notes: ['pg-boss is measured once, however many runs there are'],
  async measure(bench) {
    const rows = new Rows()
    const row = { label: `kill -9 → all ${JOBS} run again elsewhere`, unit: 'ms', better: 'lower', goal: atMost(2_000, 'ms') } as const
    for (let run = 1; run <= bench.runs; run += 1) {
      const ours = await measureOurs(bench)
      rows.add(row, null, ours)
      bench.log(`run ${run}: ${ours.toFixed(0)} ms`)
    }
    // Once is enough to see it.
    const peer = await bench.peer(PEER, () => measurePeer(bench))
    if (peer !== null) rows.add(row, PEER, peer)
    return rows.list()
  },
}
