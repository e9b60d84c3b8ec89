import { DEFAULT_PROJECT_ID } from '@muster/domain'
import type postgres from 'postgres'

/** Rows of each large table. */
export const STORED_ROWS = 20_000

/**
 * Past work in several projects, subtasks in thousands of which one has half of them: the rows of a server after some months, in small numbers. A test of one table
 * stores that alone, and vacuums itself.
 */
export async function storeMonthsOfWork(admin: postgres.Sql, rows: number): Promise<void> {
  await storeSubtasks(admin, rows)
  await storeJobs(admin, rows)
  await storeTasks(admin, rows)
  await storeGuides(admin)
  await storeWorkOnTasks(admin, rows)
  await storeEvaluations(admin)
  await storePastSchedules(admin, rows)
  await storeSlots(admin)
  await admin`insert into muster_system.stored_bytes (project_id, run_id, bytes) select project_id, id, 1000 from subtasks on conflict do nothing`
  await admin`vacuum analyze`
}

/** Subtasks that have ended, with all that they leave behind. */
async function storeSubtasks(admin: postgres.Sql, rows: number): Promise<void> {
  await admin`
    insert into subtasks (project_id, id, agent_id, parent_session_id, task, priority, runner, timeout_seconds, max_attempts, budget_max_steps, notify,
      status, final_outcome, completed_at, rank_at, attempt, task_id, subagent_name)
    select case when n % 2 <> 0 then ${DEFAULT_PROJECT_ID}::uuid else ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid end,
      gen_random_uuid(), 'agent-' || n % 400, 'session-' || n % 500, 'task', 'normal', 'own', 120, 2, 50, true, 'completed', 'completed', now(), now(), 1,
      case when n % 3 = 0 then gen_random_uuid() end, case when n % 5 < 2 then 'agent-' || n % 40 end
    from generate_series(1, ${rows}) as n`
  await admin`insert into attempts (project_id, subtask_id, attempt, worker_id, ended_at) select project_id, id, 1, 'w', now() from subtasks`
  await admin`insert into inbox (project_id, id, session_id, subtask_id, delivered_at) select project_id, gen_random_uuid(), parent_session_id, id, now() from subtasks`
  await admin`insert into steps (project_id, subtask_id, seq, attempt, kind) select project_id, id, 1, 1, 'message' from subtasks`
  await admin`
    insert into updates (project_id, id, subtask_id, seq, update_type, content, sender_kind, sender_id, status)
    select project_id, gen_random_uuid(), id, 1, 'note', 'x', 'key', 'k', 'acknowledged' from subtasks`
  await admin`
    insert into events (project_id, seq, type, subject_kind, subject_id, data, actor_kind, actor_id, at)
    select project_id, nextval('muster_system.event_seq'), 'subtask.completed', 'subtask', id, '{}', 'worker', 'w', now() from subtasks`
  await admin`
    insert into idempotency_keys (project_id, actor_id, key, request_hash, status, headers) select project_id, 'open', id::text, '', 200, '{}' from subtasks`
  await admin`
    insert into api_keys (project_id, id, name, key_hash, key_prefix, scopes) select project_id, gen_random_uuid(), 'x', sha256(id::text::bytea), 'x', '{admin}' from subtasks`
  await admin`insert into bodies (project_id, id, sha256, bytes) select project_id, gen_random_uuid(), '', '' from subtasks`
}

/** The queue of two runners, most of it done. */
export async function storeJobs(admin: postgres.Sql, rows = STORED_ROWS): Promise<void> {
  await admin`
    insert into pgboss.job (name, state, data, completed_on, priority)
    select 'run.' || (array['own', 'other'])[1 + n % 2], (case when n % 4 = 0 then 'created' else 'completed' end)::pgboss.job_state, '{}', now(), -n from generate_series(1, ${rows}) as n`
}

export async function storeTasks(admin: postgres.Sql, rows = STORED_ROWS): Promise<void> {
  await admin`
    insert into tasks (project_id, id, title, instructions, status, subagent_session_id, parent_session_id, priority, completed_at)
    select case when n % 2 = 0 then ${DEFAULT_PROJECT_ID}::uuid else ('00000000-0000-7000-9000-' || lpad((n % 50)::text, 12, '0'))::uuid end,
      gen_random_uuid(), 'title ' || n, 'instructions of ' || n, 'completed', 'session-' || n % 500, 'session-' || n % 400, 'P' || n % 4, now()
    from generate_series(1, ${rows}) as n`
}

/** Guides, nearly as many as there are tasks. */
export async function storeGuides(admin: postgres.Sql): Promise<void> {
  await admin`
    insert into tsgs (project_id, tsg_id, title, content, patterns)
    select distinct project_id, 'guide-' || substr(id::text, 1, 4), 'About', 'x', array['x'] from tasks`
}

async function storeWorkOnTasks(admin: postgres.Sql, rows: number): Promise<void> {
  await admin`
    insert into hook_reservations (project_id, id, session_id, subagent_type, task_id, bound_session_id, bound_at)
    select project_id, gen_random_uuid(), subagent_session_id, 'writer', id, 'x', now() from tasks`
  await admin`
    insert into subagent_versions (project_id, name, version, source, definition, content_hash)
    select project_id, 'agent-' || n % 40, n, 'api', '{}', '' from (select distinct project_id from subtasks order by project_id limit 20) as p, generate_series(1, ${rows / 20}) as n`
  await admin`insert into task_revisions (project_id, task_id, revision, fields, criteria, required_outputs, author_kind, author_id) select project_id, id, 1, '{}', '[]', '[]', 'key', 'k' from tasks`
  await admin`insert into task_dependencies (project_id, task_id, depends_on_id) select project_id, id, gen_random_uuid() from tasks`
  await admin`insert into task_tsgs (project_id, task_id, tsg_id) select project_id, id, 'guide-' || substr(id::text, 1, 4) from tasks`
  await admin`insert into assignments (project_id, task_id, session_id, ended_at, has_news) select project_id, id, subagent_session_id, now(), false from tasks`
  await admin`insert into check_ins (project_id, id, task_id, revision, content, verdicts, unmatched, next_steps, author_kind, author_id) select project_id, gen_random_uuid(), id, 1, 'x', '[]', '[]', '{}', 'key', 'k' from tasks`
  await admin`
    insert into updates (project_id, id, task_id, seq, update_type, content, sender_kind, sender_id, status)
    select project_id, gen_random_uuid(), id, 1, 'note', 'x', 'key', 'k', 'acknowledged' from tasks`
  await admin`
    insert into tsg_uses (project_id, id, tsg_id, kind, session_id)
    select project_id, gen_random_uuid(), 'guide-' || substr(id::text, 1, 4), 'surfaced', subagent_session_id from tasks`
  await admin`
    insert into tsg_notices (project_id, session_id, tsg_id, matched_pattern, delivered_at) select project_id, id::text, 'guide', 'x', now() from tasks`
  await admin`insert into bodies (project_id, id, sha256, bytes) select project_id, id, '', 'long' from tasks where substr(id::text, 1, 1) = '0'`
  await admin`
    insert into session_messages (project_id, id, session_id, role, content, body_id, task_id)
    select t.project_id, gen_random_uuid(), t.subagent_session_id, 'assistant', case when b.id is null then 'text ' || n end, b.id, t.id
    from tasks t left join bodies b on b.id = t.id cross join generate_series(1, 3) as n`
}

async function storeEvaluations(admin: postgres.Sql): Promise<void> {
  await admin`
    insert into evaluations (project_id, id, origin, task_id, subtask_id, subagent_name, score, recommendation, detail)
    select project_id, gen_random_uuid(), 'subtask', gen_random_uuid(), id, 'role', 0.5, 'review', '{"criteria": []}' from subtasks`
  await admin`
    insert into evaluations (project_id, id, origin, task_id, recommendation, detail, output)
    select project_id, gen_random_uuid(), 'completion', id, 'review', '{"criteria": []}', 'x' from tasks`
  await admin`
    insert into evaluations (project_id, id, origin, task_id, subtask_id, score, recommendation, detail, judge_of, is_judged)
    select project_id, gen_random_uuid(), origin, task_id, subtask_id, score, recommendation, detail, id, true from evaluations where subtask_id is not null`
  await admin`
    insert into evaluations (project_id, id, origin, task_id, recommendation, detail, review_of)
    select project_id, gen_random_uuid(), 'review', task_id, 'approve', '{"criteria": []}', id from evaluations where origin = 'completion'`
  await admin`insert into judgements (project_id, evaluation_id, status, ended_at) select project_id, judge_of, 'done', now() from evaluations where is_judged`
  await admin`
    insert into quality_flags (project_id, subject_kind, subject_id, quality, tags, training_candidate, author_kind, author_id)
    select project_id, 'subtask', id, 'good', '{x}', substr(id::text, 1, 1) = '0', 'key', 'k' from subtasks`
  await admin`
    insert into questions (project_id, id, kind, subtask_id, session_id, asked_by_session, prompt, status, expires_at, on_expiry)
    select project_id, gen_random_uuid(), 'question', id, parent_session_id, 'subtask:' || id, 'x', 'withdrawn', now(), 'continue' from subtasks`
  await admin`
    insert into check_runs (project_id, id, batch_id, task_id, subtask_id, evaluation_id, criterion_id, check_name, place, status, ended_at)
    select project_id, gen_random_uuid(), gen_random_uuid(), id, gen_random_uuid(), gen_random_uuid(), 'c', 'tests', gen_random_uuid(), 'met', now() from tasks`
  await admin`
    insert into injection_claims (project_id, id, session_id, held, lease_expires_at, acknowledged_at)
    select project_id, gen_random_uuid(), subagent_session_id, '{"tasks": [], "tsgIds": [], "inboxClaimId": null}', now(), now() from tasks`
}

/** Schedules in every state, of which none is due. */
export async function storePastSchedules(admin: postgres.Sql, rows = STORED_ROWS): Promise<void> {
  await admin`
    insert into schedules (project_id, id, agent_id, task, phrase_kind, phrase, canonical, reading, timezone, timing, state, anchor_at, next_fire_at, overlap, missed,
      grace_seconds, notify, timeout_seconds, priority, runner, budget_max_steps)
    select case when n % 2 = 0 then ${DEFAULT_PROJECT_ID}::uuid else ('00000000-0000-7000-9000-' || lpad((n % 50)::text, 12, '0'))::uuid end,
      gen_random_uuid(), 'agent-' || n % 40, 'task', 'every', 'x', 'x', 'x', 'UTC', '{"kind": "interval", "seconds": 3600, "anchorAt": "2026-01-01T00:00:00Z"}',
      (array['active', 'paused', 'finished', 'deactivated'])[1 + n % 4], now(), case when n % 4 < 2 then now() + interval '1 hour' + n * interval '1 second' end,
      'skip', 'run_once', 60, true, 120, 'normal', 'own', 50
    from generate_series(1, ${rows}) as n`
}

async function storeSlots(admin: postgres.Sql): Promise<void> {
  await admin`
    insert into schedule_slots (project_id, id, schedule_id, agent_id, slot, outcome)
    select project_id, gen_random_uuid(), id, agent_id, now() - n * interval '1 hour', 'skipped_missed' from schedules cross join generate_series(1, 3) as n`
  await admin`update subtasks t set schedule_id = d.id from (select id, row_number() over (order by id) as n from schedules) as d,
    (select id, row_number() over (order by id) as n from subtasks) as s where s.n = d.n and t.id = s.id`
}
