// SQL: permits are granted under the locks of lanes, at each spawn and each end of a run.
import { type LimitCeilings, limitCeilings, type Settings } from '@muster/domain'
import type { Tx } from '../../client.ts'

/** A part of a statement. */
type Fragment = ReturnType<Tx['sql']>

/** The limits of a project that sets none. */
export interface LaneDefaults {
  running: number
  pending: number
  /** Over all agents of a project; null for no limit. */
  projectRunning: number | null
  projectPending: number | null
  /** The most that a limit of a project or an agent counts for. */
  ceilings: LimitCeilings
}

/** As many as this many agents may have, where the operator sets no limit of a project. */
const AGENTS_OF_PROJECT = 20

/** The limits of this server. 0 as the limit of a project means none. */
export function laneDefaults(settings: Settings): LaneDefaults {
  const { SUBTASK_MAX_CONCURRENT: running, SUBTASK_MAX_PENDING: pending } = settings
  const ofProject = (given: number | undefined, perAgent: number) => (given === 0 ? null : (given ?? perAgent * AGENTS_OF_PROJECT))
  return {
    running,
    pending,
    projectRunning: ofProject(settings.SUBTASK_PROJECT_MAX_CONCURRENT, running),
    projectPending: ofProject(settings.SUBTASK_PROJECT_MAX_PENDING, pending),
    ceilings: limitCeilings(settings),
  }
}

/**
 * The limit of an agent in the project `p` of a statement: its own, or else that of all agents of the project, or else the default. What is stored above
 * the operator's ceiling counts as the ceiling.
 */
export function agentLimit<L extends 'running' | 'pending'>(
  sql: Tx['sql'],
  limit: L,
  agentId: string | Fragment,
  defaults: Pick<LaneDefaults, L | 'ceilings'>,
) {
  const [own, ofEach] = [sql.unsafe(`'${limit}'`), sql.unsafe(`'{limits,${limit}_per_agent}'`)]
  return sql`least(coalesce((p.settings #>> array['limits', 'agents', ${agentId}, ${own}])::int, (p.settings #>> ${ofEach})::int, ${defaults[limit]}),
    ${defaults.ceilings[limit]})`
}

/** The limit of the project `p` of a statement over all its agents, no more than the operator's ceiling; null for none. */
export function projectLimit(sql: Tx['sql'], limit: 'running' | 'pending', defaults: LaneDefaults) {
  const byDefault = limit === 'running' ? defaults.projectRunning : defaults.projectPending
  const own = sql.unsafe(`(p.settings #>> '{limits,${limit}}')::int`)
  return sql`case when ${own} is null then ${byDefault}::int else least(${own}, ${defaults.ceilings[limit]}) end`
}

/** Whether the project `p` of a statement has a budget, of its own or of an agent. */
export function hasBudget(sql: Tx['sql']) {
  return sql`(p.settings #> '{limits,budget}' is not null or p.settings @? '$.limits.agents.*.budget')`
}

/** How many permits a statement granted. */
export interface Granted {
  count: number
  /** The project has a running limit, and a subtask waits: `grantProjectPermitsSoon` has to follow the commit. */
  isLeftToProject: boolean
}

/**
 * The queue's part of a statement that gives permits, as a common table expression: inserts the jobs of `granted(project_id, id, job_id, runner,
 * rank_at)`.
 */
export type InsertingJobs = Fragment

/**
 * Locks the lanes of these agents until the end of the transaction. Always a statement of its own: a statement that locked and counted would count on
 * a snapshot from before the wait, and pass the limit. Sorted, so that two transactions cannot wait for each other.
 */
export async function lockLanes(tx: Tx, projectId: string, agentIds: readonly string[]): Promise<void> {
  await tx.sql`
    select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended(${projectId} || '/' || agent_id, 0) as key from unnest(${agentIds as string[]}::text[]) as agent_id order by key
    ) as sorted`
}

/**
 * Locks the limits of a project, if it has any, and then these lanes, in one statement. Until the end of the transaction, no other one adds pending
 * rows or grants permits in the project. Runs may end, which only frees permits and budgets. Locks of rows come before.
 *
 * @returns whether the project has a budget, which is locked as well then
 */
export async function lockProjectLanes(tx: Tx, projectId: string, agentIds: readonly string[], defaults: LaneDefaults): Promise<boolean> {
  const rows = await tx.sql<{ has_budget: boolean | null }[]>`
    select pg_advisory_xact_lock(key), (select ${hasBudget(tx.sql)} from projects p where p.id = ${projectId}) as has_budget from (
      select 0 as place, hashtextextended(${projectId}, 1) as key from projects p where p.id = ${projectId} and (
        ${projectLimit(tx.sql, 'running', defaults)} is not null
        or ${projectLimit(tx.sql, 'pending', defaults)} is not null
        or ${hasBudget(tx.sql)})
      union all
      select distinct 1, hashtextextended(${projectId} || '/' || agent_id, 0) from unnest(${agentIds as string[]}::text[]) as agent_id
      order by place, key
    ) as sorted`
  return rows[0]?.has_budget === true
}

/** The agents of a project with a subtask that waits for a permit. */
export async function findWaitingLanes(tx: Tx, projectId: string): Promise<string[]> {
  const rows = await tx.sql<{ agent_id: string }[]>`
    select distinct agent_id from subtasks where project_id = ${projectId} and status = 'pending' and not slot`
  return rows.map((row) => row.agent_id)
}

/** Projects with a subtask that waits for a permit. One look into the index for each of them. Across projects. */
export async function findWaitingProjects(tx: Pick<Tx, 'sql'>): Promise<string[]> {
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

/** An agent of a project with subtasks that run or are pending, and its limits. */
export interface Lane {
  agentId: string
  running: number
  /** Those that hold a permit, and of the others at most `PENDING_COUNTED`. */
  pending: number
  runningMax: number
  pendingMax: number
}

/** So that a reader does not pay for the length of a queue. */
const PENDING_COUNTED = 1_000

/**
 * The lanes with subtasks that run or are pending, by the names of their agents, from the one after `after`. Reads two rows of indexes to find each lane,
 * and then the rows that it counts.
 *
 * @param agentId the only agent, or null for all of them
 */
export async function listLanes(
  tx: Tx,
  projectId: string,
  { after, agentId, limit }: { after: string; agentId: string | null; limit: number },
  defaults: LaneDefaults,
): Promise<Lane[]> {
  const { sql } = tx
  const next = (name: string | Fragment) => sql`least(
    (select agent_id from subtasks where project_id = ${projectId} and slot and agent_id > ${name} order by agent_id limit 1),
    (select agent_id from subtasks where project_id = ${projectId} and status = 'pending' and not slot and agent_id > ${name} order by agent_id limit 1))`
  return await sql<Lane[]>`
    with recursive lane as (
      select 1 as nth, ${agentId === null ? next(sql`${after}::text`) : sql`${agentId}::text`} as agent_id
      union all
      select nth + 1, ${agentId === null ? next(sql`lane.agent_id`) : sql`null::text`} from lane where agent_id is not null and nth < ${limit}
    )
    select l.agent_id as "agentId", held.running, held.pending + unheld.pending as pending,
      ${agentLimit(sql, 'running', sql`l.agent_id`, defaults)} as "runningMax", ${agentLimit(sql, 'pending', sql`l.agent_id`, defaults)} as "pendingMax"
    from lane l left join projects p on p.id = ${projectId}
    cross join lateral (
      select count(*) filter (where status = 'running')::int as running, count(*) filter (where status = 'pending')::int as pending
      from subtasks s where s.project_id = ${projectId} and s.agent_id = l.agent_id and s.slot
    ) held
    cross join lateral (
      select count(*)::int as pending from (
        select from subtasks s where s.project_id = ${projectId} and s.agent_id = l.agent_id and s.status = 'pending' and not s.slot limit ${PENDING_COUNTED}
      ) counted
    ) unheld
    where l.agent_id is not null and held.running + held.pending + unheld.pending > 0
    order by l.nth`
}

/** Agents of a project with a waiting subtask and a free permit. One look into the index for each agent that waits. */
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
 * Grants every free permit of these lanes to the best waiting rows, and inserts their jobs. The lanes must be locked. In a project with a running limit
 * it grants nothing unless the limits of the project are locked as well, and then no more than that limit: the count is right only if all other
 * transactions just free permits.
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
      end as permits
      from whole w
    ),
    free as (
      select l.agent_id, l.running_max - (
        select count(*) from subtasks s where s.project_id = ${projectId} and s.agent_id = l.agent_id and s.slot
      ) as permits
      from lane l
    ),
    best as (
      select w.id, w.rank_at from free f cross join lateral (
        select id, rank_at from subtasks
        where project_id = ${projectId} and agent_id = f.agent_id and status = 'pending' and not slot
        order by rank_at, id limit least(greatest(f.permits, 0), (select permits from room)) for update skip locked
      ) as w
    ),
    chosen as (
      select b.id from best b order by b.rank_at, b.id limit (select permits from room)
    ),
    granted as (
      update subtasks s set slot = true, slot_at = moment.now, job_id = gen_random_uuid()
      -- An array, so that the rows are read by the index: a join is planned over the whole table while the limits are unknown.
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
 * Takes the permit of the least urgent unclaimed subtask of a lane, if it ranks after `rankAt`. The lane must be locked, and the job of that subtask has
 * to be deleted in the same transaction.
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

/** A permit of an unclaimed subtask in a lane where a subtask of another runner waits. */
export interface IdlePermit {
  projectId: string
  subtaskId: string
}

/** Finds permits whose subtasks have been unclaimed for `idleMs` while a subtask of another runner waits in the lane. Across projects. */
export async function findIdlePermits(tx: Pick<Tx, 'sql'>, idleMs: number): Promise<IdlePermit[]> {
  const rows = await tx.sql<{ project_id: string; id: string }[]>`
    select s.project_id, s.id from subtasks s
    where s.status = 'pending' and s.slot and s.slot_at < (select muster_now()) - ${idleMs} * interval '1 millisecond'
      -- The first and the last runner in the index: a search for any other one would read all waiting rows.
      and (
        (select min(w.runner) from subtasks w where w.project_id = s.project_id and w.agent_id = s.agent_id and w.status = 'pending' and not w.slot) <> s.runner
        or (select max(w.runner) from subtasks w where w.project_id = s.project_id and w.agent_id = s.agent_id and w.status = 'pending' and not w.slot) <> s.runner
      )
    order by s.slot_at limit 100`
  return rows.map((row) => ({ projectId: row.project_id, subtaskId: row.id }))
}

/** Locks a row that still has an idle permit; null if it was claimed or cancelled, or is being claimed. */
export async function lockIdlePermit(tx: Tx, subtaskId: string, idleMs: number): Promise<{ agentId: string; runner: string; jobId: string } | null> {
  const [row] = await tx.sql<{ agent_id: string; runner: string; job_id: string }[]>`
    select agent_id, runner, job_id from subtasks
    where id = ${subtaskId} and status = 'pending' and slot and slot_at < muster_now() - ${idleMs} * interval '1 millisecond'
    for update skip locked`
  return row === undefined ? null : { agentId: row.agent_id, runner: row.runner, jobId: row.job_id }
}

/** Moves an idle permit to the best waiting row of another runner, which has no job yet. The lane must be locked. Null if none waits any more. */
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
