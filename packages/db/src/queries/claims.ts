import type { RequiredOutput } from '@muster/domain'
import type { Tx } from '../client.ts'

/** A fetched job and the secrets of the attempt that it may start. */
export interface ClaimCandidate {
  subtaskId: string
  jobId: string
  /** SHA-256 of the subtask's own credential. */
  credentialHash: Buffer
  /** SHA-256 of an outside worker's lease token; null for our own workers, which hold no token. */
  leaseTokenHash: Buffer | null
}

/** What running a claimed subtask takes. */
export interface ClaimedRow {
  id: string
  projectId: string
  agentId: string
  parentSessionId: string | null
  task: string
  taskId: string | null
  taskRevision: number | null
  background: boolean
  runner: string
  model: string | null
  jobId: string
  attempt: number
  timeoutSeconds: number
  budgetMaxSteps: number
  budgetMaxTokens: number | null
  budgetMaxCostMicros: number | null
  /** Used by earlier attempts. */
  inputTokens: number
  outputTokens: number
  costMicros: number
  requiredOutputs: RequiredOutput[]
  metadata: Record<string, unknown>
  feedback: string | null
  /** Above 0 when notes were sent to it: they have to be read before it starts. */
  updateSeq: number
  /** Place of the last step of earlier attempts. */
  stepSeq: number
  leaseExpiresAt: Date
}

type RawClaimedRow = Omit<ClaimedRow, 'leaseExpiresAt'> & { leaseExpiresAt: string }

/**
 * Turns the rows of fetched jobs from pending to running, as a new attempt of this worker. Rows that are no longer pending with
 * exactly this job are left out: whoever changed them has taken the job out of the queue, or leaves that to the caller.
 * The lease never reaches beyond the attempt's own timeout, so that one index finds lapsed leases and overruns alike.
 */
export async function claimRows(
  tx: Tx,
  candidates: readonly ClaimCandidate[],
  worker: { id: string; leaseSeconds: number; timeoutGraceSeconds: number },
): Promise<ClaimedRow[]> {
  const rows = await tx.sql<RawClaimedRow[]>`
    with candidate as (
      select * from unnest(
        ${candidates.map((candidate) => candidate.subtaskId)}::uuid[], ${candidates.map((candidate) => candidate.jobId)}::uuid[],
        ${candidates.map((candidate) => candidate.credentialHash.toString('hex'))}::text[],
        ${candidates.map((candidate) => candidate.leaseTokenHash?.toString('hex') ?? null)}::text[]
      ) as c(id, job_id, credential, lease_token)
    ),
    moment as materialized (select muster_now() as now),
    claimed as (
      update subtasks s set
        status = 'running', attempt = s.attempt + 1, worker_id = ${worker.id},
        lease_expires_at = least(now + ${worker.leaseSeconds} * interval '1 second', now + (s.timeout_seconds + ${worker.timeoutGraceSeconds}) * interval '1 second'),
        lease_seconds = ${worker.leaseSeconds}, attempt_started_at = now, started_at = coalesce(s.started_at, now),
        credential_hash = decode(c.credential, 'hex'), lease_token_hash = decode(c.lease_token, 'hex')
      from candidate c, moment
      where s.id = c.id and s.job_id = c.job_id and s.status = 'pending' and s.slot and s.id = any(${candidates.map((candidate) => candidate.subtaskId)})
      returning s.*
    ),
    noted as (
      insert into attempts (project_id, subtask_id, attempt, worker_id, started_at)
      select project_id, id, attempt, worker_id, attempt_started_at from claimed
    ),
    announced as (
      insert into outbox (project_id, type, subject_kind, subject_id, data, actor_kind, actor_id)
      select project_id, 'subtask.started', 'subtask', id,
        jsonb_build_object('subtask_id', id, 'attempt', attempt, 'runner', runner, 'agent_id', agent_id), 'worker', worker_id
      from claimed
    )
    select id, project_id as "projectId", agent_id as "agentId", parent_session_id as "parentSessionId", task, task_id as "taskId",
      task_revision as "taskRevision", background, runner, model, job_id as "jobId", attempt, timeout_seconds as "timeoutSeconds",
      budget_max_steps as "budgetMaxSteps", budget_max_tokens as "budgetMaxTokens", budget_max_cost_micros as "budgetMaxCostMicros",
      input_tokens as "inputTokens", output_tokens as "outputTokens", cost_micros as "costMicros",
      required_outputs as "requiredOutputs", metadata, feedback, update_seq as "updateSeq", step_seq as "stepSeq", lease_expires_at as "leaseExpiresAt"
    from claimed order by rank_at, id`
  return rows.map((row) => ({ ...row, leaseExpiresAt: new Date(row.leaseExpiresAt) }))
}

/**
 * Gives a still running attempt new secrets: for a worker whose claim was answered but that never saw the answer.
 * Null when the attempt is no longer the current one.
 */
export async function reissueSecrets(tx: Tx, subtaskId: string, attempt: number, credentialHash: Buffer, leaseTokenHash: Buffer): Promise<ClaimedRow | null> {
  const [row] = await tx.sql<RawClaimedRow[]>`
    update subtasks set credential_hash = ${credentialHash}, lease_token_hash = ${leaseTokenHash}
    where id = ${subtaskId} and attempt = ${attempt} and status = 'running'
    returning id, project_id as "projectId", agent_id as "agentId", parent_session_id as "parentSessionId", task, task_id as "taskId",
      task_revision as "taskRevision", background, runner, model, job_id as "jobId", attempt, timeout_seconds as "timeoutSeconds",
      budget_max_steps as "budgetMaxSteps", budget_max_tokens as "budgetMaxTokens", budget_max_cost_micros as "budgetMaxCostMicros",
      input_tokens as "inputTokens", output_tokens as "outputTokens", cost_micros as "costMicros",
      required_outputs as "requiredOutputs", metadata, feedback, update_seq as "updateSeq", step_seq as "stepSeq", lease_expires_at as "leaseExpiresAt"`
  return row === undefined ? null : { ...row, leaseExpiresAt: new Date(row.leaseExpiresAt) }
}

/**
 * Whose lease a subtask's is, or null when there is no such subtask. Locks its row: what the lease proves must hold until the end of
 * the transaction, or an end by the reaper in between would be taken for the caller's own.
 */
export async function findLease(
  tx: Tx,
  subtaskId: string,
): Promise<{ attempt: number; status: string; tokenHash: Buffer | null; workerId: string | null } | null> {
  const [row] = await tx.sql<{ attempt: number; status: string; lease_token_hash: Buffer | null; worker_id: string | null }[]>`
    select attempt, status, lease_token_hash, worker_id from subtasks where id = ${subtaskId} for update`
  return row === undefined ? null : { attempt: row.attempt, status: row.status, tokenHash: row.lease_token_hash, workerId: row.worker_id }
}
