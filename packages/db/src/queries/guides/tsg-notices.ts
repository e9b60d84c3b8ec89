// SQL: injections and prompts take notices with everything else that waits for a session.
import type { Tx } from '../../client.ts'
import type { AttemptRef } from '../subtasks/settle.ts'

/** A guide that fits what a session met. */
export interface TsgNotice {
  tsgId: string
  title: string
  matchedPattern: string
}

/**
 * Stores notices for a session, one for each guide, once. Returns the guides that are new to the session. In the order of ids, so that two
 * transactions that store the same ones cannot wait for each other.
 */
export async function insertTsgNotices(
  tx: Tx,
  projectId: string,
  sessionId: string,
  notices: readonly { tsgId: string; pattern: string }[],
): Promise<string[]> {
  const rows = await tx.sql<{ tsg_id: string }[]>`
    insert into tsg_notices (project_id, session_id, tsg_id, matched_pattern)
    select ${projectId}, ${sessionId}, n.tsg_id, n.pattern
    from jsonb_to_recordset(${JSON.stringify(notices.map(({ tsgId, pattern }) => ({ tsg_id: tsgId, pattern })))}::jsonb) as n(tsg_id text, pattern text)
    order by n.tsg_id
    on conflict do nothing
    returning tsg_id`
  return rows.map((row) => row.tsg_id)
}

/**
 * Takes the notices that wait for a session, oldest first, and the best first of those that came together. This is their delivery: two concurrent
 * calls take different ones. Notices of deleted guides are dropped.
 *
 * @param run the attempt that they are for, if any: it takes none unless it is the current, running one
 */
export async function takeTsgNotices(tx: Tx, projectId: string, sessionId: string, run: AttemptRef | null = null): Promise<TsgNotice[]> {
  const rows = await tx.sql<{ tsg_id: string; title: string; matched_pattern: string }[]>`
    with taken as (
      update tsg_notices set delivered_at = muster_now()
      where project_id = ${projectId} and session_id = ${sessionId} and delivered_at is null
        and (${run === null} or exists (select from subtasks s where s.id = ${run?.subtaskId ?? null} and s.attempt = ${run?.attempt ?? null} and s.status = 'running'))
      returning tsg_id, matched_pattern, created_at
    )
    select t.tsg_id, g.title, t.matched_pattern
    from taken t join tsgs g on g.project_id = ${projectId} and g.tsg_id = t.tsg_id
    order by t.created_at, array_position(array['critical', 'high', 'medium', 'low'], g.severity), char_length(t.matched_pattern) desc, t.tsg_id`
  return rows.map((row) => ({ tsgId: row.tsg_id, title: row.title, matchedPattern: row.matched_pattern }))
}

/** The notices that wait for a session, in the same order, without delivering them. */
export async function listTsgNotices(tx: Tx, projectId: string, sessionId: string): Promise<TsgNotice[]> {
  const rows = await tx.sql<{ tsg_id: string; title: string; matched_pattern: string }[]>`
    select n.tsg_id, g.title, n.matched_pattern
    from tsg_notices n join tsgs g on g.project_id = ${projectId} and g.tsg_id = n.tsg_id
    where n.project_id = ${projectId} and n.session_id = ${sessionId} and n.delivered_at is null
    order by n.created_at, array_position(array['critical', 'high', 'medium', 'low'], g.severity), char_length(n.matched_pattern) desc, n.tsg_id`
  return rows.map((row) => ({ tsgId: row.tsg_id, title: row.title, matchedPattern: row.matched_pattern }))
}

/** Marks notices of a session as delivered. */
export async function markTsgNoticesDelivered(tx: Tx, projectId: string, sessionId: string, tsgIds: readonly string[]): Promise<void> {
  await tx.sql`
    update tsg_notices set delivered_at = muster_now()
    where project_id = ${projectId} and session_id = ${sessionId} and tsg_id = any(${tsgIds as string[]}) and delivered_at is null`
}

/** A number that every change of a guide increases. */
export async function readTsgRevision(tx: Tx, projectId: string): Promise<number> {
  const [row] = await tx.sql<{ tsg_revision: number }[]>`select tsg_revision from projects where id = ${projectId}`
  return row?.tsg_revision ?? 0
}
