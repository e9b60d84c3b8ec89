import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createArchive, folderStore } from '@muster/archive'
import { importArchive } from '@muster/db'
import { RETENTION_DAYS } from '@muster/domain'
import type { Evidence } from './checks/check.ts'

/** What retention drops, and what belongs to it. The search index is derived, and is computed again. */
const TABLES = [
  'subtasks',
  'attempts',
  'evaluations',
  'judgements',
  'bodies',
  'updates',
  'questions',
  'inbox',
  'injection_claims',
  'deliveries',
  'session_messages',
  'schedule_slots',
  'events',
  'steps',
] as const

/** By then everything is older than it is kept. */
const PASSES_DAYS = 400
/** So many workers are killed while they archive and drop. */
const KILLS = 3
/** A process goes on for so long at once, unless another one has the lock. */
const PASS_MAX_MS = 10_000
const DROPPED_MAX_MS = 180_000

const ARCHIVED_FIRST = 'what retention drops was archived before'

/**
 * When all else was checked and the load is over: more than a year passes, and workers are killed while they archive and drop what is too old by then. The
 * processes are alive before and after.
 */
export async function passAYear({ system, admin, ledger, findings }: Evidence, log: (line: string) => void): Promise<void> {
  const selects = TABLES.map((table) => `select '${table}' as name, md5(to_jsonb(x)::text) as hash from ${table} x`)
  await admin.unsafe(`create table chaos.before as ${selects.join(' union all ')}`)
  await admin.begin(async (tx) => {
    // In one commit: a process that found no partitions for its time would report that.
    await tx`update muster_system.clock set shift = shift + make_interval(days => ${PASSES_DAYS})`
    await tx`select muster_ensure_partitions()`
  })
  const startedAt = performance.now()
  for (let nth = 1; ; nth += 1) {
    const left = await countDue(admin)
    if (nth > KILLS && left === 0) break
    if (performance.now() - startedAt > DROPPED_MAX_MS) {
      findings.broke('retention comes to its end', `after ${DROPPED_MAX_MS / 1_000} s there are ${left} rows and partitions whose time is over`)
      break
    }
    await killAndRestart(system)
    // One that has started looks at once for what is to be dropped; the others do so once a minute.
    const files = countFiles(system.archive)
    const until = performance.now() + PASS_MAX_MS
    const isMidway = nth < KILLS ? () => countFiles(system.archive) > files : async () => (await countDue(admin)) === 0
    while (!(await isMidway()) && performance.now() < until) await sleep(5)
  }
  findings.looked('retention comes to its end', 1)
  log(`${PASSES_DAYS} days have passed; the archive has ${countFiles(system.archive)} files after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)

  const kept = new Set((await admin<{ id: string }[]>`select id from session_messages`).map(({ id }) => id))
  const archived = await archivedIds(system.archive)
  findings.none(
    ARCHIVED_FIRST,
    ledger.oldMessages.length,
    ledger.oldMessages.filter((id) => !kept.has(id) && !archived.has(id)).map((id) => `message ${id} is not stored and not archived`),
  )
  const stored = await countBefore(admin)
  const bodies = await admin<{ id: string; is_orphan: boolean }[]>`
    select id, not exists (select from subtasks where result_body_id = b.id or continuation_body_id = b.id) and not exists (select from session_messages where body_id = b.id)
      and not exists (select from evaluations where output_body_id = b.id) as is_orphan from bodies b`
  const others = await admin<{ what: string }[]>`
    select 'attempt of ' || subtask_id as what from attempts a where not exists (select from subtasks where id = a.subtask_id)
    union all select 'evaluation ' || id from evaluations e where subtask_id is not null and not exists (select from subtasks where id = e.subtask_id)
    union all select 'question ' || id from questions q where subtask_id is not null and not exists (select from subtasks where id = q.subtask_id)`
  findings.none('retention leaves nothing that belongs to what it drops', stored, [
    ...bodies.filter((body) => body.is_orphan).map(({ id }) => `body ${id}`),
    ...others.map(({ what }) => what),
  ])
}

/** When all processes have ended: what was dropped comes back from the archive as it was. */
export async function importAYear({ system, admin, findings }: Evidence): Promise<void> {
  const url = new URL(system.postgres.adminUrl)
  url.pathname = '/muster'
  const archive = createArchive(folderStore(system.archive))
  const first = await importArchive(url.href, archive)
  const again = await importArchive(url.href, archive)
  const selects = TABLES.map((table) => `select '${table}' as name, md5(to_jsonb(x)::text) as hash from ${table} x`)
  const missing = await admin.unsafe<{ name: string; count: number }[]>(
    `select name, count(*)::int as count from (select name, hash from chaos.before except select * from (${selects.join(' union all ')}) as now) as gone group by 1`,
  )
  findings.none(
    'an import of the archive brings back every row as it was before it was dropped',
    Object.values(first.inserted).reduce((sum, count) => sum + count, 0) === 0 ? 0 : await countBefore(admin),
    missing.map(({ name, count }) => `${count} rows of ${name}`),
  )
  findings.none(
    'an import that is repeated inserts nothing',
    again.present,
    Object.entries(again.inserted).flatMap(([table, count]) => (count > 0 ? [`${count} rows of ${table}`] : [])),
  )
}

async function killAndRestart({ workers }: Evidence['system']): Promise<void> {
  const [worker] = workers
  const life = worker?.life
  worker?.signal('SIGKILL')
  while (worker?.life === life) await sleep(20)
  await worker?.ready()
}

async function countBefore(admin: Evidence['admin']): Promise<number> {
  const [row] = await admin<{ count: number }[]>`select count(*)::int as count from chaos.before`
  return row?.count ?? 0
}

/** Rows and partitions whose time is over, as the functions of the database see it. */
async function countDue(admin: Evidence['admin']): Promise<number> {
  const first = '00000000-0000-0000-0000-000000000000'
  const [row] = await admin<{ due: number }[]>`
    select (
      (select count(*) from muster_expired('inbox', ${RETENTION_DAYS.inbox}, ${first}, 10) where is_expired)
      + (select count(*) from muster_expired('deliveries', ${RETENTION_DAYS.deliveries}, ${first}, 10) where is_expired)
      + (select count(*) from muster_expired('session_messages', ${RETENTION_DAYS.messages}, ${first}, 10) where is_expired)
      + (select count(*) from muster_expired('subtasks', ${RETENTION_DAYS.subtasks}, ${first}, 1000) where is_expired)
      + (select count(*) from muster_due_partitions(${RETENTION_DAYS.events}, ${RETENTION_DAYS.steps}))
      + (select count(*) from muster_early_projects('events', ${RETENTION_DAYS.events}))
    )::int as due`
  return row?.due ?? 0
}

function countFiles(folder: string): number {
  return readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.manifest.json')).length
}

/** Ids of messages in the archive, whose checksums are verified on the way. */
async function archivedIds(folder: string): Promise<Set<string>> {
  const archive = createArchive(folderStore(folder))
  const ids = new Set<string>()
  for await (const entry of archive.entries()) {
    if (!('session_messages' in entry.tables)) continue
    for (const { table, line } of await archive.read(entry)) if (table === 'session_messages') ids.add((JSON.parse(line) as { id: string }).id)
  }
  return ids
}
