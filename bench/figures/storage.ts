import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@muster/db'
import { openActor, readEvents } from '@muster/usecases'
import { muster } from '../contenders/muster.ts'
import { atMost, type Bench, countText, type Figure, Rows } from '../instrument/figure.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { percentile } from '../instrument/statistics.ts'

const RATE = 200
/** The most that a project may keep, where each partition holds a day. */
const PARTITIONS = 365
const FOLLOWERS = 150
const READS_EACH = 20

interface Relation {
  name: string
  kind: 'table' | 'index'
  bytes: number
}

/** What tables with their texts, and indexes, take up. Those of a partition count for its parent. */
async function relations({ admin }: BenchDatabase): Promise<Map<string, Relation>> {
  const rows = await admin<{ name: string; kind: Relation['kind']; bytes: string }[]>`
    select kind, name, sum(bytes) as bytes from (
      select 'table' as kind, coalesce((select p.relname from pg_inherits i join pg_class p on p.oid = i.inhparent where i.inhrelid = c.oid), c.relname) as name,
        pg_table_size(c.oid) as bytes
      from pg_class c where c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace) and c.relkind = 'r'
      union all
      select 'index', coalesce((select p.relname from pg_inherits i join pg_class p on p.oid = i.inhparent where i.inhrelid = c.oid), c.relname), pg_relation_size(c.oid)
      from pg_class c where c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace) and c.relkind = 'i'
    ) as sizes group by 1, 2`
  return new Map(rows.map(({ name, kind, bytes }) => [`${kind} ${name}`, { name, kind, bytes: Number(bytes) }]))
}

/** Bytes that the smallest subtask leaves behind, by table and index: without a parent session, a result of a few words. */
async function measureLifecycle(bench: Bench, database: BenchDatabase): Promise<{ bytes: number; parts: Relation[] }> {
  const seconds = bench.size(60, 5)
  const { admin } = database
  const settle = async () => {
    await admin`vacuum (analyze)`
    await admin`checkpoint`
  }
  await settle()
  const before = await relations(database)
  const [counted] = await admin<{ count: number }[]>`select count(*)::int as count from subtasks`
  {
    await using opened = await muster.open(bench, database, { capacity: 50, runMs: 0 })
    await opened.load(RATE, seconds)
    // Memory reads the log some seconds later.
    for (let rest = 1; rest > 0; await sleep(500)) {
      const [row] = await admin<{ rest: number }[]>`select (select count(*) from subtasks)::int - (select count(*) from episode_words)::int as rest`
      rest = row?.rest ?? 0
    }
  }
  await settle()
  const [row] = await admin<{ count: number }[]>`select count(*)::int as count from subtasks`
  const subtasks = (row?.count ?? 0) - (counted?.count ?? 0)
  const parts = [...(await relations(database))]
    .map(([key, relation]) => ({ ...relation, bytes: (relation.bytes - (before.get(key)?.bytes ?? 0)) / subtasks }))
    .filter(({ bytes }) => bytes >= 1)
    .toSorted((a, b) => b.bytes - a.bytes)
  return { bytes: parts.reduce((sum, part) => sum + part.bytes, 0), parts }
}

/** Reads at the end of a log of as many partitions as there may be, by many followers at once, and the locks that they held at the most. */
async function measureReads({ admin, appUrl }: BenchDatabase): Promise<{ fromAskedMs: number[]; locks: number }> {
  const { projectId } = openActor()
  for (let part = 0; part < PARTITIONS; part += 1) {
    await admin`
      select muster_system.add_partition('events', 'events_bench_' || p.to_key, p.to_key, p.to_key + 1000)
      from (select max(to_key) as to_key from muster_system.partitions where parent = 'events') as p`
  }
  await admin`
    insert into events (project_id, seq, type, subject_kind, subject_id, data, actor_kind, actor_id, at)
    select ${projectId}, p.from_key + n, 'subtask.created', 'subtask', gen_random_uuid(), '{}', 'system', 'bench', now()
    from muster_system.partitions p, generate_series(0, 99) as n where p.name like 'events_bench_%'`
  await admin`select setval('muster_system.event_seq', (select max(seq) from events))`
  await admin`analyze events`
  const [newest] = await admin<{ seq: string }[]>`select max(seq) as seq from events`
  const latest = Number(newest?.seq)
  const pool = { connectionsMax: 20, applicationName: 'muster-bench-reads' }
  const [db, dispatchDb] = [connect(appUrl, { ...pool, role: 'muster_app' }), connect(appUrl, { ...pool, role: 'muster_dispatch' })]
  const ctx = { db, dispatchDb, actor: openActor() } as Parameters<typeof readEvents>[0]
  let [locks, isReading] = [0, true]
  const watch = async () => {
    while (isReading) {
      const [row] = await admin<{ count: number }[]>`
        select coalesce(max(count), 0)::int as count from (
          select count(*) from pg_locks l join pg_stat_activity a using (pid) where a.application_name = 'muster-bench-reads' and l.locktype = 'relation' group by pid
        ) as held`
      locks = Math.max(locks, row?.count ?? 0)
    }
  }
  try {
    const watching = watch()
    const fromAskedMs: number[] = []
    const follow = async (follower: number) => {
      for (let read = 0; read < READS_EACH; read += 1) {
        const startMs = performance.now()
        const events = await readEvents(ctx, { afterSeq: latest - 50 - (follower % 40), limit: 200 })
        if (events.length < 50) throw new Error(`a follower read ${events.length} events`)
        fromAskedMs.push(performance.now() - startMs)
      }
    }
    await Promise.all(Array.from({ length: FOLLOWERS }, (_, follower) => follow(follower)))
    isReading = false
    await watching
    return { fromAskedMs, locks }
  } finally {
    isReading = false
    await Promise.all([db.close(), dispatchDb.close()])
  }
}

export const storage: Figure = {
  name: 'storage',
  title: `bytes that the smallest subtask leaves behind; and reads of the log by ${FOLLOWERS} followers at ${PARTITIONS} partitions`,
  raised: 'SUBTASK_WORKERS=50',
  notes: ['150 followers read at once over 20 connections, so most of their time is waiting for one'],
  async measure(bench) {
    const rows = new Rows()
    for (let run = 1; run <= bench.runs; run += 1) {
      await using database = await bench.server.musterDatabase()
      const { bytes, parts } = await measureLifecycle(bench, database)
      rows.add({ label: 'bytes kept of the smallest subtask', unit: 'bytes', better: 'lower', goal: atMost(10_000, 'bytes') }, null, Math.round(bytes))
      for (const { kind, name, bytes: size } of parts) bench.log(`${String(Math.round(size)).padStart(6)}  ${kind} ${name}`)
      const { fromAskedMs, locks } = await measureReads(database)
      const label = `${countText(PARTITIONS)} partitions`
      rows.add({ label: `${label}: locks of one transaction that reads the log`, unit: '', better: 'lower', goal: atMost(20) }, null, locks)
      rows.add(
        { label: `${label}: a page for one of ${FOLLOWERS} followers, p99`, unit: 'ms', better: 'lower', goal: null },
        null,
        percentile(fromAskedMs, 0.99),
      )
      bench.log(`run ${run}: ${Math.round(bytes)} bytes, ${locks} locks, p99 ${percentile(fromAskedMs, 0.99).toFixed(0)} ms`)
    }
    return rows.list()
  },
}
