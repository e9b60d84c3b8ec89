import { setTimeout as sleep } from 'node:timers/promises'
import { takeEntries } from '../contenders/entries.ts'
import { startMusterWorker } from '../contenders/muster.ts'
import { installPgBoss, PG_BOSS_QUEUE, seedPgBossAt, startPgBossWorker } from '../contenders/pg-boss.ts'
import type { ServingChild } from '../instrument/child.ts'
import { wallMs } from '../instrument/clock.ts'
import { atMost, type Bench, countText, type Figure, Rows, withinPeer } from '../instrument/figure.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { percentile } from '../instrument/statistics.ts'
import { seedSchedules } from '../seeds/schedules.ts'

const PEER = 'pg-boss startAfter'
const EMPTY = 'empty'
const AGENTS = 200
const SLOTS = { capacity: 100, runMs: 0 }
const APART_MS = 100
const DAY_MS = 86_400_000

const atOnceOf = (bench: Bench) => bench.size(5_000, 500)

/** Time for what is stored to be there, and for the workers to have heard of it, before the first is due. */
const aheadMs = (bench: Bench) => bench.size(4_000, 1_000)

/** Puts something there that is due later, one thing every `everyMs`, or all at once. */
type Seed = (count: number, firstAtMs: number, everyMs: number) => Promise<void>

/** How late each of many that are due one after the other was entered, and how late the last of many at once. */
async function measure(bench: Bench, worker: ServingChild, seed: Seed): Promise<{ apartMs: number[]; lastMs: number }> {
  const apart = bench.size(100, 10)
  // Whatever is compiled at the first time is compiled.
  await lateness(bench, worker, seed, bench.size(20, 5), APART_MS)
  await lateness(bench, worker, seed, AGENTS, 0)
  const apartMs = await lateness(bench, worker, seed, apart, APART_MS)
  return { apartMs, lastMs: Math.max(...(await lateness(bench, worker, seed, atOnceOf(bench), 0))) }
}

async function lateness(bench: Bench, worker: ServingChild, seed: Seed, count: number, everyMs: number): Promise<number[]> {
  const firstAtMs = Math.ceil(wallMs() + aheadMs(bench))
  await seed(count, firstAtMs, everyMs)
  if (wallMs() > firstAtMs) throw new Error('it took longer to store the schedules than was left until they were due')
  await sleep(firstAtMs + count * everyMs - wallMs())
  const entries = await takeEntries([worker], count)
  // In the order in which they were due: what is due apart is entered in that order, or one of them is very late, which shows.
  const entered = entries.map((entry) => wallMs(entry.enteredMs)).sort((one, other) => one - other)
  return entered.map((at, index) => at - (firstAtMs + index * everyMs))
}

async function measureOurs(bench: Bench, database: BenchDatabase) {
  await using worker = await startMusterWorker(bench, database, SLOTS, { SUBTASK_MAX_PENDING: '1000' })
  return await measure(bench, worker, async (count, firstAtMs, everyMs) => {
    await seedSchedules(database.admin, { count, agents: AGENTS, firstAtMs, everyMs })
    await database.admin`select pg_notify('muster_schedule', '')`
  })
}

async function measurePeer(bench: Bench) {
  await using database = await bench.server.emptyDatabase()
  await installPgBoss(database)
  await using worker = await startPgBossWorker(bench, database, { ...SLOTS, useListenNotify: false, work: { pollingIntervalSeconds: 0.5 } })
  return await measure(bench, worker, (count, firstAtMs, everyMs) => seedPgBossAt(database, PG_BOSS_QUEUE, { count, firstAtMs, everyMs }))
}

export const scheduleLateness: Figure = {
  name: 'schedule-lateness',
  title: 'a schedule is due → runner entered: one every 100 ms; 5,000 of 200 agents at once; the same with 1,000,000 more stored',
  raised: 'SUBTASK_WORKERS=100, SUBTASK_MAX_PENDING=1000',
  async measure(bench) {
    const rows = new Rows()
    const stored = bench.size(1_000_000, 20_000)
    const atOnceText = `${countText(atOnceOf(bench))} at once`
    const add = (contender: string | null, { apartMs, lastMs }: Awaited<ReturnType<typeof measure>>) => {
      rows.add({ label: 'schedule lateness, 1 due, p50', unit: 'ms', better: 'lower', goal: null }, contender, percentile(apartMs, 0.5))
      rows.add({ label: 'schedule lateness, 1 due, p99', unit: 'ms', better: 'lower', goal: atMost(50, 'ms') }, contender, percentile(apartMs, 0.99))
      rows.add({ label: `schedule lateness, ${atOnceText}, last`, unit: 'ms', better: 'lower', goal: atMost(1_500, 'ms') }, contender, lastMs)
    }
    const addStored = (contender: string | null, { apartMs, lastMs }: Awaited<ReturnType<typeof measure>>) => {
      const goal = withinPeer(1.5, EMPTY)
      rows.add({ label: `${countText(stored)} schedules stored: 1 due, p99`, unit: 'ms', better: 'lower', goal }, contender, percentile(apartMs, 0.99))
      rows.add({ label: `${countText(stored)} schedules stored: ${atOnceText}, last`, unit: 'ms', better: 'lower', goal }, contender, lastMs)
    }
    await using full = await bench.server.musterDatabase()
    await seedSchedules(full.admin, { count: stored, agents: AGENTS, firstAtMs: Date.now() + DAY_MS, everyMs: 1_000 })
    await full.admin`vacuum (analyze) schedules`
    for (let run = 1; run <= bench.runs; run += 1) {
      await using empty = await bench.server.musterDatabase()
      const ours = await measureOurs(bench, empty)
      const amongMany = await measureOurs(bench, full)
      add(null, ours)
      addStored(EMPTY, ours)
      addStored(null, amongMany)
      const peer = await bench.peer(PEER, () => measurePeer(bench))
      if (peer !== null) add(PEER, peer)
      bench.log(
        `run ${run}: 1 due p99 ${percentile(ours.apartMs, 0.99).toFixed(1)} ms, last of many ${ours.lastMs.toFixed(0)} ms; many stored: ${percentile(amongMany.apartMs, 0.99).toFixed(1)} ms, ${amongMany.lastMs.toFixed(0)} ms`,
      )
    }
    return rows.list()
  },
}
