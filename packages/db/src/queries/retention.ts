// SQL: calls of functions of the database, which read and drop what no role of ours may.
import type { ArchivedRow, RetentionKind } from '@muster/domain'
import { type Database, pipeline, type Tx } from '../client.ts'
import { planForValues } from './core/lists.ts'

/** The tables that are divided by time. */
export type PartitionedKind = Extract<RetentionKind, 'events' | 'steps'>

/** The tables from which rows expire one by one, with what belongs to each row. */
export const NOUNS = ['inbox', 'injection_claims', 'deliveries', 'session_messages', 'evaluations', 'schedule_slots', 'subtasks'] as const
export type Noun = (typeof NOUNS)[number]

/** Not one of the relay's, of maintenance, or of the claims of deliveries (3). */
const RETENTION_LOCK = 5

/**
 * Runs `work` in the only process that does so: a lock of a session, which ends with its connection, so that nothing has to be released after a crash. Null
 * if another process has it.
 */
export async function alone<T>(database: Database, work: () => Promise<T>): Promise<T | null> {
  const connection = await database.sql.reserve()
  try {
    const [row] = await connection<{ held: boolean }[]>`select pg_try_advisory_lock(7300, ${RETENTION_LOCK}) as held`
    if (row?.held !== true) return null
    try {
      return await work()
    } finally {
      // If the connection is gone, so is the lock.
      await connection`select pg_advisory_unlock(7300, ${RETENTION_LOCK})`.catch(() => undefined)
    }
  } finally {
    connection.release()
  }
}

export interface DuePartition {
  name: string
  parent: PartitionedKind
  isArchived: boolean
  /** The place of the last archived row, `(block,row)`; null before the first. */
  archivedPlace: string | null
  /** As the planner's statistics know it. */
  rowsAbout: number
  bytes: number
}

/** Partitions whose rows are all older than the server keeps them, oldest first. */
export async function duePartitions({ sql }: Pick<Tx, 'sql'>, days: Record<PartitionedKind, number>): Promise<DuePartition[]> {
  return await sql<DuePartition[]>`
    select name, parent, is_archived as "isArchived", archived_place::text as "archivedPlace", rows_about as "rowsAbout", bytes from muster_due_partitions(${days.events}, ${days.steps})`
}

/** Rows of a partition after a place in it. */
export async function partitionRows({ sql }: Pick<Tx, 'sql'>, name: string, after: string, most: number): Promise<{ place: string; line: string }[]> {
  return await sql<{ place: string; line: string }[]>`select place::text, line from muster_partition_rows(${name}, ${after}::text::tid, ${most})`
}

export async function noteArchived({ sql }: Pick<Tx, 'sql'>, name: string, through: string | null, isComplete: boolean): Promise<void> {
  await sql`select muster_note_archived(${name}, ${through}::text::tid, ${isComplete})`
}

/** Longest time in which the rows of a partition that stay are copied, in milliseconds. */
const DROP_MS = 900_000

/**
 * Drops a partition, or replaces it by one with the rows that stay. Null if there is none.
 *
 * @throws lock_not_available (55P03) if another transaction holds the table, such as a dump: nothing has changed
 */
export async function dropPartition(tx: Tx, name: string, days: number): Promise<{ kept: number; isChanged: boolean } | null> {
  await tx.sql.unsafe(`set local statement_timeout = ${DROP_MS}`)
  const [row] = await tx.sql<{ kept: number; isChanged: boolean }[]>`select kept, is_changed as "isChanged" from muster_drop_partition(${name}, ${days})`
  return row ?? null
}

/** Projects of which rows may expire before their partition does, with the days for which they keep them. Which have such rows, `earlyRows` says. */
export async function earlyProjects({ sql }: Pick<Tx, 'sql'>, parent: PartitionedKind, days: number): Promise<{ projectId: string; days: number }[]> {
  return await sql<{ projectId: string; days: number }[]>`select project_id as "projectId", days from muster_early_projects(${parent}, ${days})`
}

/** The oldest rows that a project of `earlyProjects` does not keep. */
export async function earlyRows(
  { sql }: Pick<Tx, 'sql'>,
  parent: PartitionedKind,
  project: { projectId: string; days: number },
  most: number,
): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`select line from muster_expired_rows(${parent}, ${project.projectId}, ${project.days}, ${most}, false)`
  return rows.map(({ line }) => line)
}

/** Deletes what `earlyRows` returns for the same arguments. Returns how many. */
export async function deleteEarlyRows(
  { sql }: Pick<Tx, 'sql'>,
  parent: PartitionedKind,
  project: { projectId: string; days: number },
  most: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from muster_expired_rows(${parent}, ${project.projectId}, ${project.days}, ${most}, true)`
  return row?.count ?? 0
}

/** The next rows of a noun after an id, and whether their time is over. Fewer than `most`: the rest is younger than any project keeps it. */
export async function findExpired(
  { sql }: Pick<Tx, 'sql'>,
  noun: Noun,
  days: number,
  after: string,
  most: number,
): Promise<{ id: string; projectId: string; isExpired: boolean }[]> {
  return await sql<{ id: string; projectId: string; isExpired: boolean }[]>`
    select id, project_id as "projectId", is_expired as "isExpired" from muster_expired(${noun}, ${days}, ${after}, ${most})`
}

/** Those rows and all that belongs to them, in the project of the transaction. */
export async function rowsOf({ sql }: Pick<Tx, 'sql'>, noun: Noun | ScopeNoun, ids: readonly string[]): Promise<ArchivedRow[]> {
  return await sql<ArchivedRow[]>`select name as table, line from muster_take(${noun}, ${ids as string[]}::uuid[], false, null)`
}

/**
 * Deletes those rows with all that belongs to them, and returns the table of each. With `expiredAfterDays` only those whose time is over at this moment.
 *
 * @returns `bytes`: the length of a text that was stored beside its row; null for other rows
 */
export async function remove(
  { sql }: Pick<Tx, 'sql'>,
  noun: Noun | ScopeNoun,
  ids: readonly string[],
  expiredAfterDays: number | null,
): Promise<{ table: string; bytes: number | null }[]> {
  return await sql<{ table: string; bytes: number | null }[]>`
    select name as table, case name when 'bodies' then octet_length((line::json ->> 'bytes')::bytea) end as bytes
    from muster_take(${noun}, ${ids as string[]}::uuid[], true, ${expiredAfterDays}::int)`
}

/** Whose data: all of the project, or of a session or an agent of it. */
export type DataScope = { kind: 'project' } | { kind: 'session' | 'agent'; name: string }

/** What is taken in batches, in this order: each row with all that belongs to it. */
export const SCOPE_NOUNS = ['subtasks', 'tasks', 'session_messages', 'evaluations', 'schedules'] as const
export type ScopeNoun = (typeof SCOPE_NOUNS)[number]

/** Ids of a noun in a scope, after an id. */
export async function idsInScope(
  { sql }: Pick<Tx, 'sql'>,
  projectId: string,
  scope: DataScope,
  noun: ScopeNoun,
  after: string,
  most: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select x.id from ${sql(noun)} x where x.project_id = ${projectId} and x.id > ${after} and ${belongsTo(sql, scope, noun)} order by x.id limit ${most}`
  return rows.map(({ id }) => id)
}

function belongsTo(sql: Tx['sql'], scope: DataScope, noun: ScopeNoun) {
  // Those of subtasks, tasks and messages go with them.
  const alone = noun === 'evaluations' ? sql`x.subtask_id is null and x.task_id is null and x.message_id is null` : sql`true`
  if (scope.kind === 'project') return alone
  if (scope.kind === 'agent') return noun === 'subtasks' || noun === 'schedules' ? sql`x.agent_id = ${scope.name}` : sql`false`
  if (noun === 'subtasks') {
    return sql`(x.parent_session_id = ${scope.name} or x.task_id in (select t.id from tasks t where t.project_id = x.project_id and t.parent_session_id = ${scope.name}))`
  }
  return noun === 'tasks' || noun === 'schedules' ? sql`x.parent_session_id = ${scope.name}` : sql`x.session_id = ${scope.name} and ${alone}`
}

/** How many subtasks, tasks and schedules of a scope have not ended. */
export async function liveInScope(
  { sql }: Pick<Tx, 'sql'>,
  projectId: string,
  scope: DataScope,
): Promise<{ subtasks: number; tasks: number; schedules: number }> {
  const [row] = await sql<{ subtasks: number; tasks: number; schedules: number }[]>`
    select (select count(*) from subtasks x where x.project_id = ${projectId} and x.completed_at is null and ${belongsTo(sql, scope, 'subtasks')}) as subtasks,
      (select count(*) from tasks x where x.project_id = ${projectId} and x.completed_at is null and ${belongsTo(sql, scope, 'tasks')}) as tasks,
      (select count(*) from schedules x where x.project_id = ${projectId} and x.state in ('active', 'paused') and ${belongsTo(sql, scope, 'schedules')}) as schedules`
  return row ?? { subtasks: 0, tasks: 0, schedules: 0 }
}

/** What else belongs to a scope. */
export async function restOfScope({ sql }: Pick<Tx, 'sql'>, scope: DataScope, removes: boolean): Promise<ArchivedRow[]> {
  return await sql<ArchivedRow[]>`select name as table, line from muster_take_scope(${scope.kind}, ${'name' in scope ? scope.name : null}, ${removes})`
}

/** Names of the partitions of the log, oldest first. */
export async function eventPartitions({ sql }: Pick<Tx, 'sql'>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select name from muster_system.partitions where parent = 'events' order by from_key`
  return rows.map(({ name }) => name)
}

/** Deletes events about some subjects from a partition, or all events of the project of the transaction. Returns how many: fewer than `most` means all. */
export async function removeEvents({ sql }: Pick<Tx, 'sql'>, partition: string, subjects: readonly string[] | null, most: number): Promise<number> {
  const [row] = await sql<{ removed: number }[]>`select muster_remove_events(${partition}, ${subjects as string[] | null}::uuid[], ${most}) as removed`
  return row?.removed ?? 0
}

/** Events as rows, after a place of the log. */
export async function eventRows(
  tx: Tx,
  projectId: string,
  subjects: readonly string[] | null,
  afterSeq: number,
  most: number,
): Promise<{ seq: number; line: string }[]> {
  const about = subjects === null ? tx.sql`true` : tx.sql`x.subject_id = any(${subjects as string[]}::uuid[])`
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.sql<{ seq: number; line: string }[]>`
      select x.seq, to_jsonb(x)::text as line from events x where x.project_id = ${projectId} and x.seq > ${afterSeq} and ${about} order by x.seq limit ${most}`,
  ])
  return rows
}

/** The id of this database, which it keeps when it is dumped and restored. */
export async function databaseId({ sql }: Pick<Tx, 'sql'>): Promise<string> {
  const [row] = await sql<{ id: string }[]>`select id from muster_system.identity`
  if (row === undefined) throw new Error('the database has no identity')
  return row.id
}

/** Those of some tasks that ended so long ago that their folder is kept no longer, of any project. */
export async function findOutlivedTasks({ sql }: Pick<Tx, 'sql'>, ids: readonly string[], days: number): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`select id from muster_outlived_tasks(${ids as string[]}::uuid[], ${days})`
  return new Set(rows.map(({ id }) => id))
}

/** Those of some tasks and subtasks that exist, of any project. */
export async function findExisting({ sql }: Pick<Tx, 'sql'>, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select muster_find_tasks(${ids as string[]}::uuid[]) as id union all select id from subtasks where id = any(${ids as string[]}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}
