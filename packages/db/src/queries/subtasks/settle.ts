import type { Criterion, Priority, RequiredOutput, TerminalStatus, Usage } from '@muster/domain'
import type { Tx } from '../../client.ts'

// Joins also name the ids as a list: a plan that was prepared while the tables were empty would read them whole for ever after,
// and with the list every plan goes by the primary key.

/** A running attempt, locked, as its end is decided. */
export interface EndingRow {
  id: string
  agentId: string
  parentSessionId: string | null
  task: string
  taskId: string | null
  /** The revision of the brief that its run was told last; null where it runs none. */
  taskRevision: number | null
  scheduleId: string | null
  subagentName: string | null
  subagentVersion: number | null
  priority: Priority
  runner: string
  jobId: string
  attempt: number
  failures: number
  maxAttempts: number
  timeoutSeconds: number
  cancelRequested: boolean
  requiredOutputs: RequiredOutput[]
  revisionRound: number
  maxRevisions: number
  updateSeq: number
  workerId: string
  notify: boolean
  /** Whether the reaper may take it: its lease has lapsed, or its attempt has had its time. */
  leaseLapsed: boolean
}

export interface AttemptRef {
  subtaskId: string
  attempt: number
}

/** Locks the rows of attempts that are still the current, running ones, in the order of their ids. Others are left out. */
export async function lockEnding(tx: Tx, attempts: readonly AttemptRef[]): Promise<EndingRow[]> {
  const ids = attempts.map((ref) => ref.subtaskId)
  const rows = await tx.sql<EndingRow[]>`
    select s.id, agent_id as "agentId", parent_session_id as "parentSessionId", task, task_id as "taskId", task_revision as "taskRevision",
      schedule_id as "scheduleId", subagent_name as "subagentName", subagent_version as "subagentVersion", priority, runner, job_id as "jobId",
      s.attempt, failures, max_attempts as "maxAttempts", timeout_seconds as "timeoutSeconds", cancel_requested_at is not null as "cancelRequested",
      required_outputs as "requiredOutputs", revision_round as "revisionRound", max_revisions as "maxRevisions", update_seq as "updateSeq", worker_id as "workerId", notify,
      lease_expires_at < muster_now() as "leaseLapsed"
    from subtasks s
    where s.status = 'running' and s.id = any(${ids})
    order by s.id
    for update of s`
  const attemptOf = new Map(attempts.map((ref) => [ref.subtaskId, ref.attempt]))
  return rows.filter((row) => attemptOf.get(row.id) === row.attempt)
}

/** Which of these attempts have already brought their subtask to an end: a settlement whose answer was lost. */
export async function findEnded(tx: Tx, attempts: readonly AttemptRef[]): Promise<string[]> {
  const ids = attempts.map((ref) => ref.subtaskId)
  const rows = await tx.sql<{ id: string }[]>`
    select s.id from subtasks s
    join unnest(${attempts.map((ref) => ref.subtaskId)}::uuid[], ${attempts.map((ref) => ref.attempt)}::int[]) as ref(id, attempt)
      on s.id = ref.id and s.attempt = ref.attempt
    where s.status in ('completed', 'failed', 'cancelled') and s.id = any(${ids})`
  return rows.map((row) => row.id)
}

export interface TerminalRow {
  id: string
  attempt: number
  status: TerminalStatus
  finalOutcome: string
  result: string | null
  resultBodyId: string | null
  resultTruncated: boolean
  summary: string | null
  error: string | null
  outputs: Record<string, unknown> | null
  failures: number
  /** See `attempts.lost_ms`. */
  lostMs: number
  usage: Omit<Usage, 'steps'>
  /** Set when the parent session is to be told: not of a round that another one follows. */
  inboxId: string | null
}

/** Writes the ends of locked attempts: rows, attempts, inbox. */
export async function writeTerminal(tx: Tx, projectId: string, rows: readonly TerminalRow[]): Promise<void> {
  const ids = rows.map((row) => row.id)
  const data = rows.map((row) => ({
    id: row.id,
    attempt: row.attempt,
    status: row.status,
    final_outcome: row.finalOutcome,
    result: row.result,
    result_body_id: row.resultBodyId,
    result_truncated: row.resultTruncated,
    summary: row.summary,
    error: row.error,
    outputs: row.outputs,
    failures: row.failures,
    lost_ms: row.lostMs,
    inbox_id: row.inboxId,
    input_tokens: row.usage.inputTokens,
    output_tokens: row.usage.outputTokens,
    cost_micros: row.usage.costUsdMicros,
    tool_calls: row.usage.toolCalls,
  }))
  await tx.sql`
    with ended as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(data)}::jsonb) as e(
        id uuid, attempt int, status text, final_outcome text, result text, result_body_id uuid, result_truncated boolean, summary text, error text,
        outputs jsonb, failures smallint, lost_ms bigint, inbox_id uuid, input_tokens bigint, output_tokens bigint, cost_micros bigint, tool_calls int)
    ),
    moment as materialized (select muster_now() as now),
    written as (
      update subtasks s set
        status = e.status, final_outcome = e.final_outcome, result = e.result, result_body_id = e.result_body_id, result_truncated = e.result_truncated,
        summary = e.summary, error = e.error, outputs = e.outputs, failures = e.failures, lost_ms = s.lost_ms + e.lost_ms,
        input_tokens = s.input_tokens + e.input_tokens, output_tokens = s.output_tokens + e.output_tokens,
        cost_micros = s.cost_micros + e.cost_micros, tool_calls = s.tool_calls + e.tool_calls,
        slot = false, slot_at = null, job_id = null, lease_expires_at = null, lease_renewed_at = null, lease_token_hash = null, credential_hash = null, feedback = null,
        completed_at = moment.now
      from ended e, moment where s.id = e.id and s.attempt = e.attempt and s.id = any(${ids})
      returning s.id, s.parent_session_id
    ),
    closed as (
      update attempts a set ended_at = moment.now, outcome = e.final_outcome, error = e.error, lost_ms = e.lost_ms,
        input_tokens = a.input_tokens + e.input_tokens, output_tokens = a.output_tokens + e.output_tokens,
        cost_micros = a.cost_micros + e.cost_micros, tool_calls = a.tool_calls + e.tool_calls
      from ended e, moment where a.subtask_id = e.id and a.attempt = e.attempt and a.subtask_id = any(${ids})
    )
    insert into inbox (project_id, id, session_id, subtask_id, created_at)
    select ${projectId}, e.inbox_id, w.parent_session_id, e.id, moment.now
    from ended e join written w on w.id = e.id cross join moment
    where e.inbox_id is not null and w.parent_session_id is not null
    on conflict (subtask_id) do nothing`
}

export interface ReturnRow {
  id: string
  attempt: number
  failures: number
  feedback: string | null
  /** How the attempt ended, for its own row. */
  outcome: string
  error: string | null
  /** See `attempts.lost_ms`. */
  lostMs: number
  jobId: string
  usage: Omit<Usage, 'steps'>
}

/** Returns locked attempts' subtasks to pending. They keep their slots; their new jobs go in with the same transaction. */
export async function writeReturns(tx: Tx, rows: readonly ReturnRow[]): Promise<void> {
  const ids = rows.map((row) => row.id)
  const data = rows.map((row) => ({
    id: row.id,
    attempt: row.attempt,
    failures: row.failures,
    feedback: row.feedback,
    outcome: row.outcome,
    error: row.error,
    lost_ms: row.lostMs,
    job_id: row.jobId,
    input_tokens: row.usage.inputTokens,
    output_tokens: row.usage.outputTokens,
    cost_micros: row.usage.costUsdMicros,
    tool_calls: row.usage.toolCalls,
  }))
  await tx.sql`
    with ended as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(data)}::jsonb) as e(
        id uuid, attempt int, failures smallint, feedback text, outcome text, error text, lost_ms bigint, job_id uuid,
        input_tokens bigint, output_tokens bigint, cost_micros bigint, tool_calls int)
    ),
    moment as materialized (select muster_now() as now),
    closed as (
      update attempts a set ended_at = moment.now, outcome = e.outcome, error = e.error, lost_ms = e.lost_ms,
        input_tokens = a.input_tokens + e.input_tokens, output_tokens = a.output_tokens + e.output_tokens,
        cost_micros = a.cost_micros + e.cost_micros, tool_calls = a.tool_calls + e.tool_calls
      from ended e, moment where a.subtask_id = e.id and a.attempt = e.attempt and a.subtask_id = any(${ids})
    )
    update subtasks s set
      status = 'pending', failures = e.failures, feedback = e.feedback, job_id = e.job_id, slot_at = moment.now, lost_ms = s.lost_ms + e.lost_ms,
      input_tokens = s.input_tokens + e.input_tokens, output_tokens = s.output_tokens + e.output_tokens,
      cost_micros = s.cost_micros + e.cost_micros, tool_calls = s.tool_calls + e.tool_calls,
      worker_id = null, lease_expires_at = null, lease_renewed_at = null, lease_token_hash = null, credential_hash = null, attempt_started_at = null
    from ended e, moment where s.id = e.id and s.attempt = e.attempt and s.id = any(${ids})`
}

/** What the run of a brief was told that it would be judged by. */
export interface DeliveredTask {
  subtaskId: string
  taskId: string
  revision: number
  criteria: Criterion[]
}

/** The revisions that runs of these tasks were told last. Subtasks that run none are left out. */
export async function listDeliveredTasks(tx: Tx, ids: readonly string[], taskIds: readonly string[]): Promise<DeliveredTask[]> {
  return await tx.sql<DeliveredTask[]>`
    select s.id as "subtaskId", r.task_id as "taskId", r.revision, r.criteria
    from subtasks s join task_revisions r on r.task_id = s.task_id and r.revision = s.task_revision
    where s.id = any(${ids as string[]}::uuid[]) and r.task_id = any(${taskIds as string[]}::uuid[])`
}

/** Another round of a chain, which follows one that is ending. */
export interface RevisionRound {
  id: string
  /** The round that ends. */
  revisionOf: string
  taskRevision: number
  /** Its place in the queue is that many seconds behind the present. */
  rankSeconds: number
}

/**
 * Inserts the next rounds of chains: as the rounds before them were asked for, and new in everything else. They have no slots: whoever
 * ends those rounds gives theirs on, under the locks of their lanes. However many wait in a lane, there is room for these.
 */
export async function insertRevisionRounds(tx: Tx, revisionRounds: readonly RevisionRound[]): Promise<void> {
  const before = revisionRounds.map((round) => round.revisionOf)
  await tx.sql`
    insert into subtasks (
      id, project_id, agent_id, parent_session_id, task, task_id, task_revision, subagent_name, subagent_version, background, priority, runner, model,
      timeout_seconds, max_attempts, budget_max_steps, budget_max_tokens, budget_max_cost_micros, notify, required_outputs, metadata,
      max_revisions, revision_of, revision_round, created_at, rank_at
    )
    select n.id, s.project_id, s.agent_id, s.parent_session_id, s.task, s.task_id, n.task_revision, s.subagent_name, s.subagent_version, s.background,
      s.priority, s.runner, s.model, s.timeout_seconds, s.max_attempts, s.budget_max_steps, s.budget_max_tokens, s.budget_max_cost_micros, s.notify,
      s.required_outputs, s.metadata, s.max_revisions, s.id, s.revision_round + 1, moment.now, moment.now + n.rank_seconds * interval '1 second'
    from unnest(
      ${revisionRounds.map((round) => round.id)}::uuid[], ${before}::uuid[], ${revisionRounds.map((round) => round.taskRevision)}::int[],
      ${revisionRounds.map((round) => round.rankSeconds)}::int[]
    ) as n(id, revision_of, task_revision, rank_seconds)
    join subtasks s on s.id = n.revision_of
    cross join (select muster_now() as now) as moment
    where s.id = any(${before}::uuid[])`
}
