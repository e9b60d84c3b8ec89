import type { Tx } from '../client.ts'
import type { HeldInjection } from '../schema/injection-claims.ts'

export type { HeldInjection } from '../schema/injection-claims.ts'

const SESSION_LOCK_CLASS = 7302

/** Whether anything at all waits for a session: the answer for most requests of most agents, from indexes alone. */
export async function hasNews(tx: Tx, projectId: string, sessionId: string): Promise<boolean> {
  const [row] = await tx.sql<{ has_news: boolean }[]>`
    select exists (select from assignments where project_id = ${projectId} and session_id = ${sessionId} and has_news and ended_at is null)
      or exists (select from tsg_notices where project_id = ${projectId} and session_id = ${sessionId} and delivered_at is null)
      or exists (
        select from inbox where project_id = ${projectId} and session_id = ${sessionId} and delivered_at is null
          and (lease_expires_at is null or lease_expires_at < (select muster_now()))
      ) as has_news`
  return row?.has_news === true
}

/**
 * Locks what is handed over to a session until the end of the transaction, so that of two requests at once one gets everything and the
 * other what comes after it. Always a statement of its own, and before the locks of tasks.
 */
export async function lockSession(tx: Tx, projectId: string, sessionId: string): Promise<void> {
  await tx.sql`select pg_advisory_xact_lock(${SESSION_LOCK_CLASS}, hashtext(${`${projectId}/${sessionId}`}))`
}

/** What a session has been told of a task that it holds. */
export interface NewsOfTask {
  taskId: string
  isIntroduced: boolean
  deliveredSeq: number
  deliveredRevision: number | null
}

/** Tasks of a session with something to hand over, in the order in which they were assigned. True only under the tasks' locks. */
export async function listTasksWithNews(tx: Tx, projectId: string, sessionId: string, limit: number): Promise<NewsOfTask[]> {
  const rows = await tx.sql<{ task_id: string; is_introduced: boolean; delivered_seq: number; delivered_revision: number | null }[]>`
    select task_id, introduced_at is not null as is_introduced, delivered_seq, delivered_revision from assignments
    where project_id = ${projectId} and session_id = ${sessionId} and has_news and ended_at is null
    order by assigned_at, task_id limit ${limit}`
  return rows.map((row) => ({
    taskId: row.task_id,
    isIntroduced: row.is_introduced,
    deliveredSeq: row.delivered_seq,
    deliveredRevision: row.delivered_revision,
  }))
}

/** Whether a subtask's own session has news of the task that it runs. */
export async function taskHasNews(tx: Tx, taskId: string, sessionId: string): Promise<boolean> {
  const rows = await tx.sql`select from assignments where task_id = ${taskId} and session_id = ${sessionId} and has_news and ended_at is null`
  return rows.length > 0
}

/** How far what a session is told of a task goes: updates up to `seq`, which make up `revision`. */
export interface Handover {
  taskId: string
  seq: number
  revision: number
}

/**
 * Moves what a session has been told of a task it holds on to `seq`, and the receipts of the updates on the way. Answers the updates that
 * were delivered by it, in their order; null when the session does not hold the task any more. The task must be locked.
 */
export async function writeHandover(tx: Tx, projectId: string, sessionId: string, handover: Handover): Promise<string[] | null> {
  const { taskId, seq, revision } = handover
  const moved = await tx.sql`
    update assignments a set introduced_at = coalesce(introduced_at, muster_now()), delivered_seq = greatest(delivered_seq, ${seq}),
      delivered_revision = greatest(delivered_revision, ${revision}), has_news = t.update_seq > greatest(delivered_seq, ${seq})
    from tasks t
    where a.task_id = ${taskId} and a.session_id = ${sessionId} and a.ended_at is null and t.id = ${taskId}
    returning a.task_id`
  if (moved.length === 0) return null
  const rows = await tx.sql<{ id: string; seq: number }[]>`
    update updates set status = 'delivered', delivered_at = (select muster_now()), delivered_to = ${sessionId}
    where project_id = ${projectId} and task_id = ${taskId} and seq <= ${seq} and status = 'queued'
    returning id, seq`
  return rows.toSorted((one, other) => one.seq - other.seq).map((row) => row.id)
}

export interface InjectionClaim {
  id: string
  held: HeldInjection
  isLapsed: boolean
  isAcknowledged: boolean
  isReplaced: boolean
}

/** The manual claim of a session that waits for its acknowledgement, or null. The session must be locked. */
export async function findOpenClaim(tx: Tx, projectId: string, sessionId: string): Promise<InjectionClaim | null> {
  const rows = await tx.sql<RawClaim[]>`
    select id, held, lease_expires_at < muster_now() as is_lapsed, false as is_acknowledged, false as is_replaced
    from injection_claims where project_id = ${projectId} and session_id = ${sessionId} and acknowledged_at is null and replaced_at is null`
  return rows[0] === undefined ? null : toClaim(rows[0])
}

/** A claim of a session by its id, or null. The session must be locked. */
export async function findClaim(tx: Tx, projectId: string, sessionId: string, id: string): Promise<InjectionClaim | null> {
  const rows = await tx.sql<RawClaim[]>`
    select id, held, lease_expires_at < muster_now() as is_lapsed,
      acknowledged_at is not null as is_acknowledged, replaced_at is not null as is_replaced
    from injection_claims where id = ${id} and project_id = ${projectId} and session_id = ${sessionId}`
  return rows[0] === undefined ? null : toClaim(rows[0])
}

interface RawClaim {
  id: string
  held: HeldInjection
  is_lapsed: boolean
  is_acknowledged: boolean
  is_replaced: boolean
}

function toClaim(row: RawClaim): InjectionClaim {
  return {
    id: row.id,
    held: row.held,
    isLapsed: row.is_lapsed,
    isAcknowledged: row.is_acknowledged,
    isReplaced: row.is_replaced,
  }
}

/** Opens a claim. Answers when it lapses. The session must be locked and have none open. */
export async function insertClaim(
  tx: Tx,
  projectId: string,
  claim: { id: string; sessionId: string; held: HeldInjection; leaseSeconds: number },
): Promise<Date> {
  const [row] = await tx.sql<{ lease_expires_at: string }[]>`
    insert into injection_claims (project_id, id, session_id, held, lease_expires_at)
    values (${projectId}, ${claim.id}, ${claim.sessionId}, ${JSON.stringify(claim.held)}::jsonb, muster_now() + ${claim.leaseSeconds} * interval '1 second')
    returning lease_expires_at`
  return new Date(row?.lease_expires_at as string)
}

/**
 * Which of the tasks that a claim handed over its session has held ever since. One that was taken from it and given back meanwhile is
 * handed over from the beginning, and what the claim said of it counts for nothing. The tasks must be locked.
 */
export async function listTasksHeldSince(tx: Tx, claimId: string, taskIds: readonly string[]): Promise<string[]> {
  const rows = await tx.sql<{ task_id: string }[]>`
    select a.task_id from injection_claims c join assignments a on a.project_id = c.project_id and a.session_id = c.session_id
    where c.id = ${claimId} and a.task_id = any(${taskIds as string[]}::uuid[]) and a.ended_at is null and a.assigned_at <= c.created_at`
  return rows.map((row) => row.task_id)
}

/** Closes a claim whose lease has lapsed: what it held is handed out again. */
export async function replaceClaim(tx: Tx, id: string): Promise<void> {
  await tx.sql`update injection_claims set replaced_at = muster_now() where id = ${id}`
}

export async function acknowledgeClaim(tx: Tx, id: string): Promise<void> {
  await tx.sql`update injection_claims set acknowledged_at = muster_now() where id = ${id}`
}
