// SQL: one statement takes the results for an injection, sized and with their evaluations.
import {
  completionText,
  cutToBytes,
  expectedAnswerText,
  type FinalOutcome,
  type QuestionStatus,
  RESULT_BYTES_MAX,
  type Recommendation,
  type ReportedTaskStatus,
  type TerminalStatus,
} from '@muster/domain'
import type { Tx } from '../../client.ts'
import { readBodies } from '../core/bodies.ts'

export interface InboxItem {
  inboxId: string
  /** Null unless the item is about a question. */
  questionId: string | null
  /** Null for an item about a task. */
  subtaskId: string | null
  /** The task of the item or of its subtask; null for a subtask without a task. */
  taskId: string | null
  /** The text of the subtask, the title of the task, or the prompt of the question. */
  task: string
  /** `in_review` for tasks only; that of the question for a question. */
  status: TerminalStatus | ReportedTaskStatus | QuestionStatus
  /** Null for a task and for a question. */
  finalOutcome: FinalOutcome | null
  /** Score and recommendation of the latest evaluation of its result. */
  score: number | null
  recommendation: Recommendation | null
  /** Null for a poor result as well: then the summary says what is wrong with it. For a question, what its answer has to fit. */
  result: string | null
  summary: string | null
  error: string | null
  truncated: boolean
  completedAt: Date
}

export interface InboxClaim {
  sessionId: string
  claimId: string
  /** Maximum number of items. */
  limit: number
  /** Maximum bytes of text. The first item comes whatever its size. */
  bytesMax: number
  leaseSeconds: number | null
}

/**
 * Takes the items that wait for a session, oldest first. With `leaseSeconds` they come again after that time unless they are acknowledged; without,
 * this is their delivery. Two concurrent claims take different items.
 *
 * @returns `hasMore` if the limit or the bytes left items behind
 */
export async function claimInboxItems(tx: Tx, projectId: string, claim: InboxClaim): Promise<{ items: InboxItem[]; hasMore: boolean }> {
  const rows = await tx.sql<
    {
      inbox_id: string
      question_id: string | null
      asked: Parameters<typeof expectedAnswerText>[0] | null
      subtask_id: string | null
      task_id: string | null
      task: string
      status: InboxItem['status']
      final_outcome: FinalOutcome | null
      score: number | null
      recommendation: Recommendation | null
      result: string | null
      result_body_id: string | null
      completion_outputs: Record<string, unknown> | null
      summary: string | null
      error: string | null
      result_truncated: boolean
      completed_at: string
      has_more: boolean
    }[]
  >`
    with candidates as (
      select id, subtask_id, task_id, question_id from inbox
      where project_id = ${projectId} and session_id = ${claim.sessionId} and delivered_at is null
        and (lease_expires_at is null or lease_expires_at < muster_now())
      order by id limit ${claim.limit + 1} for update skip locked
    ),
    sized as (
      select c.id, row_number() over (order by c.id) as place,
        sum(coalesce(octet_length(b.bytes), octet_length(s.result), octet_length(k.completion_outputs::text), 0)
          + coalesce(octet_length(k.title), octet_length(s.task), octet_length(q.prompt) + coalesce(octet_length(coalesce(q.options, q.arguments, q.schema)::text), 0), 0) + coalesce(octet_length(k.summary), octet_length(s.summary), 0)
          + coalesce(octet_length(k.last_error), octet_length(s.error), 0)) over (order by c.id) as bytes
      from candidates c left join subtasks s on s.id = c.subtask_id left join bodies b on b.id = s.result_body_id left join tasks k on k.id = c.task_id
        left join questions q on q.id = c.question_id
    ),
    waiting as (
      select id from sized where place <= ${claim.limit} and (place = 1 or bytes <= ${claim.bytesMax}::int)
    ),
    taken as (
      update inbox i set claim_id = ${claim.claimId},
        delivered_at = case when ${claim.leaseSeconds}::int is null then muster_now() end,
        lease_expires_at = muster_now() + ${claim.leaseSeconds}::int * interval '1 second'
      from waiting where i.id = waiting.id
      returning i.id, i.subtask_id, i.task_id, i.task_status, i.question_id, i.created_at
    )
    select t.id as inbox_id, t.question_id, coalesce(t.subtask_id, q.subtask_id) as subtask_id,
      case when q.id is not null
        then jsonb_build_object('options', q.options, 'schema', q.schema, 'arguments', q.arguments, 'argumentsDigest', q.arguments_digest) end as asked,
      coalesce(t.task_id, s.task_id, q.task_id, a.task_id) as task_id, coalesce(k.title, s.task, q.prompt) as task,
      coalesce(t.task_status, s.status, q.status) as status, s.final_outcome, e.score, e.recommendation,
      case when not coalesce(e.is_poor, false) then s.result end as result, case when not coalesce(e.is_poor, false) then s.result_body_id end as result_body_id,
      case when t.task_status in ('in_review', 'completed') and not coalesce(e.is_poor, false) then k.completion_outputs end as completion_outputs,
      case when e.is_poor then e.summary when t.task_status in ('in_review', 'completed') then k.summary else s.summary end as summary,
      case when t.task_status in ('failed', 'cancelled', 'blocked') then k.last_error else s.error end as error,
      coalesce(s.result_truncated, false) as result_truncated, coalesce(s.completed_at, case when t.task_status not in ('in_review', 'blocked') then k.completed_at end, t.created_at) as completed_at,
      (select count(*) from candidates) > (select count(*) from waiting) as has_more
    from taken t left join subtasks s on s.id = t.subtask_id left join tasks k on k.id = t.task_id left join questions q on q.id = t.question_id
      left join subtasks a on a.id = q.subtask_id
    left join lateral (
      select l.score, l.recommendation, l.summary, l.recommendation = 'request_revision' as is_poor from (
        (select score, recommendation, summary from evaluations
          where project_id = ${projectId} and subtask_id = t.subtask_id order by is_judged desc limit 1)
        union all
        (select score, recommendation, summary from evaluations
          where project_id = ${projectId} and task_id = t.task_id and t.task_status in ('in_review', 'completed') and origin = 'completion'
          order by id desc limit 1)
      ) as l
    ) as e on true
    where s.id is not null or k.id is not null or q.id is not null
    order by t.id`
  const bodies = await readBodies(
    tx,
    rows.flatMap((row) => row.result_body_id ?? []),
  )
  const items = rows.map((row) => {
    const outputs = submitted(row.completion_outputs)
    return {
      inboxId: row.inbox_id,
      questionId: row.question_id,
      subtaskId: row.subtask_id,
      taskId: row.task_id,
      task: row.task,
      status: row.status,
      finalOutcome: row.final_outcome,
      score: row.score,
      recommendation: row.recommendation,
      result:
        row.asked === null
          ? (outputs?.text ?? (row.result_body_id === null ? row.result : (bodies.get(row.result_body_id) ?? null)))
          : expectedAnswerText(row.asked),
      summary: row.summary,
      error: row.error,
      truncated: outputs?.truncated ?? row.result_truncated,
      completedAt: new Date(row.completed_at),
    }
  })
  return { items, hasMore: rows[0]?.has_more ?? false }
}

/** Puts a question into the inbox of the session that is asked. */
export async function insertQuestionItem(tx: Tx, projectId: string, item: { id: string; sessionId: string; questionId: string }): Promise<void> {
  await tx.sql`
    insert into inbox (project_id, id, session_id, question_id) values (${projectId}, ${item.id}, ${item.sessionId}, ${item.questionId})`
}

/** The outputs of a completed task as the text of a result. Null if it has none. */
function submitted(outputs: Record<string, unknown> | null): { text: string; truncated: boolean } | null {
  return outputs === null || Object.keys(outputs).length === 0 ? null : cutToBytes(completionText(null, outputs), RESULT_BYTES_MAX)
}

/** Puts an ended subtask into the inbox of its parent session, if it has one: once, however often it is called. */
export async function insertSubtaskItem(tx: Tx, projectId: string, id: string, subtaskId: string): Promise<void> {
  await tx.sql`
    insert into inbox (project_id, id, session_id, subtask_id)
    select ${projectId}, ${id}, parent_session_id, id from subtasks where id = ${subtaskId} and parent_session_id is not null
    on conflict (subtask_id) do nothing`
}

/** Inserts an inbox item for the end or the review of a locked task. */
export async function insertTaskItem(
  tx: Tx,
  projectId: string,
  item: { id: string; sessionId: string; taskId: string; taskStatus: ReportedTaskStatus },
): Promise<void> {
  await tx.sql`
    insert into inbox (project_id, id, session_id, task_id, task_status)
    values (${projectId}, ${item.id}, ${item.sessionId}, ${item.taskId}, ${item.taskStatus})`
}

/** Acknowledges a leased claim. Returns how many items it still held. */
export async function acknowledgeInboxClaim(tx: Tx, projectId: string, sessionId: string, claimId: string): Promise<number> {
  const rows = await tx.sql`
    update inbox set delivered_at = muster_now(), lease_expires_at = null
    where project_id = ${projectId} and session_id = ${sessionId} and claim_id = ${claimId} and delivered_at is null
    returning id`
  return rows.length
}

/** Whether a claim with this id was acknowledged or still holds items. */
export async function inboxClaimExists(tx: Tx, projectId: string, sessionId: string, claimId: string): Promise<boolean> {
  const rows = await tx.sql`select from inbox where project_id = ${projectId} and session_id = ${sessionId} and claim_id = ${claimId} limit 1`
  return rows.length > 0
}
