import { TERMINAL_SUBTASK_EVENTS } from '@muster/domain'
import type postgres from 'postgres'
import { BUDGETS } from './budget-invariants.ts'
import { announced, type Check, type InvariantOptions } from './check.ts'
import { DELIVERIES } from './delivery-invariants.ts'
import { EVALUATIONS } from './evaluation-invariants.ts'
import { SCHEDULES } from './schedule-invariants.ts'
import { TASKS } from './task-invariants.ts'

export type { InvariantOptions } from './check.ts'

const SHOWN = 5

/**
 * Checks everything that must hold between any two commits, whatever was killed, cut or raced: one sentence for each claim that
 * is broken, none when all is well. It sees one moment of the database, so it may be asked while work goes on.
 *
 * @param admin a superuser's connection to the database: row-level security would hide what is to be checked
 */
export async function invariants(admin: postgres.Sql, options: InvariantOptions = {}): Promise<string[]> {
  const settings = { runningPerAgent: 3, limitsHaveChanged: false, whileBusy: false, ...options }
  return await admin.begin('isolation level repeatable read read only', async (transaction) => {
    const sql = transaction as unknown as postgres.Sql
    // An error instead of an empty answer, should the login be one that sees only part of the rows.
    await sql`set local row_security = off`
    const problems: string[] = []
    for (const { claim, find } of CHECKS) {
      const rows = await find(sql, settings)
      if (rows.length === 0) continue
      const shown = rows.slice(0, SHOWN).map((row) => row.broken)
      problems.push(`${claim}: broken ${rows.length} times, by ${shown.join('; ')}${rows.length > SHOWN ? '; …' : ''}`)
    }
    return problems
  })
}

const terminalEvents = [...TERMINAL_SUBTASK_EVENTS] as string[]

const LANES: Check[] = [
  {
    claim: 'a lane has at most as many slots as its running limit',
    find: (sql, { runningPerAgent, limitsHaveChanged }) =>
      limitsHaveChanged
        ? Promise.resolve([])
        : sql`
            select format('%s/%s has %s slots of %s', project_id, agent_id, slots, running_max) as broken
            from (${lanes(sql, runningPerAgent)}) as lane where slots > running_max`,
  },
  {
    claim: 'nothing waits while its lane has a free permit',
    find: (sql, { runningPerAgent, limitsHaveChanged, whileBusy }) =>
      limitsHaveChanged || whileBusy
        ? Promise.resolve([])
        : sql`
            select format('%s/%s has %s slots of %s and %s waiting', project_id, agent_id, slots, running_max, waiting) as broken
            from (${lanes(sql, runningPerAgent)}) as lane where waiting > 0 and slots < running_max`,
  },
]

/** Slots, waiting rows and the running limit of every lane that has any. */
function lanes(sql: postgres.Sql, runningPerAgent: number): postgres.PendingQuery<postgres.Row[]> {
  return sql`
    select s.project_id, s.agent_id, count(*) filter (where slot) as slots, count(*) filter (where status = 'pending' and not slot) as waiting,
      coalesce((p.settings #>> array['limits', 'agents', s.agent_id, 'running'])::int, (p.settings #>> '{limits,running_per_agent}')::int, ${runningPerAgent}) as running_max
    from subtasks s left join projects p on p.id = s.project_id
    group by s.project_id, s.agent_id, p.settings`
}

const LOCK_STEP: Check[] = [
  {
    claim: 'a pending subtask with a permit has a waiting job',
    find: (sql) => sql`
      select format('%s (job %s is %s)', s.id, s.job_id, coalesce(j.state::text, 'missing')) as broken
      from subtasks s left join pgboss.job j on j.id = s.job_id
      where s.status = 'pending' and s.slot and j.state is distinct from 'created'`,
  },
  {
    claim: 'a running subtask has an active job',
    find: (sql) => sql`
      select format('%s (job %s is %s)', s.id, s.job_id, coalesce(j.state::text, 'missing')) as broken
      from subtasks s left join pgboss.job j on j.id = s.job_id
      where s.status = 'running' and j.state is distinct from 'active'`,
  },
  {
    claim: 'a waiting job is the job of a subtask',
    find: (sql, { whileBusy }) =>
      whileBusy
        ? Promise.resolve([])
        : sql`
            select format('job %s of subtask %s', j.id, j.data ->> 'id') as broken from pgboss.job j left join subtasks s on s.job_id = j.id
            where j.name like 'run.%' and j.state < 'active' and s.id is null`,
  },
  {
    claim: 'the subtask of a waiting job is pending, and an active job has a running subtask',
    find: (sql) => sql`
      select format('%s job %s of subtask %s, which is %s', j.state, j.id, j.data ->> 'id', coalesce(s.status, 'missing')) as broken
      from pgboss.job j left join subtasks s on s.job_id = j.id
      where j.name like 'run.%' and case when j.state < 'active' then s.status <> 'pending' else j.state = 'active' and s.status is distinct from 'running' end`,
  },
  {
    claim: "a run job carries its own subtask's ids and lies in its runner's queue",
    find: (sql) => sql`
      select format('job %s of subtask %s in %s', j.id, s.id, j.name) as broken
      from subtasks s join pgboss.job j on j.id = s.job_id
      where j.data ->> 'id' is distinct from s.id::text or j.data ->> 'project_id' is distinct from s.project_id::text
        or j.name is distinct from case when s.runner = 'external' then 'run.external.' || s.project_id else 'run.' || s.runner end`,
  },
  {
    claim: 'no run job is retried, failed or cancelled by the queue itself',
    find: (sql) =>
      sql`select format('job %s is %s', id, state) as broken from pgboss.job where name like 'run.%' and state not in ('created', 'active', 'completed')`,
  },
]

const ROWS: Check[] = [
  {
    claim: 'an ended subtask holds no slot, job, lease, credential or token',
    find: (sql) => sql`
      select id::text as broken from subtasks where status in ('completed', 'failed', 'cancelled')
        and (slot or slot_at is not null or job_id is not null or lease_expires_at is not null or credential_hash is not null or lease_token_hash is not null)`,
  },
  {
    claim: 'a pending or waiting subtask has no holder, and a running one has one',
    find: (sql) => sql`
      select format('%s %s', status, id) as broken from subtasks where
        (status in ('pending', 'waiting') and (worker_id is not null or lease_expires_at is not null or credential_hash is not null or lease_token_hash is not null))
        or (status = 'running' and (worker_id is null or lease_expires_at is null or credential_hash is null or attempt_started_at is null))`,
  },
  {
    claim: 'a waiting subtask has no permit, and waits for an open question of its own',
    find: (sql) => sql`
      select s.id::text as broken from subtasks s left join questions q on q.id = s.waiting_for and q.subtask_id = s.id and q.project_id = s.project_id
      where (s.status = 'waiting' and (s.slot or q.status is distinct from 'open')) or (s.status <> 'waiting' and s.waiting_for is not null)`,
  },
  {
    claim: 'a continuation belongs to a subtask that has not ended',
    find: (sql) => sql`
      select s.id::text as broken from subtasks s left join bodies b on b.id = s.continuation_body_id and b.project_id = s.project_id
      where s.continuation_body_id is not null and (b.id is null or s.status in ('completed', 'failed', 'cancelled'))`,
  },
  {
    claim: 'failures stay within the attempts allowed, and reach them only at the end',
    find: (sql) => sql`
      select format('%s %s with %s of %s', status, id, failures, max_attempts) as broken from subtasks
      where failures > max_attempts or failures > attempt or (status in ('pending', 'running', 'waiting') and failures >= max_attempts)`,
  },
  {
    claim: 'a subtask has a row for each of its attempts, and the only open one is of its running attempt',
    find: (sql) => sql`
      select format('%s %s at attempt %s: %s rows, %s open', s.status, s.id, s.attempt, coalesce(a.rows, 0), coalesce(a.open, 0)) as broken
      from subtasks s left join (
        select subtask_id, count(*) as rows, count(*) filter (where ended_at is null) as open, max(attempt) filter (where ended_at is null) as open_attempt
        from attempts group by subtask_id
      ) as a on a.subtask_id = s.id
      where coalesce(a.rows, 0) <> s.attempt or coalesce(a.open, 0) <> (s.status = 'running')::int
        or (s.status = 'running' and a.open_attempt is distinct from s.attempt)`,
  },
  {
    claim: 'what was used adds up over the attempts',
    find: (sql) => sql`
      select s.id::text as broken from subtasks s left join (
        select subtask_id, sum(input_tokens) as i, sum(output_tokens) as o, sum(cost_micros) as c, sum(tool_calls) as t from attempts group by subtask_id
      ) as a on a.subtask_id = s.id
      where (s.input_tokens, s.output_tokens, s.cost_micros, s.tool_calls) is distinct from (coalesce(a.i, 0), coalesce(a.o, 0), coalesce(a.c, 0), coalesce(a.t, 0))`,
  },
  {
    claim: 'steps and updates are numbered from 1 without gaps',
    find: (sql) => sql`
      select format('%s of %s: %s counted, %s written, highest %s', kind, id, counted, written, highest) as broken from (
        select 'steps' as kind, s.id, s.step_seq as counted, count(n.seq) as written, coalesce(max(n.seq), 0) as highest
        from subtasks s left join steps n on n.subtask_id = s.id and n.seq > 0 group by s.id
        union all
        select 'updates', s.id, s.update_seq, count(u.seq), coalesce(max(u.seq), 0) from subtasks s left join updates u on u.subtask_id = s.id group by s.id
      ) as numbered where counted <> written or counted <> highest`,
  },
  {
    claim: 'no update is still queued for a subtask that has ended',
    find: (sql) => sql`
      select u.id::text as broken from updates u join subtasks s on s.id = u.subtask_id
      where u.status = 'queued' and s.status in ('completed', 'failed', 'cancelled')`,
  },
]

const ANNOUNCEMENTS: Check[] = [
  {
    claim: 'an ended subtask has exactly one terminal event, of its own status, and no other subtask has one',
    find: (sql) => sql`
      select format('%s %s has %s (%s)', s.status, s.id, coalesce(e.count, 0), e.types) as broken
      from subtasks s left join (
        select subject_id, count(*) as count, string_agg(type, ', ') as types from (${announced(sql)}) as a where type = any(${terminalEvents}) group by subject_id
      ) as e on e.subject_id = s.id
      where coalesce(e.count, 0) <> (s.status in ('completed', 'failed', 'cancelled'))::int or (e.count = 1 and e.types <> 'subtask.' || s.status)`,
  },
  {
    claim: 'the events of a subtask begin with its creation and end with its end',
    find: (sql) => sql`
      select format('%s is number %s of %s of %s', type, nth, total, subject_id) as broken from (${announced(sql)}) as a
      where (type = 'subtask.created') <> (nth = 1) or (type = any(${terminalEvents}) and nth <> total)`,
  },
  {
    claim: 'every attempt was announced once',
    find: (sql) => sql`
      select format('%s at attempt %s: %s announced', s.id, s.attempt, coalesce(e.count, 0)) as broken
      from subtasks s left join (select subject_id, count(*) as count from (${announced(sql)}) as a where type = 'subtask.started' group by subject_id) as e on e.subject_id = s.id
      where coalesce(e.count, 0) <> s.attempt`,
  },
  {
    claim: 'no two events have the same place in the log',
    find: (sql) => sql`select seq::text as broken from events group by seq having count(*) > 1`,
  },
  {
    claim:
      'an ended subtask of a session has exactly one inbox item, in its own project, unless another revision round follows it or its checks run, and no other subtask has one',
    find: (sql) => sql`
      select format('%s %s has %s', s.status, s.id, count(i.id)) as broken
      from subtasks s left join inbox i on i.subtask_id = s.id and i.session_id = s.parent_session_id and i.project_id = s.project_id
        left join subtasks n on n.revision_of = s.id
      where i.id is not null or not exists (select from check_runs c where c.subtask_id = s.id and c.ended_at is null)
      group by s.id, n.id
      having count(i.id) <> (s.status in ('completed', 'failed', 'cancelled') and s.parent_session_id is not null and n.id is null)::int
      union all
      select format('inbox item %s of %s', i.id, i.subtask_id) from inbox i left join subtasks s on s.id = i.subtask_id
      where i.task_id is null and i.question_id is null and s.parent_session_id is distinct from i.session_id`,
  },
  {
    claim: 'an inbox item of a question is for the session that it asks, in its own project, and an answered question has the update that delivers it',
    find: (sql) => sql`
      select format('inbox item %s of question %s', i.id, i.question_id) as broken from inbox i left join questions q on q.id = i.question_id
      where i.question_id is not null and (q.session_id is distinct from i.session_id or q.project_id is distinct from i.project_id)
      union all
      select format('question %s', q.id) from questions q left join updates u on u.id = q.update_id and u.project_id = q.project_id
      where q.status = 'answered' and u.id is null`,
  },
]

const CHECKS: readonly Check[] = [...LANES, ...LOCK_STEP, ...ROWS, ...ANNOUNCEMENTS, ...TASKS, ...SCHEDULES, ...EVALUATIONS, ...BUDGETS, ...DELIVERIES]
