import type postgres from 'postgres'
import { announced, type Check } from './check.ts'

const ended = (sql: postgres.Sql) => sql`('completed', 'failed', 'cancelled')`

const HOLDERS: Check[] = [
  {
    claim: 'a task is held by one session at most, the one that it names, and by none once it has ended',
    find: (sql) => sql`
      select format('%s %s of %s is held by %s', t.status, t.id, coalesce(t.subagent_session_id, 'nobody'), string_agg(a.session_id, ', ')) as broken
      from tasks t join assignments a on a.task_id = t.id and a.ended_at is null
      group by t.id
      having count(*) > 1 or t.status in ${ended(sql)} or bool_or(a.session_id is distinct from t.subagent_session_id)
      union all
      select format('assignment of %s to %s', task_id, session_id) from assignments where ended_at is not null and (has_news or credential_hash is not null)`,
  },
  {
    claim: 'an assigned task is held, and a waiting one is not',
    find: (sql) => sql`
      select format('%s %s of %s', t.status, t.id, coalesce(t.subagent_session_id, 'nobody')) as broken
      from tasks t left join assignments a on a.task_id = t.id and a.ended_at is null
      where (t.status in ('assigned', 'in_progress') and a.task_id is null) or (t.status in ('pending', 'blocked') and a.task_id is not null)`,
  },
  {
    claim: 'a task that a subtask runs is in progress only until that subtask ends',
    find: (sql) => sql`
      select format('%s %s is run by %s, which is %s', t.status, t.id, t.subtask_id, coalesce(s.status, 'missing')) as broken
      from tasks t left join subtasks s on s.id = t.subtask_id
      where t.status in ('assigned', 'in_progress') and t.subagent_session_id = 'subtask-' || t.subtask_id and (s.id is null or s.status in ${ended(sql)})`,
  },
  {
    claim: 'a subtask is asked to stop when its task is cancelled or assigned to a session',
    find: (sql) => sql`
      select format('%s %s runs %s, which is %s', s.status, s.id, t.id, t.status) as broken
      from subtasks s join tasks t on t.id = s.task_id join assignments a on a.task_id = t.id and a.session_id = 'subtask-' || s.id
      where s.status in ('pending', 'running', 'waiting') and s.cancel_requested_at is null and a.ended_at is not null
        and (t.status in ('failed', 'cancelled') or t.subtask_id is null)`,
  },
  {
    claim: 'a task is blocked exactly as long as one that it waits for is not complete, or its assignee went in circles',
    find: (sql) => sql`
      select format('%s %s waits for %s', t.status, t.id, coalesce(string_agg(b.id::text, ', '), 'nothing')) as broken
      from tasks t left join task_dependencies d on d.task_id = t.id left join tasks b on b.id = d.depends_on_id and b.status <> 'completed'
      where t.status not in ${ended(sql)}
      group by t.id
      having (t.status = 'blocked') <> (count(b.id) > 0) and (t.status <> 'blocked' or not exists (
        select from events e where e.subject_id = t.id and e.type = 'task.blocked' and e.actor_id = 'loops'
        union all
        select from muster_system.waiting_events e where e.subject_id = t.id and e.type = 'task.blocked' and e.actor_id = 'loops'))`,
  },
  {
    claim: 'no task waits for itself',
    find: (sql) => sql`
      with recursive reached(task_id, id) as (
        select task_id, depends_on_id from task_dependencies
        union
        select r.task_id, d.depends_on_id from reached r join task_dependencies d on d.task_id = r.id
      )
      select task_id::text as broken from reached where task_id = id`,
  },
]

const BRIEFS: Check[] = [
  {
    claim: 'revisions and updates of tasks are numbered from 1 without gaps',
    find: (sql) => sql`
      select format('%s of %s: %s counted, %s written, highest %s', kind, id, counted, written, highest) as broken from (
        select 'revisions' as kind, t.id, t.revision as counted, count(r.revision) as written, coalesce(max(r.revision), 0) as highest
        from tasks t left join task_revisions r on r.task_id = t.id group by t.id
        union all
        select 'updates', t.id, t.update_seq, count(u.seq), coalesce(max(u.seq), 0) from tasks t left join updates u on u.task_id = t.id group by t.id
      ) as numbered where counted <> written or counted <> highest`,
  },
  {
    claim: 'a task asks for what its newest revision asks for',
    find: (sql) => sql`
      select format('%s at revision %s', t.id, t.revision) as broken from tasks t join task_revisions r on r.task_id = t.id and r.revision = t.revision
      where t.required_outputs <> r.required_outputs`,
  },
  {
    claim: 'a completed task has every output that its brief asks for',
    find: (sql) => sql`
      select format('%s lacks %s', t.id, o.output ->> 'name') as broken from tasks t cross join lateral jsonb_array_elements(t.required_outputs) as o(output)
      where t.status = 'completed' and coalesce(t.completion_outputs -> (o.output ->> 'name'), 'null') = 'null'`,
  },
]

const UPDATES: Check[] = [
  {
    claim: 'a holder is marked as undelivered exactly until every update is delivered',
    find: (sql) => sql`
      select format('%s of %s: news %s, told %s of %s and revision %s of %s', a.session_id, t.id, a.has_news, a.delivered_seq, t.update_seq,
        coalesce(a.delivered_revision, 0), t.revision) as broken
      from assignments a join tasks t on t.id = a.task_id
      where a.ended_at is null and (
        a.has_news <> (a.introduced_at is null or a.delivered_seq < t.update_seq) or a.delivered_seq > t.update_seq or a.briefed_seq > a.delivered_seq or a.delivered_revision > t.revision
        or (a.introduced_at is null) <> (a.delivered_revision is null) or (not a.has_news and a.delivered_revision <> t.revision))`,
  },
  {
    claim: 'an update is queued only as long as its task goes on and its holder has not got further',
    find: (sql) => sql`
      select format('update %s of %s %s', u.seq, t.status, t.id) as broken
      from updates u join tasks t on t.id = u.task_id left join assignments a on a.task_id = t.id and a.ended_at is null and a.introduced_at is not null
      where u.status = 'queued' and (t.status in ${ended(sql)} or u.seq <= a.delivered_seq)`,
  },
  {
    // After a resend, the delivery cursor of a session is behind its receipts until it receives the whole brief.
    claim: 'every delivered update went to a session that held the task, and lies within its delivery cursor',
    find: (sql) => sql`
      select format('%s update %s of %s to %s, told up to %s', u.status, u.seq, u.task_id, coalesce(u.delivered_to, 'nobody'), coalesce(a.delivered_seq, 0)) as broken
      from updates u left join assignments a on a.task_id = u.task_id and a.session_id = u.delivered_to
      where u.task_id is not null and (
        (u.status in ('delivered', 'acknowledged')) <> (u.delivered_to is not null and u.delivered_at is not null)
        or (u.delivered_to is not null and a.task_id is null) or (a.ended_at is null and a.introduced_at is not null and u.seq > a.delivered_seq))`,
  },
  {
    claim: 'a session has at most one injection that waits to be acknowledged',
    find: (sql) => sql`
      select format('%s has %s', session_id, count(*)) as broken from injection_claims
      where acknowledged_at is null and replaced_at is null group by project_id, session_id having count(*) > 1`,
  },
]

/** The events of every update of a task, from the log and from what is on its way into it, as one text in their order. */
const receipts = (sql: postgres.Sql) => sql`
  select (data ->> 'update_id')::uuid as update_id, string_agg(type, ' ' order by is_waiting, place, place_in_batch) as types
  from (
    select data, type, false as is_waiting, seq as place, 1 as place_in_batch from events where subject_kind = 'task' and type like 'update.%'
    union all
    select data, type, true, id, place from muster_system.waiting_events where subject_kind = 'task' and type like 'update.%'
  ) as receipt
  group by 1`

const ANNOUNCEMENTS: Check[] = [
  {
    claim: 'the events of a task begin with its creation and end with its end, of which there is one',
    find: (sql) => sql`
      select format('%s %s: %s is number %s of %s', t.status, t.id, coalesce(type, 'nothing'), nth, total) as broken
      from tasks t left join (${announced(sql, 'task')}) as a on a.subject_id = t.id
      where type is null or (type = 'task.created') <> (nth = 1)
        or (type in ('task.completed', 'task.failed', 'task.cancelled')) <> (nth = total and t.status in ${ended(sql)})
        or (nth = total and t.status in ${ended(sql)} and type <> 'task.' || t.status)`,
  },
  {
    // A delivery that its run never received counts as none when the run ends: the update is queued again.
    claim: 'every step of the receipt of an update of a task was announced in order',
    find: (sql) => sql`
      select format('%s update %s of %s: %s', u.status, u.seq, u.task_id, coalesce(r.types, 'nothing')) as broken
      from updates u left join (${receipts(sql)}) as r on r.update_id = u.id
      where u.task_id is not null and replace(coalesce(r.types, ''), 'update.', '') !~ case u.status
        when 'queued' then '^queued( delivered)*$'
        when 'delivered' then '^queued( delivered)+$'
        when 'acknowledged' then '^queued( delivered)+ acknowledged$'
        when 'superseded' then '^(queued( delivered)* )?superseded$'
        else '^queued( delivered)* expired$' end`,
  },
  {
    claim: 'the delivery of an update of a task is announced once for each session that it went to',
    find: (sql) => sql`
      select format('update %s to %s', data ->> 'update_id', data ->> 'delivered_to') as broken
      from events where subject_kind = 'task' and type = 'update.delivered'
      group by data ->> 'update_id', data ->> 'delivered_to' having count(*) > 1`,
  },
]

const REPORTS: readonly Check[] = [
  {
    claim: 'an ended task with a parent session that no subtask ran has exactly one inbox item of its end, and any other task has at most one',
    find: (sql) => sql`
      select format('%s %s has %s', t.status, t.id, count(i.id)) as broken
      from tasks t left join inbox i on i.task_id = t.id and i.task_status <> 'in_review'
      group by t.id
      having count(i.id) > 1 or (count(i.id) = 0 and t.subtask_id is null and t.parent_session_id is not null and t.status in ('completed', 'failed', 'cancelled'))`,
  },
  {
    claim: 'a task in review with a parent session that no subtask ran has an inbox item',
    find: (sql) => sql`
      select t.id::text as broken from tasks t
      where t.status = 'in_review' and t.subtask_id is null and t.parent_session_id is not null
        and not exists (select from inbox i where i.task_id = t.id and i.task_status = 'in_review')`,
  },
  {
    claim: 'an inbox item of a task is for its parent session, in its own project, and reports what the task is or was',
    find: (sql) => sql`
      select format('inbox item %s of task %s', i.id, i.task_id) as broken from inbox i left join tasks t on t.id = i.task_id
      where i.task_id is not null and (
        t.parent_session_id is distinct from i.session_id or t.project_id is distinct from i.project_id
        or (i.task_status <> 'in_review' and t.status <> i.task_status)
      )`,
  },
]

/** Invariants of briefs, assignments and deliveries. */
export const TASKS: readonly Check[] = [...HOLDERS, ...BRIEFS, ...UPDATES, ...ANNOUNCEMENTS, ...REPORTS]
