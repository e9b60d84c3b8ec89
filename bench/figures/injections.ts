import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../contenders/api.ts'
import { atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'
import { type HttpCall, type HttpLatencies, type HttpTarget, sendHttpAll, sendHttpAtRate } from '../instrument/http-rate.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { percentile } from '../instrument/statistics.ts'
import { type SeededBriefs, seedBriefs } from '../seeds/briefs.ts'

export const PER_SECOND = 500
/** Has no factor in common with any number of sessions, so that neighbours are not asked for one after the other, and all take turns. */
const STRIDE = 7_919

interface Answer {
  items: { kind: string; task_id: string }[]
}

/** The nth session. */
export const nth = (briefs: SeededBriefs, index: number) => (index * STRIDE) % briefs.sessions

function injection(briefs: SeededBriefs, index: number, expected: (items: Answer['items'], session: number) => boolean): HttpCall {
  const session = nth(briefs, index)
  return {
    method: 'POST',
    path: `/sessions/${briefs.sessionId(session)}/injections`,
    problem: (body) => (expected((JSON.parse(body) as Answer).items, session) ? undefined : 'not what this session has to receive'),
  }
}

async function measureNothingNew(api: HttpTarget, briefs: SeededBriefs, seconds: number): Promise<HttpLatencies> {
  return await sendHttpAtRate(api, PER_SECOND, seconds, (index) => injection(briefs, index, (items) => items.length === 0))
}

/** Leaves so many sessions a note each. */
export async function sendNotes(api: HttpTarget, { admin }: BenchDatabase, briefs: SeededBriefs, count: number): Promise<void> {
  await sendHttpAll(api, count, (index) => ({
    method: 'POST',
    path: `/tasks/${briefs.taskId(nth(briefs, index))}/updates`,
    body: JSON.stringify({ content: 'From now on, leave out the files in generated/ as well.' }),
  }))
  // Until the events of the notes are in the log: moving them is no part of this.
  while ((await admin`select from outbox limit 1`).length > 0) await sleep(20)
}

/** Each of the sessions has got one note since it last asked. */
async function measureUpdate(api: HttpTarget, database: BenchDatabase, briefs: SeededBriefs, seconds: number): Promise<HttpLatencies> {
  await sendNotes(api, database, briefs, PER_SECOND * seconds)
  return await sendHttpAtRate(api, PER_SECOND, seconds, (index) =>
    injection(briefs, index, (items, session) => items.length === 1 && items[0]?.kind === 'update' && items[0].task_id === briefs.taskId(session)),
  )
}

export async function seedSessions(bench: Bench, { admin }: BenchDatabase): Promise<SeededBriefs> {
  const tasks = bench.size(1_000_000, 20_000)
  const startMs = performance.now()
  const briefs = await seedBriefs(admin, tasks)
  bench.log(`stored ${tasks} tasks with five updates each, held by ${briefs.sessions} sessions, in ${((performance.now() - startMs) / 1_000).toFixed(0)} s`)
  return briefs
}

export const injections: Figure = {
  name: 'injections',
  title: `POST /sessions/{id}/injections at ${PER_SECOND}/s with key check, 1,000,000 tasks and 5,000,000 updates stored`,
  raised: 'nothing',
  notes: ['stored are tasks, assignments and updates; their events are not'],
  async measure(bench) {
    const rows = new Rows()
    await using database = await bench.server.musterDatabase()
    const briefs = await seedSessions(bench, database)
    const api = await startApi(bench, database)
    await using _ = api.process
    const target = { url: api.address, headers: api.headers }
    const seconds = bench.size(7, 1)
    // As long as it takes for the code to be compiled: a process that serves agents has been up for days.
    const warmUpSeconds = bench.size(5, 1)
    await measureNothingNew(target, briefs, warmUpSeconds)
    await measureUpdate(target, database, briefs, warmUpSeconds)
    for (let run = 1; run <= bench.runs; run += 1) {
      const add = (what: string, { fromSentMs, fromDueMs }: HttpLatencies, goals: { p50: number | null; p99: number }) => {
        const row = { unit: 'ms', better: 'lower' } as const
        const [p50, p99] = [percentile(fromSentMs, 0.5), percentile(fromSentMs, 0.99)]
        rows.add({ ...row, label: `injections, ${what}, p50`, goal: goals.p50 === null ? null : atMost(goals.p50, 'ms') }, null, p50)
        rows.add({ ...row, label: `injections, ${what}, p99`, goal: atMost(goals.p99, 'ms') }, null, p99)
        rows.add({ ...row, label: `injections, ${what}, p99 from when it was due`, goal: null }, null, percentile(fromDueMs, 0.99))
        bench.log(`run ${run}, ${what}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
      }
      add('nothing new', await measureNothingNew(target, briefs, seconds), { p50: 1.5, p99: 5 })
      add('with an update', await measureUpdate(target, database, briefs, seconds), { p50: null, p99: 10 })
    }
    return rows.list()
  },
}
