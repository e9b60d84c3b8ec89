// SQL: every run sends a checkpoint after each step, and every worker renews its leases with one statement.
import type { StepKind, UsageAdded } from '@muster/domain'
import type { Tx } from '../../client.ts'
import type { AttemptRef } from './settle.ts'

export interface CheckpointInput extends AttemptRef {
  steps: readonly { kind: StepKind; content: unknown }[]
  usage: UsageAdded
  /**
   * Number of the last step that the caller knows to be stored. If there are more, this checkpoint was stored before and its answer was lost: its steps
   * and usage are not stored again. Null if the caller does not count.
   */
  afterStepSeq: number | null
  /** Whether to renew the lease by its own length. False leaves it to the worker, which renews all its leases at once. */
  renewsLease: boolean
  timeoutGraceSeconds: number
}

export interface CheckpointRow {
  cancelRequested: boolean
  updateSeq: number
  leaseExpiresAt: Date
  /** Number of the last stored step. */
  stepSeq: number
  /** False if this checkpoint was stored before, and nothing of it was stored again. */
  isFresh: boolean
}

/**
 * Stores the steps and the usage of a run since its last checkpoint, and returns whether it has to stop. Null if the attempt is no longer the current
 * one, and then nothing is stored. Locks the row.
 */
export async function writeCheckpoint(tx: Tx, projectId: string, input: CheckpointInput): Promise<CheckpointRow | null> {
  const { usage } = input
  const [row] = await tx.sql<{ cancel_requested: boolean; update_seq: number; lease_expires_at: string; step_seq: number; is_fresh: boolean }[]>`
    with before as materialized (
      select ${input.afterStepSeq}::int is null or step_seq = ${input.afterStepSeq}::int as is_fresh from subtasks
      where id = ${input.subtaskId} and attempt = ${input.attempt} and status = 'running' for update
    ),
    held as (
      update subtasks set
        step_seq = step_seq + case when is_fresh then ${input.steps.length} else 0 end,
        input_tokens = input_tokens + case when is_fresh then ${usage.inputTokens}::bigint else 0 end,
        output_tokens = output_tokens + case when is_fresh then ${usage.outputTokens}::bigint else 0 end,
        cost_micros = cost_micros + case when is_fresh then ${usage.costUsdMicros}::bigint else 0 end,
        tool_calls = tool_calls + case when is_fresh then ${usage.toolCalls}::int else 0 end,
        lease_expires_at = case when ${input.renewsLease} then least(
          muster_now() + lease_seconds * interval '1 second',
          attempt_started_at + (timeout_seconds + ${input.timeoutGraceSeconds}) * interval '1 second') else lease_expires_at end,
        lease_renewed_at = case when ${input.renewsLease} then muster_now() else lease_renewed_at end
      from before
      where id = ${input.subtaskId} and attempt = ${input.attempt} and status = 'running'
      returning cancel_requested_at is not null as cancel_requested, update_seq, lease_expires_at, step_seq, is_fresh
    ),
    billed as (
      update attempts a set
        input_tokens = a.input_tokens + ${usage.inputTokens}, output_tokens = a.output_tokens + ${usage.outputTokens},
        cost_micros = a.cost_micros + ${usage.costUsdMicros}, tool_calls = a.tool_calls + ${usage.toolCalls},
        cached_input_tokens = a.cached_input_tokens + ${usage.cachedInputTokens}, model = coalesce(${usage.model}, a.model)
      from held
      where a.subtask_id = ${input.subtaskId} and a.attempt = ${input.attempt} and held.is_fresh
        and ${usage.inputTokens + usage.outputTokens + usage.costUsdMicros + usage.toolCalls > 0}
    ),
    written as (
      insert into steps (project_id, subtask_id, seq, attempt, kind, content)
      select ${projectId}, ${input.subtaskId}, held.step_seq - ${input.steps.length} + s.place::int, ${input.attempt}, s.step ->> 'kind', s.step -> 'content'
      from held, jsonb_array_elements(${JSON.stringify(input.steps.map(({ kind, content }) => ({ kind, content: content ?? null })))}::jsonb) with ordinality as s(step, place)
      where held.is_fresh
    )
    select * from held`
  if (row === undefined) return null
  const { cancel_requested: cancelRequested, update_seq: updateSeq, step_seq: stepSeq, is_fresh: isFresh } = row
  return { cancelRequested, updateSeq, leaseExpiresAt: new Date(row.lease_expires_at), stepSeq, isFresh }
}

/**
 * Renews the leases of a worker's attempts, also lapsed ones that were not reaped yet. Returns the attempts that are still its own, with
 * `cancelRequested` in case the notification was lost. Across projects.
 */
export async function renewLeases(
  tx: Pick<Tx, 'sql'>,
  attempts: readonly AttemptRef[],
  lease: { seconds: number; timeoutGraceSeconds: number },
): Promise<{ subtaskId: string; attempt: number; cancelRequested: boolean; updateSeq: number }[]> {
  const rows = await tx.sql<{ id: string; attempt: number; cancel_requested: boolean; update_seq: number }[]>`
    with own as materialized (
      select s.id from subtasks s
      join unnest(${attempts.map((ref) => ref.subtaskId)}::uuid[], ${attempts.map((ref) => ref.attempt)}::int[]) as mine(id, attempt)
        on s.id = mine.id and s.attempt = mine.attempt
      where s.status = 'running' and s.id = any(${attempts.map((ref) => ref.subtaskId)})
      order by s.id for update of s
    )
    update subtasks s set lease_expires_at = least(
      muster_now() + ${lease.seconds} * interval '1 second',
      attempt_started_at + (timeout_seconds + ${lease.timeoutGraceSeconds}) * interval '1 second'), lease_renewed_at = muster_now()
    from own where s.id = own.id
    returning s.id, s.attempt, s.cancel_requested_at is not null as cancel_requested, s.update_seq`
  return rows.map((row) => ({ subtaskId: row.id, attempt: row.attempt, cancelRequested: row.cancel_requested, updateSeq: row.update_seq }))
}

/** Reads the same without renewing anything. Across projects. */
export async function lookAtRuns(
  tx: Pick<Tx, 'sql'>,
  subtaskIds: readonly string[],
): Promise<
  { subtaskId: string; attempt: number; isRunning: boolean; hasContinuation: boolean; cancelRequested: boolean; updateSeq: number; taskHasUpdates: boolean }[]
> {
  const rows = await tx.sql<
    { id: string; attempt: number; is_running: boolean; has_continuation: boolean; cancel_requested: boolean; update_seq: number; task_has_updates: boolean }[]
  >`
    select id, attempt, status = 'running' as is_running, continuation_body_id is not null as has_continuation,
      cancel_requested_at is not null as cancel_requested, update_seq,
      task_id is not null and exists (
        select from assignments a where a.task_id = s.task_id and a.session_id = 'subtask-' || s.id and a.has_news and a.ended_at is null
      ) as task_has_updates
    from subtasks s where id = any(${subtaskIds as string[]}::uuid[])`
  return rows.map((row) => ({
    subtaskId: row.id,
    attempt: row.attempt,
    isRunning: row.is_running,
    hasContinuation: row.has_continuation,
    cancelRequested: row.cancel_requested,
    updateSeq: row.update_seq,
    taskHasUpdates: row.task_has_updates,
  }))
}

/** The attempts that a worker runs according to the database. Across projects. */
export async function listHeldRuns(tx: Pick<Tx, 'sql'>, workerId: string): Promise<(AttemptRef & { projectId: string })[]> {
  const rows = await tx.sql<{ project_id: string; id: string; attempt: number }[]>`
    select project_id, id, attempt from subtasks where status = 'running' and worker_id = ${workerId}`
  return rows.map((row) => ({ projectId: row.project_id, subtaskId: row.id, attempt: row.attempt }))
}

/** Locks the row of a running attempt; null if the attempt is no longer the current one, or its credential was replaced. */
export async function lockRun(tx: Tx, ref: AttemptRef, credentialHash: Buffer): Promise<{ updateSeq: number } | null> {
  const [row] = await tx.sql<{ update_seq: number }[]>`
    select update_seq from subtasks
    where id = ${ref.subtaskId} and attempt = ${ref.attempt} and status = 'running' and credential_hash = ${credentialHash} for update`
  return row === undefined ? null : { updateSeq: row.update_seq }
}

/** Locks the row of a running attempt; null if the attempt is no longer the current one. */
export async function lockAttempt(tx: Tx, ref: AttemptRef): Promise<{ stepSeq: number } | null> {
  const [row] = await tx.sql<{ step_seq: number }[]>`
    select step_seq from subtasks where id = ${ref.subtaskId} and attempt = ${ref.attempt} and status = 'running' for update`
  return row === undefined ? null : { stepSeq: row.step_seq }
}

/** Moves the timeout of a running attempt by the time in which it waited, in milliseconds. */
export async function postponeTimeout(tx: Tx, ref: AttemptRef, { ms, timeoutGraceSeconds }: { ms: number; timeoutGraceSeconds: number }): Promise<void> {
  await tx.sql`
    update subtasks set
      attempt_started_at = attempt_started_at + ${ms} * interval '1 millisecond', waited_ms = waited_ms + ${ms},
      lease_expires_at = least(
        muster_now() + lease_seconds * interval '1 second',
        attempt_started_at + ${ms} * interval '1 millisecond' + (timeout_seconds + ${timeoutGraceSeconds}) * interval '1 second')
    where id = ${ref.subtaskId} and attempt = ${ref.attempt} and status = 'running'`
}

/** Stores which revision of its task was delivered to a running attempt. Its row must be locked. */
export async function writeTaskRevision(tx: Tx, id: string, attempt: number, revision: number): Promise<void> {
  await tx.sql`update subtasks set task_revision = ${revision} where id = ${id} and attempt = ${attempt} and status = 'running' and task_revision is distinct from ${revision}`
}
