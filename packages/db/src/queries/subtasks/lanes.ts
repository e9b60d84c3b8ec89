import type { Tx } from '../../client.ts'

/** A part of a statement. */
type Fragment = ReturnType<Tx['sql']>

/** Limits where a project sets none of its own. */
export interface LaneDefaults {
  running: number
  pending: number
  /** Of all agents of a project together; null for no limit. */
  projectRunning: number | null
  projectPending: number | null
}

/** The limit of an agent in the project `p` of a statement: its own, or else that of all agents of the project, or else the default. */
export function agentLimit<L extends 'running' | 'pending'>(sql: Tx['sql'], limit: L, agentId: string | Fragment, defaults: Pick<LaneDefaults, L>) {
  const [own, ofEach] = [sql.unsafe(`'${limit}'`), sql.unsafe(`'{limits,${limit}_per_agent}'`)]
  return sql`coalesce((p.settings #>> array['limits', 'agents', ${agentId}, ${own}])::int, (p.settings #>> ${ofEach})::int, ${defaults[limit]})`
}

/** The limit of the project `p` of a statement over all its agents; null for none. */
export function projectLimit(sql: Tx['sql'], limit: 'running' | 'pending', defaults: LaneDefaults) {
  const byDefault = limit === 'running' ? defaults.projectRunning : defaults.projectPending
  return sql`coalesce((p.settings #>> ${sql.unsafe(`'{limits,${limit}}'`)})::int, ${byDefault}::int)`
}

/** How many slots a statement gave. */
export interface Granted {
  count: number
  /** The project limits what runs, and something waits: `grantProjectSlots` has to follow the commit. */
  isLeftToProject: boolean
}

/**
 * The queue's part of a statement that gives slots, as a common table expression: inserts the jobs of `granted(project_id, id, job_id, runner,
 * rank_at)`, which it calls `g`.
 */
export type InsertingJobs = Fragment

/**
 * Locks the lanes of these agents until the end of the transaction. Always a statement of its own: a statement that locked and
 * counted would count on a snapshot from before the wait, and limits would be passed. Sorted, so that two transactions cannot
 * wait for each other.
 */
export async function lockLanes(tx: Tx, projectId: string, agentIds: readonly string[]): Promise<void> {
  await tx.sql`
    select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended(${projectId} || '/' || agent_id, 0) as key from unnest(${agentIds as string[]}::text[]) as agent_id order by key
    ) as sorted`
}

/**
 * Locks the project's limits, where it has any, and then these lanes, in one statement. While it is held, no other transaction adds pending rows or
 * gives slots in the project; ends of runs go on, and only free slots. Locks of rows come before.
 */
export async function lockProjectLanes(tx: Tx, projectId: string, agentIds: readonly string[], defaults: LaneDefaults): Promise<void> {
  await tx.sql`
    select pg_advisory_xact_lock(key) from (
      select 0 as place, hashtextextended(${projectId}, 1) as key from projects p where p.id = ${projectId} and (
        ${projectLimit(tx.sql, 'running', defaults)} is not null
        or ${projectLimit(tx.sql, 'pending', defaults)} is not null)
      union all
      select distinct 1, hashtextextended(${projectId} || '/' || agent_id, 0) from unnest(${agentIds as string[]}::text[]) as agent_id
      order by place, key
    ) as sorted`
}

/** The agents of a project that have subtasks waiting without a slot. */
export async function findWaitingLanes(tx: Tx, projectId: string): Promise<string[]> {
  const rows = await tx.sql<{ agent_id: string }[]>`
    select distinct agent_id from subtasks where project_id = ${projectId} and status = 'pending' and not slot`
  return rows.map((row) => row.agent_id)
}

/** Projects in which anything waits for a slot: one look into the index for each of them. Across projects. */
export async function findWaitingProjects(tx: Tx): Promise<string[]> {
  const rows = await tx.sql<{ project_id: string }[]>`
    with recursive waiting as (
      (select project_id from subtasks where status = 'pending' and not slot order by project_id limit 1)
      union all
      select following.project_id from waiting cross join lateral (
        select project_id from subtasks where status = 'pending' and not slot and project_id > waiting.project_id order by project_id limit 1
      ) as following
    )
    select project_id from waiting`
  return rows.map((row) => row.project_id)
}

/** Agents of a project for which something waits although a slot is free. One look into the index for each agent that waits. */
export async function findUnderusedLanes(tx: Tx, projectId: string, defaults: LaneDefaults): Promise<string[]> {
  const rows = await tx.sql<{ agent_id: string }[]>`
    with recursive waiting as (
      (select agent_id from subtasks where project_id = ${projectId} and status = 'pending' and not slot order by agent_id limit 1)
      union all
      select following.agent_id from waiting cross join lateral (
        select agent_id from subtasks
        where project_id = ${projectId} and status = 'pending' and not slot and agent_id > waiting.agent_id order by agent_id limit 1
      ) as following
    )
    select w.agent_id from waiting w left join projects p on p.id = ${projectId}
    where (select count(*) from subtasks s where s.project_id = ${projectId} and s.agent_id = w.agent_id and s.slot)
      < ${agentLimit(tx.sql, 'running', tx.sql`w.agent_id`, defaults)}`
  return rows.map((row) => row.agent_id)
}

/**
 * Gives every free slot of these lanes to the best waiting rows, with their jobs. The lanes must be locked. Where the project limits what runs, it gives
 * nothing unless the project's limits are locked as well, and then no more than there is room for: a transaction that counts under that lock must know
 * that all others only free slots.
 *
 * @param jobs of `RunJobs.inserting`
 * @param isProjectLocked whether `lockProjectLanes` came before
 */
export async function grantPermits(
  tx: Tx,
  projectId: string,
  agentIds: readonly string[],
  defaults: LaneDefaults,
  jobs: InsertingJobs,
  isProjectLocked = false,
): Promise<Granted> {
  const [row] = await tx.sql<{ granted: number; is_left: boolean }[]>`
    with moment as materialized (select muster_now() as now),
    lane as (
      select agent_id, ${agentLimit(tx.sql, 'running', tx.sql`agent_id`, defaults)} as running_max
      from (select distinct unnest(${agentIds as string[]}::text[]) as agent_id) as a
      left join projects p on p.id = ${projectId}
    ),
    whole as materialized (
      select ${projectLimit(tx.sql, 'running', defaults)} as running_max from projects p where p.id = ${projectId}
    ),
    room as materialized (
      select case
        when w.running_max is null then null
        when not ${isProjectLocked}::boolean then 0
        else greatest(0, w.running_max - (select count(*) from subtasks s where s.project_id = ${projectId} and s.slot))
      end as places
      from whole w
    ),
    free as (
      select l.agent_id, l.running_max - (
        select count(*) from subtasks s where s.project_id = ${projectId} and s.agent_id = l.agent_id and s.slot
      ) as slots
      from lane l
    ),
    best as (
      select w.id, w.rank_at from free f cross join lateral (
        select id, rank_at from subtasks
        where project_id = ${projectId} and agent_id = f.agent_id and status = 'pending' and not slot
        order by rank_at, id limit least(greatest(f.slots, 0), (select places from room)) for update skip locked
      ) as w
    ),
    chosen as (
      select b.id from best b order by b.rank_at, b.id limit (select places from room)
    ),
    granted as (
      update subtasks s set slot = true, slot_at = moment.now, job_id = gen_random_uuid()
      -- An array, so that the rows are read by the index: with limits that are not known yet a join is planned over the whole table.
      from moment where s.id = any(array(select id from chosen))
      returning s.project_id, s.id, s.job_id, s.runner, s.rank_at
    ),
    ${jobs}
    select (select count(*)::int from granted) as granted,
      not ${isProjectLocked}::boolean and exists (select from whole where running_max is not null)
        and exists (select from subtasks s where s.project_id = ${projectId} and s.status = 'pending' and not s.slot) as is_left`
  return { count: row?.granted ?? 0, isLeftToProject: row?.is_left ?? false }
}

/**
 * Takes the slot of the lane's least urgent holder that nobody has claimed yet, if it ranks after `rankAt`. The lane must be
 * locked; the holder's job has to be deleted in the same transaction.
 */
export async function takePermitFromLater(tx: Tx, projectId: string, agentId: string, rankAt: Date): Promise<{ jobId: string; runner: string } | null> {
  const [row] = await tx.sql<{ job_id: string; runner: string }[]>`
    with holder as (
      select id, job_id, runner from subtasks
      where project_id = ${projectId} and agent_id = ${agentId} and slot and status = 'pending' and rank_at > ${rankAt.toISOString()}::timestamptz
      order by rank_at desc, id desc limit 1 for update skip locked
    )
    update subtasks s set slot = false, slot_at = null, job_id = null from holder where s.id = holder.id
    returning holder.job_id, holder.runner`
  return row === undefined ? null : { jobId: row.job_id, runner: row.runner }
}

export async function givePermit(tx: Tx, subtaskId: string, jobId: string): Promise<void> {
  await tx.sql`update subtasks set slot = true, slot_at = muster_now(), job_id = ${jobId} where id = ${subtaskId}`
}

/** A slot that nobody claims, in a lane where a row of another runner waits. */
export interface IdlePermit {
  projectId: string
  subtaskId: string
}

/** Finds slots that have gone unclaimed for `idleMs` while a row of another runner waits in the same lane. Across projects. */
export async function findIdlePermits(tx: Tx, idleMs: number): Promise<IdlePermit[]> {
  const rows = await tx.sql<{ project_id: string; id: string }[]>`
    select s.project_id, s.id from subtasks s
    where s.status = 'pending' and s.slot and s.slot_at < (select muster_now()) - ${idleMs} * interval '1 millisecond'
      -- The first and the last in an index: looking for another one would read everything that waits.
      and (
        (select min(w.runner) from subtasks w where w.project_id = s.project_id and w.agent_id = s.agent_id and w.status = 'pending' and not w.slot) <> s.runner
        or (select max(w.runner) from subtasks w where w.project_id = s.project_id and w.agent_id = s.agent_id and w.status = 'pending' and not w.slot) <> s.runner
      )
    order by s.slot_at limit 100`
  return rows.map((row) => ({ projectId: row.project_id, subtaskId: row.id }))
}

/** Locks a row that still holds an idle slot; null when it was claimed, cancelled or is being claimed. */
export async function lockIdlePermit(tx: Tx, subtaskId: string, idleMs: number): Promise<{ agentId: string; runner: string; jobId: string } | null> {
  const [row] = await tx.sql<{ agent_id: string; runner: string; job_id: string }[]>`
    select agent_id, runner, job_id from subtasks
    where id = ${subtaskId} and status = 'pending' and slot and slot_at < muster_now() - ${idleMs} * interval '1 millisecond'
    for update skip locked`
  return row === undefined ? null : { agentId: row.agent_id, runner: row.runner, jobId: row.job_id }
}

/** Moves an idle slot to the best waiting row of another runner, which has no job yet. The lane must be locked. Null when nothing waits any more. */
export async function passPermit(tx: Tx, projectId: string, holder: { subtaskId: string; agentId: string; runner: string }): Promise<string | null> {
  const [row] = await tx.sql<{ id: string }[]>`
    with heir as (
      select id from subtasks
      where project_id = ${projectId} and agent_id = ${holder.agentId} and status = 'pending' and not slot and runner <> ${holder.runner}
      order by rank_at, id limit 1 for update skip locked
    ),
    passed as (
      update subtasks s set slot = false, slot_at = null, job_id = null from heir where s.id = ${holder.subtaskId} returning s.id
    )
    update subtasks s set slot = true, slot_at = muster_now(), job_id = gen_random_uuid()
    from heir where s.id = heir.id
    returning s.id`
  return row?.id ?? null
}
