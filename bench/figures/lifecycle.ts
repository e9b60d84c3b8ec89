import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender, OpenContender } from '../contenders/contender.ts'
import { GRAPHILE, graphile } from '../contenders/graphile.ts'
import { AGENTS, muster, musterFollowed } from '../contenders/muster.ts'
import { pgBossBursting } from '../contenders/pg-boss.ts'
import { machineMs } from '../instrument/clock.ts'
import { all, atLeast, atMost, type Bench, countText, type Figure, Rows, timesPeer } from '../instrument/figure.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { steadyRate } from '../instrument/statistics.ts'

const WORKERS = { capacity: 100, runMs: 0 }
const PG_BOSS = pgBossBursting.name as string
const RATE = 200
/** Without work for as long as with it: what comes round every few seconds then comes as often. */
const calmSeconds = (bench: Bench) => bench.size(7, 1)

/** Transactions of a contender's processes from their start to their end, and how long the work took that lay in between. */
interface Committed {
  transactions: number
  seconds: number
}

async function countTransactions(
  bench: Bench,
  contender: Contender,
  database: BenchDatabase,
  work: (opened: OpenContender) => Promise<void>,
): Promise<Committed> {
  const before = await bench.server.transactions(database)
  let seconds: number
  {
    await using opened = await contender.open(bench, database, WORKERS)
    const startMs = machineMs()
    await work(opened)
    seconds = (machineMs() - startMs) / 1_000
  }
  return { transactions: (await bench.server.transactions(database)) - before, seconds }
}

/** What the processes commit without any work: by starting and ending, and in each second in between. */
interface Unasked {
  start: number
  perSecond: number
}

async function countUnasked(bench: Bench, contender: Contender, database: BenchDatabase): Promise<Unasked> {
  const start = await countTransactions(bench, contender, database, async () => {})
  const idle = await countTransactions(bench, contender, database, () => sleep(calmSeconds(bench) * 1_000))
  return { start: start.transactions, perSecond: (idle.transactions - start.transactions) / idle.seconds }
}

/** Transactions of one of so many subtasks: all of them, and those that are left without the unasked. */
interface PerSubtask {
  gross: number
  net: number
}

function perSubtask({ transactions, seconds }: Committed, unasked: Unasked, subtasks: number): PerSubtask {
  return { gross: transactions / subtasks, net: (transactions - unasked.start - unasked.perSecond * seconds) / subtasks }
}

/**
 * Everything that was spawned has come to its end, with its inbox item and its events in the log, and nothing else is there.
 *
 * @returns how many of them memory did not know at that moment. It takes their words in some seconds later, so that no rate says anything of it
 */
async function requireSettled({ admin }: BenchDatabase, count: number): Promise<number> {
  const untilMs = machineMs() + 10_000
  for (;;) {
    const [row] = await admin<{ completed: number; inbox: number; pending: number; outbox: number; remembered: number }[]>`
      select count(*) filter (where status = 'completed')::int as completed, count(*) filter (where status <> 'completed')::int as pending,
        (select count(*)::int from inbox) as inbox, (select count(*)::int from outbox) as outbox, (select count(*)::int from episode_words) as remembered
      from subtasks`
    if (row?.completed === count && row.inbox === count && row.pending === 0 && row.outbox === 0) return count - row.remembered
    if (machineMs() > untilMs)
      throw new Error(
        `of ${count} subtasks, ${row?.completed} are completed, ${row?.pending} are not, and ${row?.inbox} are in an inbox; ${row?.outbox} events are not in the log`,
      )
    await sleep(50)
  }
}

interface Lifecycle {
  perSecond: number
  unasked: Unasked
  saturated: PerSubtask
  calm: PerSubtask
  /** Null for peers, which cannot be followed. */
  followed: PerSubtask | null
}

async function measureOne(bench: Bench, contender: Contender): Promise<Lifecycle> {
  await using database = await contender.prepare(bench)
  const [many, first, seconds] = [bench.size(12_000, 2_000), bench.size(2_000, 500), calmSeconds(bench)]
  const unasked = await countUnasked(bench, contender, database)
  let perSecond = 0
  let spawned = first + many
  const full = await countTransactions(bench, contender, database, async (opened) => {
    await opened.preload(first)
    await opened.entries(first)
    await opened.preload(many)
    perSecond = steadyRate((await opened.entries(many)).map((entry) => entry.enteredMs))
    if (contender.name !== null) return
    const unknown = await requireSettled(database, spawned)
    bench.log(`when the last of ${countText(spawned)} subtasks had settled, ${countText(unknown)} of them were not in memory yet`)
  })
  const loadCalmly = async (to: Contender) => {
    const calm = await countTransactions(bench, to, database, async (opened) => {
      await opened.entries((await opened.load(RATE, seconds)).ids.length)
      spawned += RATE * seconds
      if (to.name === null) await requireSettled(database, spawned)
    })
    return perSubtask(calm, unasked, RATE * seconds)
  }
  const calm = await loadCalmly(contender)
  const followed = contender.name === null ? await loadCalmly(musterFollowed) : null
  return { perSecond, unasked, saturated: perSubtask(full, unasked, first + many), calm, followed }
}

export const lifecycle: Figure = {
  name: 'lifecycle',
  title: `claim, lease, settle with result, inbox and events, of runs that do nothing; one worker process, 100 slots, ${AGENTS} agents`,
  raised: 'SUBTASK_WORKERS=100',
  notes: [
    'the rate is that of runs that are entered while ends, inbox items, events and evaluations are written; memory takes in the words of each some seconds later',
    'pg-boss work() asks again after each job here, while more is waiting (burstWhenReadyExceeds), as it does in no other figure',
    'transactions are those of all processes, without what they commit by starting and by being there',
  ],
  async measure(bench) {
    const rows = new Rows()
    const transactions = { unit: '', better: 'lower' } as const
    for (let run = 1; run <= bench.runs; run += 1) {
      const add = async (contender: Contender) => {
        const { perSecond, unasked, saturated, calm, followed } = await measureOne(bench, contender)
        const goal = all(atLeast(4_000, '/s'), timesPeer(1.5, GRAPHILE))
        rows.add({ label: 'whole lifecycle', unit: '/s', better: 'higher', goal }, contender.name, perSecond)
        rows.add({ ...transactions, label: 'transactions a subtask at saturation', goal: atMost(1) }, contender.name, saturated.net)
        rows.add({ ...transactions, label: `transactions a subtask at ${RATE}/s, spawn included`, goal: atMost(6) }, contender.name, calm.net)
        if (followed !== null) rows.add({ ...transactions, label: `transactions a subtask at ${RATE}/s, with a follower`, goal: null }, null, followed.net)
        rows.add({ label: 'transactions a second, idle, starts apart', unit: '/s', better: 'lower', goal: null }, contender.name, unasked.perSecond)
        const show = ({ gross, net }: PerSubtask) => `${net.toFixed(2)} (of ${gross.toFixed(2)})`
        bench.log(
          `run ${run}, ${contender.name ?? 'muster'}: ${Math.round(perSecond)}/s, transactions ${show(saturated)} each, ${show(calm)} at ${RATE}/s, ` +
            `${followed === null ? '' : `${show(followed)} with a follower, `}without ${unasked.start} of start and end and ${unasked.perSecond.toFixed(0)}/s idle`,
        )
      }
      await add(muster)
      await bench.peer(GRAPHILE, () => add(graphile), { holdsGoal: true })
      await bench.peer(PG_BOSS, () => add(pgBossBursting))
    }
    return rows.list()
  },
}
