// SQL: a claim is one statement without a transaction, which every worker sends all the time.
import type { Tx } from '../../client.ts'
import { type AsText, CLAIMED, fromText, read, type SubtaskRow } from './row.ts'

/**
 * The queue's part of the statement that claims, as common table expressions: `taken(job_id, subtask_id)`, with what it needs before it, and the changes
 * of those jobs, which read the `job_id` of `claimed`.
 */
export interface ClaimingJobs {
  taken: ReturnType<Tx['sql']>
  /** Whether a project may have more jobs than were looked at. */
  isCut: ReturnType<Tx['sql']>
  moved: ReturnType<Tx['sql']>
}

/** The secrets of an attempt, made before its subtask is known. */
export interface ClaimSecrets {
  /** 32 random bytes: with the subtask's id, they make its credential. */
  credential: Buffer
  /** SHA-256 of an outside worker's lease token; null for our own workers, which hold no token. */
  leaseTokenHash: Buffer | null
}

/** What a run needs of its subtask. */
export type ClaimedRow = Pick<SubtaskRow, (typeof CLAIMED)[number]> & { jobId: string; leaseExpiresAt: Date }

/** The worker that claims, and the terms of its leases. */
export interface ClaimTerms {
  workerId: string
  leaseSeconds: number
  /** Added to the timeout of an attempt, so that the worker's own, kinder timer comes first. */
  timeoutGraceSeconds: number
  /** The start of a credential's token, before id and secret. */
  credentialPrefix: string
}

/** The result of one claim. */
export interface Claim {
  rows: (ClaimedRow & { credential: Buffer; place: number })[]
  /** How many jobs it took from the queue, with those that it removed because their rows were gone. */
  taken: number
  /** A project may have more waiting jobs than the claim looked at. */
  isCut: boolean
}

/** Makes the rest of a transaction read queues as the connections of `muster_dispatch` do (see `connect`). */
export async function readFromFront({ sql }: Pick<Tx, 'sql'>): Promise<void> {
  await sql`select set_config('enable_bitmapscan', 'off', true)`
}

/**
 * Takes jobs and turns their rows from pending to running, as new attempts of this worker. One statement, so one round trip and no transaction. It
 * ignores rows that are no longer pending with this job, and removes their jobs, which the transaction that changed them leaves to the claim. It does
 * not ask for the permit, which every row with a job has: the planner would read the whole index of unclaimed rows, which it takes for short. The lease
 * never ends after the attempt's own timeout, so that one index finds lapsed leases and overruns.
 *
 * @param jobs of `RunJobs.claiming` or `claimingOf`, for no more than there are secrets
 */
export async function claimRows(sql: Tx['sql'], jobs: ClaimingJobs, secrets: readonly ClaimSecrets[], terms: ClaimTerms): Promise<Claim> {
  const answer = await sql<(AsText<ClaimedRow> & { taken: number; is_cut: boolean; place: number })[]>`
    with recursive ${jobs.taken},
    moment as materialized (select muster_now() as now),
    claimed as (
      update subtasks s set
        status = 'running', attempt = s.attempt + 1, worker_id = ${terms.workerId},
        lease_expires_at = least(now + ${terms.leaseSeconds} * interval '1 second', now + (s.timeout_seconds + ${terms.timeoutGraceSeconds}) * interval '1 second'),
        lease_seconds = ${terms.leaseSeconds}, lease_renewed_at = now, attempt_started_at = now, started_at = coalesce(s.started_at, now),
        credential_hash = sha256(convert_to(${terms.credentialPrefix} || translate(encode(
          uuid_send(s.id) || decode((${secrets.map((each) => each.credential.toString('hex'))}::text[])[array_position(array(select subtask_id from taken), s.id)], 'hex'),
          'base64'), '+/', '-_'), 'UTF8')),
        lease_token_hash = decode((${secrets.map((each) => each.leaseTokenHash?.toString('hex') ?? null)}::text[])[array_position(array(select subtask_id from taken), s.id)], 'hex')
      from moment
      where s.id = any(array(select subtask_id from taken)) and s.job_id = any(array(select job_id from taken)) and s.status = 'pending'
      returning s.*, array_position(array(select subtask_id from taken), s.id) as place
    ),
    noted as (
      insert into attempts (project_id, subtask_id, attempt, worker_id, started_at)
      select project_id, id, attempt, worker_id, attempt_started_at from claimed
    ),
    announced as (
      insert into outbox (project_id, batch, size, at)
      select project_id, array_agg(row('subtask.started', 'subtask', id, null,
        jsonb_build_object('subtask_id', id, 'attempt', attempt, 'runner', runner, 'agent_id', agent_id), 'worker', worker_id)::muster_event),
        count(*), min(attempt_started_at)
      from claimed group by project_id
    ),
    ${jobs.moved}
    select (select count(*) from taken)::int as taken, ${jobs.isCut} as is_cut, place, ${sql.unsafe(read(CLAIMED, 'claimed'))}
    from (select) as one left join claimed on true order by rank_at, id`
  const rows = answer
    .filter((row) => row.id !== null)
    .map(({ taken: _, is_cut: __, ...row }) => ({
      ...fromText<ClaimedRow & { place: number }>(row),
      credential: (secrets[row.place - 1] as ClaimSecrets).credential,
    }))
  return { rows, taken: answer[0]?.taken ?? 0, isCut: answer[0]?.is_cut ?? false }
}

/**
 * Replaces the secrets of a running attempt, for a worker that did not receive the answer of its claim. Null if the attempt is no longer the current one.
 */
export async function reissueSecrets(tx: Tx, subtaskId: string, attempt: number, credentialHash: Buffer, leaseTokenHash: Buffer): Promise<ClaimedRow | null> {
  const [row] = await tx.sql<AsText<ClaimedRow>[]>`
    update subtasks s set credential_hash = ${credentialHash}, lease_token_hash = ${leaseTokenHash}
    where id = ${subtaskId} and attempt = ${attempt} and status = 'running'
    returning ${tx.sql.unsafe(read(CLAIMED, 's'))}`
  return row === undefined ? null : fromText<ClaimedRow>(row)
}

/**
 * The lease of a subtask, or null if there is no such subtask. Locks its row until the end of the transaction: otherwise an end by the reaper in between
 * would look like the caller's own.
 */
export async function findLease(tx: Tx, subtaskId: string): Promise<Lease | null> {
  const [row] = await tx.sql<(Omit<Lease, 'startedAt'> & { startedAt: string | null })[]>`
    select attempt, status, lease_token_hash as "tokenHash", worker_id as "workerId", traceparent, attempt_started_at as "startedAt"
    from subtasks where id = ${subtaskId} for update`
  return row === undefined ? null : { ...row, startedAt: row.startedAt === null ? null : new Date(row.startedAt) }
}

export interface Lease {
  attempt: number
  status: string
  tokenHash: Buffer | null
  workerId: string | null
  /** What asked for the subtask. */
  traceparent: string | null
  /** When the attempt was claimed. */
  startedAt: Date | null
}
