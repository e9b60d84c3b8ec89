import type { FinalOutcome, Recommendation, SubtaskStatus } from '@muster/domain'
import type { Tx } from '../client.ts'
import { readBodies } from './bodies.ts'

export interface InboxItem {
  inboxId: string
  subtaskId: string
  taskId: string | null
  task: string
  status: SubtaskStatus
  finalOutcome: FinalOutcome
  /** Of the latest evaluation of its result; so is the recommendation. */
  score: number | null
  recommendation: Recommendation | null
  /** Null also where it is poor: then the summary says what is wrong with it. */
  result: string | null
  summary: string | null
  error: string | null
  truncated: boolean
  completedAt: Date
}

/**
 * Hands over what waits for a session, oldest first. With `leaseSeconds` the items come again after that time unless
 * acknowledged; without, this is their delivery. Two claims at once take different items, each once.
 */
export async function claimInboxItems(
  tx: Tx,
  projectId: string,
  claim: { sessionId: string; claimId: string; limit: number; leaseSeconds: number | null },
): Promise<InboxItem[]> {
  const rows = await tx.sql<
    {
      inbox_id: string
      subtask_id: string
      task_id: string | null
      task: string
      status: SubtaskStatus
      final_outcome: FinalOutcome
      score: number | null
      recommendation: Recommendation | null
      result: string | null
      result_body_id: string | null
      summary: string | null
      error: string | null
      result_truncated: boolean
      completed_at: string
    }[]
  >`
    with waiting as (
      select id from inbox
      where project_id = ${projectId} and session_id = ${claim.sessionId} and delivered_at is null
        and (lease_expires_at is null or lease_expires_at < muster_now())
      order by id limit ${claim.limit} for update skip locked
    ),
    taken as (
      update inbox i set claim_id = ${claim.claimId},
        delivered_at = case when ${claim.leaseSeconds}::int is null then muster_now() end,
        lease_expires_at = muster_now() + ${claim.leaseSeconds}::int * interval '1 second'
      from waiting where i.id = waiting.id
      returning i.id, i.subtask_id
    )
    select t.id as inbox_id, t.subtask_id, s.task_id, s.task, s.status, s.final_outcome, e.score, e.recommendation,
      case when not coalesce(e.is_poor, false) then s.result end as result, case when not coalesce(e.is_poor, false) then s.result_body_id end as result_body_id,
      case when e.is_poor then e.summary else s.summary end as summary, s.error, s.result_truncated, s.completed_at
    from taken t join subtasks s on s.id = t.subtask_id
    left join lateral (
      select l.score, l.recommendation, l.summary, l.recommendation = 'request_revision' as is_poor from evaluations l
      where l.project_id = ${projectId} and l.subtask_id = t.subtask_id order by l.is_judged desc limit 1
    ) as e on true
    order by t.id`
  const bodies = await readBodies(
    tx,
    rows.flatMap((row) => row.result_body_id ?? []),
  )
  return rows.map((row) => ({
    inboxId: row.inbox_id,
    subtaskId: row.subtask_id,
    taskId: row.task_id,
    task: row.task,
    status: row.status,
    finalOutcome: row.final_outcome,
    score: row.score,
    recommendation: row.recommendation,
    result: row.result_body_id === null ? row.result : (bodies.get(row.result_body_id) ?? null),
    summary: row.summary,
    error: row.error,
    truncated: row.result_truncated,
    completedAt: new Date(row.completed_at),
  }))
}

/** Makes a leased claim final. Answers how many items it still held. */
export async function acknowledgeInboxClaim(tx: Tx, projectId: string, sessionId: string, claimId: string): Promise<number> {
  const rows = await tx.sql`
    update inbox set delivered_at = muster_now(), lease_expires_at = null
    where project_id = ${projectId} and session_id = ${sessionId} and claim_id = ${claimId} and delivered_at is null
    returning id`
  return rows.length
}

/** Whether a claim of this id was ever acknowledged or still holds items. */
export async function inboxClaimExists(tx: Tx, projectId: string, sessionId: string, claimId: string): Promise<boolean> {
  const rows = await tx.sql`select from inbox where project_id = ${projectId} and session_id = ${sessionId} and claim_id = ${claimId} limit 1`
  return rows.length > 0
}
