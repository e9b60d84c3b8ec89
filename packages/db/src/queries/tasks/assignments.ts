// SQL: the runs of tasks begin and end with these statements, those that end in the transaction of a whole batch of settled runs.
import type { Tx } from '../../client.ts'

export interface Assignment {
  sessionId: string
  assignedAt: Date
  deliveredRevision: number | null
}

/** The assignment of the session that holds a task now, or null. The task must be locked. */
export async function findActiveAssignment(tx: Tx, taskId: string): Promise<Assignment | null> {
  const [row] = await tx.sql<{ session_id: string; assigned_at: string; delivered_revision: number | null }[]>`
    select session_id, assigned_at, delivered_revision from assignments where task_id = ${taskId} and ended_at is null`
  return row === undefined ? null : { sessionId: row.session_id, assignedAt: new Date(row.assigned_at), deliveredRevision: row.delivered_revision }
}

/**
 * Assigns a task to a session, to which nothing of it counts as delivered, even if it held the task before. The task must be locked and have no
 * assignee.
 */
export async function openAssignment(
  tx: Tx,
  projectId: string,
  assignment: { taskId: string; sessionId: string; credentialHash: Buffer | null },
): Promise<void> {
  await tx.sql`
    insert into assignments (project_id, task_id, session_id, credential_hash)
    values (${projectId}, ${assignment.taskId}, ${assignment.sessionId}, ${assignment.credentialHash})
    on conflict (task_id, session_id) do update set assigned_at = muster_now(), turn = assignments.turn + 1, introduced_at = null, delivered_seq = 0,
      delivered_revision = null, has_news = true, ended_at = null, credential_hash = excluded.credential_hash`
}

/**
 * Restarts the assignment of a task: the next injection delivers the whole brief, and an open manual claim no longer counts for the task. The time
 * of the assignment stays, so that reports of the assignee since then still count. The task must be locked.
 */
export async function restartAssignment(tx: Tx, taskId: string, credentialHash: Buffer): Promise<void> {
  await tx.sql`
    update assignments set turn = turn + 1, introduced_at = null, delivered_seq = 0, delivered_revision = null, has_news = true,
      credential_hash = ${credentialHash}
    where task_id = ${taskId} and ended_at is null`
}

/** Replaces the credential of the assignee. The task must be locked. */
export async function replaceCredential(tx: Tx, taskId: string, credentialHash: Buffer): Promise<void> {
  await tx.sql`update assignments set credential_hash = ${credentialHash} where task_id = ${taskId} and ended_at is null`
}

/** Ends the assignment of a task, and its credential. The task must be locked. */
export async function endAssignments(tx: Tx, taskId: string): Promise<void> {
  await tx.sql`
    update assignments set ended_at = muster_now(), has_news = false, credential_hash = null where task_id = ${taskId} and ended_at is null`
}

/** Makes the next injection of the assignee look at the task. Returns the assignee; null for none. */
export async function markUndelivered(tx: Tx, taskId: string): Promise<string | null> {
  const [row] = await tx.sql<{ session_id: string }[]>`
    update assignments set has_news = true where task_id = ${taskId} and ended_at is null returning session_id`
  return row?.session_id ?? null
}
