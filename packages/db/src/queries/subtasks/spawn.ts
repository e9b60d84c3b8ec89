// SQL: a spawn is one statement that counts, admits, inserts and announces under the lock of its lane, and it carries the most load of all.
import { type NewEvent, PRIORITY_RANKS } from '@muster/domain'
import type { Tx } from '../../client.ts'
import { type NewAuditEntry, toAuditRecord } from '../audit-log.ts'
import type { Notice } from '../events/outbox.ts'
import { agentLimit, hasBudget, type InsertingJobs, type LaneDefaults, projectLimit } from './lanes.ts'
import { type NewSubtaskRow, names, REQUESTED, toRecord, types } from './row.ts'

const INSERTED = ['id', ...REQUESTED] as const

export interface InsertedSubtask {
  hasPermit: boolean
  createdAt: Date
  rankAt: Date
  /** Whether an unclaimed subtask with a permit ranks after this one. */
  outranksHolder: boolean
  /** Its lane has a free permit, but not its project: `grantProjectPermitsSoon` has to follow the commit. */
  isLeftToProject: boolean
}

export interface InsertOptions {
  /** Whether the budgets of the rows were reserved. If not, nothing is inserted in a project with a budget. */
  isReserved: boolean
  /** Inserts nothing if a row would be more urgent than an unclaimed one with a permit: its caller cannot move that permit. */
  takesNoPermit?: boolean
  /** Travels with the COMMIT, if a row gets a permit. */
  notice?: Notice
}

/** A subtask that is to be inserted, with its event. */
export interface WantedSubtask {
  row: NewSubtaskRow
  created: NewEvent
}

function toWanted({ row, created }: WantedSubtask, ageingSeconds: number): Record<string, unknown> {
  return {
    ...toRecord(INSERTED, row),
    rank_seconds: PRIORITY_RANKS[row.priority] * ageingSeconds,
    job_id: row.jobId,
    event: created.data,
    actor_kind: created.actor.kind,
    actor_id: created.actor.id,
  }
}

/**
 * Inserts one subtask that gets a permit, with its event, its job and its entry in the audit log, in one statement that needs no transaction around it: what
 * `insertSubtasks` does for a batch, in less time. Null where that is not the usual case, because the project has a budget, or the subtask meets a limit or
 * would wait. Nothing has changed then.
 *
 * @param queue that of its runner and project
 * @param entry null where the write leaves no entry
 * @param notice travels with the commit
 * @returns when it was created
 */
export async function insertAlone(
  { sql }: Pick<Tx, 'sql'>,
  wanted: WantedSubtask,
  { running, pending, projectRunning, projectPending, ceilings }: LaneDefaults,
  ageingSeconds: number,
  queue: string,
  entry: NewAuditEntry | null,
  notice: Notice,
): Promise<Date | null> {
  const [row] = await sql<{ created_at: string | null }[]>`
    select muster_spawn_alone(${wanted.row.projectId}::uuid, ${JSON.stringify(toWanted(wanted, ageingSeconds))}::jsonb, ${queue}::text,
      ${running}::int, ${pending}::int, ${projectRunning}::int, ${projectPending}::int, ${ceilings.running}::int, ${ceilings.pending}::int,
      ${entry === null ? null : JSON.stringify(toAuditRecord(entry))}::jsonb, ${notice.channel}::text, ${notice.text}::text) as created_at`
  return row?.created_at == null ? null : new Date(row.created_at)
}

/**
 * Inserts subtasks in their order, with their events, up to the pending limits of their lanes and their project, and grants free permits with their jobs.
 * Those that are missing in the answer met a limit. `lockProjectLanes` must come before, as a statement of its own. Counts pending rows no further than the
 * limit.
 *
 * @param jobs of `RunJobs.inserting`
 */
export async function insertSubtasks(
  tx: Tx,
  projectId: string,
  rows: readonly WantedSubtask[],
  defaults: LaneDefaults,
  ageingSeconds: number,
  jobs: InsertingJobs,
  { isReserved, takesNoPermit = false, notice }: InsertOptions,
): Promise<Map<string, InsertedSubtask>> {
  const data = rows.map((each) => toWanted(each, ageingSeconds))
  const { sql } = tx
  const inserted = await sql<{ id: string; has_permit: boolean; created_at: string; rank_at: string; outranks_holder: boolean; is_left: boolean }[]>`
    with moment as materialized (select muster_now() as now),
    wanted as materialized (
      select *, row_number() over (partition by agent_id order by place) - 1 as before
      from rows from (
        jsonb_to_recordset(${JSON.stringify(data)}::jsonb) as (
          ${sql.unsafe(types(INSERTED))}, rank_seconds int, job_id uuid, event jsonb, actor_kind text, actor_id text)
      ) with ordinality as w(${sql.unsafe(names(INSERTED))}, rank_seconds, job_id, event, actor_kind, actor_id, place)
      where ${isReserved}::boolean or not exists (select from projects p where p.id = ${projectId} and ${hasBudget(sql)})
    ),
    lane as materialized (
      select a.agent_id,
        ${agentLimit(sql, 'running', sql`a.agent_id`, defaults)} as running_max, ${agentLimit(sql, 'pending', sql`a.agent_id`, defaults)} as pending_max
      from (select distinct agent_id from wanted) as a cross join projects p where p.id = ${projectId}
    ),
    used as materialized (
      select l.*, held.permits, held.last_rank_at, held.unclaimed + (
          select count(*) from (
            select from subtasks s where s.project_id = ${projectId} and s.agent_id = l.agent_id and s.status = 'pending' and not s.slot limit l.pending_max
          ) as waiting
        ) as pending
      from lane l cross join lateral (
        select count(*) as permits, count(*) filter (where s.status = 'pending') as unclaimed, max(s.rank_at) filter (where s.status = 'pending') as last_rank_at
        from subtasks s where s.project_id = ${projectId} and s.agent_id = l.agent_id and s.slot
      ) as held
    ),
    whole as materialized (
      select ${projectLimit(sql, 'running', defaults)} as running_max, ${projectLimit(sql, 'pending', defaults)} as pending_max
      from projects p where p.id = ${projectId}
    ),
    project as materialized (
      select p.running_max, p.pending_max,
        case when p.pending_max is not null then (
          select count(*) from (select from subtasks s where s.project_id = ${projectId} and s.status = 'pending' limit p.pending_max) as waiting
        ) end as pending,
        case when p.running_max is not null then (
          select count(*) from (select from subtasks s where s.project_id = ${projectId} and s.slot limit p.running_max) as held
        ) end as permits,
        -- Subtasks that wait already may wait for the project. They come first: permits are granted by rank then, after this commit.
        p.running_max is not null and exists (select from subtasks s where s.project_id = ${projectId} and s.status = 'pending' and not s.slot) as has_queue
      from whole p
    ),
    admitted as materialized (
      select l.*, l.has_lane_permit and (p.running_max is null or not p.has_queue and p.permits + l.permits_before < p.running_max) as has_permit
      from (
        select w.*, u.permits + w.before < u.running_max as has_lane_permit,
          row_number() over (order by w.place) - 1 as rows_before,
          count(*) filter (where u.permits + w.before < u.running_max) over (order by w.place rows between unbounded preceding and 1 preceding) as permits_before
        from wanted w join used u on u.agent_id = w.agent_id
        where u.pending + w.before < u.pending_max
      ) as l cross join project p
      where p.pending_max is null or p.pending + l.rows_before < p.pending_max
    ),
    inserted as (
      insert into subtasks (project_id, ${sql.unsafe(names(INSERTED))}, created_at, rank_at, slot, slot_at, job_id)
      select ${projectId}, ${sql.unsafe(names(INSERTED, 'w'))},
        moment.now, moment.now + w.rank_seconds * interval '1 second',
        w.has_permit, case when w.has_permit then moment.now end, case when w.has_permit then w.job_id end
      from admitted w cross join moment
      where not (${takesNoPermit}::boolean and exists (
        select from admitted a join used u on u.agent_id = a.agent_id
        where not a.has_permit and (u.last_rank_at > (select now from moment) + a.rank_seconds * interval '1 second' or exists (
          select from admitted later where later.agent_id = a.agent_id and later.has_permit and later.rank_seconds > a.rank_seconds))
      ))
      order by w.place
      returning id, agent_id, runner, slot, job_id, created_at, rank_at
    ),
    granted as (
      select ${projectId}::uuid as project_id, id, job_id, runner, rank_at from inserted where slot
    ),
    ${jobs},
    notified as materialized (
      select pg_notify(${notice?.channel ?? null}, ${notice?.text ?? null}) where ${notice?.text ?? null}::text is not null and exists (select from granted)
    ),
    announced as (
      insert into outbox (project_id, batch, size, at)
      select ${projectId}, array_agg(row('subtask.created', 'subtask', i.id, null, w.event, w.actor_kind, w.actor_id)::muster_event order by w.place),
        count(*), min(moment.now)
      from inserted i join wanted w on w.id = i.id cross join moment having count(*) > 0
    )
    select i.id, i.slot as has_permit, i.created_at, i.rank_at,
      not i.slot and (u.last_rank_at > i.rank_at or exists (
        select from inserted later where later.agent_id = i.agent_id and later.slot and later.rank_at > i.rank_at)) is true as outranks_holder,
      a.has_lane_permit and not i.slot as is_left,
      -- Read by nothing else, so it would not be sent.
      (select count(*) from notified) as notified
    from inserted i join used u on u.agent_id = i.agent_id join admitted a on a.id = i.id`
  return new Map(
    inserted.map((row) => [
      row.id,
      {
        hasPermit: row.has_permit,
        createdAt: new Date(row.created_at),
        rankAt: new Date(row.rank_at),
        outranksHolder: row.outranks_holder,
        isLeftToProject: row.is_left,
      },
    ]),
  )
}

/** The limit that a new subtask of an agent meets: the agent's if that is reached, or else the project's. */
export async function findPendingLimit(
  tx: Tx,
  projectId: string,
  agentId: string,
  defaults: LaneDefaults,
): Promise<{ limit: number; limitedBy: 'agent' | 'project' }> {
  const [row] = await tx.sql<{ pending: number; agent_max: number; project_max: number | null }[]>`
    select (select count(*)::int from subtasks s where s.project_id = p.id and s.agent_id = ${agentId} and s.status = 'pending') as pending,
      ${agentLimit(tx.sql, 'pending', agentId, defaults)} as agent_max, ${projectLimit(tx.sql, 'pending', defaults)} as project_max
    from projects p where p.id = ${projectId}`
  if (row === undefined || row.project_max === null || row.pending >= row.agent_max) return { limit: row?.agent_max ?? defaults.pending, limitedBy: 'agent' }
  return { limit: row.project_max, limitedBy: 'project' }
}
