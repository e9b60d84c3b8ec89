import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender, OpenContender } from '../contenders/contender.ts'
import { GRAPHILE, graphile } from '../contenders/graphile.ts'
import { AGENTS, muster } from '../contenders/muster.ts'
import { pgBossBursting } from '../contenders/pg-boss.ts'
import { machineMs } from '../instrument/clock.ts'
import { all, atLeast, atMost, type Bench, type Figure, Rows, timesPeer } from '../instrument/figure.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { steadyRate } from '../instrument/statistics.ts'

const WORKERS = { slots: 100, runMs: 0 }
const PG_BOSS = pgBossBursting.name as string
const RATE = 200

/** How many transactions the processes commit while some work is done, from their start to their end. */
async function countTransactions(bench: Bench, contender: Contender, database: BenchDatabase, work: (opened: OpenContender) => Promise<void>) {
  const before = await bench.server.transactions(database)
  const startMs = machineMs()
  {
    await using opened = await contender.open(bench, database, WORKERS)
    await work(opened)
  }
  const seconds = (machineMs() - startMs) / 1_000
  return { transactions: (await bench.server.transactions(database)) - before, seconds }
}

/** Everything that was spawned has come to its end, with its inbox item, and nothing else is there. */
async function requireSettled({ admin }: BenchDatabase, count: number): Promise<void> {
  const untilMs = machineMs() + 10_000
  for (;;) {
    const [row] = await admin<{ completed: number; inbox: number; pending: number }[]>`
      select count(*) filter (where status = 'completed')::int as completed, count(*) filter (where status <> 'completed')::int as pending,
        (select count(*)::int from inbox) as inbox from subtasks`
    if (row?.completed === count && row.inbox === count && row.pending === 0) return
    if (machineMs() > untilMs)
      throw new Error(`of ${count} subtasks, ${row?.completed} are completed, ${row?.pending} are not, and ${row?.inbox} are in an inbox`)
    await sleep(50)
  }
}

export const lifecycle: Figure = {
  name: 'lifecycle',
  title: `claim, lease, settle with result, inbox and events, of runs that do nothing; one worker process, 100 slots, ${AGENTS} agents`,
  raised: 'SUBTASK_WORKERS=100',
  async measure(bench) {
    const rows = new Rows()
    const [many, first] = [bench.size(12_000, 2_000), bench.size(2_000, 500)]
    for (let run = 1; run <= bench.runs; run += 1) {
      const add = async (contender: Contender) => {
        await using database = await contender.prepare(bench)
        const idle = await countTransactions(bench, contender, database, () => sleep(bench.size(3_000, 1_000)))
        const idlePerSecond = idle.transactions / idle.seconds
        let rate = 0
        const full = await countTransactions(bench, contender, database, async (opened) => {
          await opened.preload(first)
          await opened.entries(first)
          await opened.preload(many)
          rate = steadyRate((await opened.entries(many)).map((entry) => entry.enteredMs))
          if (contender.name === null) await requireSettled(database, first + many)
        })
        const each = (full.transactions - idlePerSecond * full.seconds) / (first + many)
        const seconds = bench.size(7, 1)
        const calm = await countTransactions(bench, contender, database, async (opened) => {
          await opened.entries((await opened.load(RATE, seconds)).ids.length)
          if (contender.name === null) await requireSettled(database, first + many + RATE * seconds)
        })
        const calmEach = (calm.transactions - idlePerSecond * calm.seconds) / (RATE * seconds)
        rows.add({ label: 'whole lifecycle', unit: '/s', better: 'higher', goal: all(atLeast(7_000, '/s'), timesPeer(1.3, GRAPHILE)) }, contender.name, rate)
        rows.add({ label: 'transactions a subtask at saturation', unit: '', better: 'lower', goal: atMost(1) }, contender.name, each)
        rows.add({ label: `transactions a subtask at ${RATE}/s, spawn included`, unit: '', better: 'lower', goal: atMost(6) }, contender.name, calmEach)
        rows.add({ label: 'transactions a second, idle', unit: '/s', better: 'lower', goal: null }, contender.name, idlePerSecond)
        bench.log(
          `run ${run}, ${contender.name ?? 'muster'}: ${Math.round(rate)}/s, transactions ${each.toFixed(2)} each, ${calmEach.toFixed(2)} at ${RATE}/s, ${idlePerSecond.toFixed(0)}/s idle`,
        )
      }
      await add(muster)
      await bench.peer(GRAPHILE, () => add(graphile), { holdsGoal: true })
      await bench.peer(PG_BOSS, () => add(pgBossBursting))
    }
    return rows.list()
  },
}
