import { randomUUID } from 'node:crypto'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import type postgres from 'postgres'
import { copyRows, type Field } from './copy.ts'
import { seedFinished } from './finished.ts'

const EVENTS_PER_SUBTASK = 3
const STEPS_PER_SUBTASK = 2
/** The tables that finished subtasks fill. */
const SEEDED = ['subtasks', 'attempts', 'events', 'steps', 'inbox', 'evaluations']
const TABLES = ['subtasks', 'attempts', 'events', 'steps', 'inbox', 'evaluations', 'updates', 'tasks', 'projects', 'pgboss.job']

/** Finished subtasks with what a run leaves: attempt, events, steps, a read inbox item and an evaluation. Answers some of their ids. */
export async function seedStored(sql: postgres.Sql, count: number, agents: number): Promise<string[]> {
  return await withoutIndexes(sql, SEEDED, async (session) => await storeFinished(session, count, agents))
}

/** The server makes the rows itself from those of `subtasks`, in the order of their primary keys, which inbox items and evaluations share. */
async function storeFinished(sql: postgres.Sql, count: number, agents: number): Promise<string[]> {
  const ids = await seedFinished(sql, count, agents)
  await sql`
    insert into inbox (project_id, id, session_id, subtask_id, created_at, delivered_at)
    select project_id, id, parent_session_id, id, completed_at, completed_at from subtasks where worker_id = 'seeded' order by id`
  // The log is in the order of the ends, and its partitions are made as maintenance makes them.
  const [{ seq = 0 } = {}] = await sql<{ seq: number }[]>`select last_value::float8 as seq from muster_system.event_seq`
  const rows = count * EVENTS_PER_SUBTASK
  for (let from = Math.floor(seq / 500_000) * 500_000; from <= seq + rows; from += 500_000) {
    await sql`
      select muster_system.add_partition('events', ${`events_grown_${from}`}, ${from}::bigint, ${from + 500_000}::bigint)
      where not exists (select from muster_system.partitions where parent = 'events' and from_key < ${from + 500_000} and to_key > ${from})`
  }
  await sql`
    insert into events (project_id, seq, type, subject_kind, subject_id, data, actor_kind, actor_id, at)
    select project_id, nextval('muster_system.event_seq'), (array['subtask.created', 'subtask.started', 'subtask.completed'])[k], 'subtask', id, '{}', 'worker', 'seeded', completed_at
    from (select * from subtasks where worker_id = 'seeded' order by id) s, generate_series(1, ${EVENTS_PER_SUBTASK}) k`
  await sql`
    insert into steps (project_id, subtask_id, seq, attempt, kind, content)
    select project_id, id, k, 1, 'message', '"The file was read."' from (select * from subtasks where worker_id = 'seeded' order by id) s, generate_series(1, ${STEPS_PER_SUBTASK}) k`
  await sql`
    insert into evaluations (project_id, id, origin, subtask_id, session_id, score, recommendation, detail)
    select project_id, id, 'subtask', id, parent_session_id, 0.9, 'approve', '{}' from subtasks where worker_id = 'seeded' order by id`
  return ids
}

/**
 * Fills tables in a session that runs no triggers, so that their bytes count towards no quota, and builds their indexes afterwards: entry by entry, ten
 * million rows take hours. Primary keys and unique constraints stay.
 */
async function withoutIndexes<T>(sql: postgres.Sql, tables: readonly string[], fill: (session: postgres.Sql) => Promise<T>): Promise<T> {
  const session = await sql.reserve()
  try {
    await session`set session_replication_role = replica`
    await session`set synchronous_commit = off`
    await session`set maintenance_work_mem = '1GB'`
    const indexes = await session<{ name: string; definition: string }[]>`
      select i.indexrelid::regclass::text as name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as definition
      from pg_index i join unnest(${tables}::text[]) t (name) on i.indrelid = t.name::regclass
      where not exists (select from pg_constraint where conindid = i.indexrelid)`
    for (const { name } of indexes) await session.unsafe(`drop index ${name}`)
    const result = await fill(session)
    for (const { definition } of indexes) await session.unsafe(definition)
    return result
  } finally {
    await session`reset all`
    session.release()
  }
}

/** Projects beside the one that is measured, each with a finished subtask. */
export async function seedProjects(sql: postgres.Sql, count: number): Promise<void> {
  const projects = Array.from({ length: count }, () => randomUUID())
  await copyRows(
    sql,
    'public.projects',
    ['id', 'name'],
    projects.map((id): Field[] => [id, `project ${id}`]),
  )
  await sql`
    insert into subtasks (project_id, id, agent_id, parent_session_id, task, priority, runner, timeout_seconds, max_attempts, budget_max_steps, notify, status,
      final_outcome, completed_at, rank_at, attempt)
    select p.id, gen_random_uuid(), 'agent', 'session', 'task', 'normal', 'noop', 120, 2, 50, true, 'completed', 'completed', now(), now(), 1
    from projects p where p.id <> ${DEFAULT_PROJECT_ID}`
}

/** A subtask that waits for an outside worker, with so many notes that it has received. */
export async function seedNotes(sql: postgres.Sql, subtaskId: string, count: number): Promise<void> {
  await sql`
    insert into updates (project_id, id, subtask_id, seq, update_type, content, sender_kind, sender_id, status)
    select ${DEFAULT_PROJECT_ID}, gen_random_uuid(), ${subtaskId}, n, 'note', 'Leave out the files in generated/ as well.', 'key', 'seeded', 'acknowledged'
    from generate_series(1, ${count}) as n`
  await sql`update subtasks set update_seq = ${count} where id = ${subtaskId}`
}

/** Statistics and visibility as autovacuum leaves them, and a search index of memory that has nothing to catch up with. */
export async function settle(sql: postgres.Sql): Promise<void> {
  await sql`update muster_system.memory set read_seq = (select last_value from muster_system.event_seq), is_renewed = true`
  await sql.unsafe(`vacuum (analyze) ${TABLES.join(', ')}`)
  await sql`checkpoint`
}
