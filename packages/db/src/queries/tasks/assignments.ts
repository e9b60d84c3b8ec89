import type { Tx } from '../../client.ts'

export interface Assignment {
  taskId: string
  sessionId: string
  assignedAt: Date
  briefDeliveredAt: Date | null
  deliveredSeq: number
  deliveredRevision: number | null
}

/** The session that holds a task now, or null. The task must be locked. */
export async function findActiveAssignment(tx: Tx, taskId: string): Promise<Assignment | null> {
  const [row] = await tx.sql<
    {
      session_id: string
      assigned_at: string
      introduced_at: string | null
      delivered_seq: number
      delivered_revision: number | null
    }[]
  >`select session_id, assigned_at, introduced_at, delivered_seq, delivered_revision from assignments where task_id = ${taskId} and ended_at is null`
  if (row === undefined) return null
  return {
    taskId,
    sessionId: row.session_id,
    assignedAt: new Date(row.assigned_at),
    briefDeliveredAt: row.introduced_at === null ? null : new Date(row.introduced_at),
    deliveredSeq: row.delivered_seq,
    deliveredRevision: row.delivered_revision,
  }
}

/**
 * Gives a task to a session, which has then been told nothing of it, even if it held it before. The task must be locked and held by
 * nobody.
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
      delivered_revision = null,
      has_news = true, ended_at = null, credential_hash = excluded.credential_hash`
}

/**
 * Begins the assignment of the session that holds a task anew: the next injection hands over the whole brief, and an open manual claim no
 * longer counts for the task. The time of the assignment stays, so that what the holder has reported since still counts. The task must be locked.
 */
export async function restartAssignment(tx: Tx, taskId: string, credentialHash: Buffer): Promise<void> {
  await tx.sql`
    update assignments set turn = turn + 1, introduced_at = null, delivered_seq = 0, delivered_revision = null, has_news = true,
      credential_hash = ${credentialHash}
    where task_id = ${taskId} and ended_at is null`
}

/** Replaces the credential of the session that holds a task. The task must be locked. */
export async function replaceCredential(tx: Tx, taskId: string, credentialHash: Buffer): Promise<void> {
  await tx.sql`update assignments set credential_hash = ${credentialHash} where task_id = ${taskId} and ended_at is null`
}

/** Takes a task from whoever holds it, credential included. The task must be locked. */
export async function endAssignments(tx: Tx, taskId: string): Promise<void> {
  await tx.sql`
    update assignments set ended_at = muster_now(), has_news = false, credential_hash = null where task_id = ${taskId} and ended_at is null`
}

/** Lets the next injection of whoever holds a task look at it. Answers that session; null when nobody holds it. */
export async function markUndelivered(tx: Tx, taskId: string): Promise<string | null> {
  const [row] = await tx.sql<{ session_id: string }[]>`
    update assignments set has_news = true where task_id = ${taskId} and ended_at is null returning session_id`
  return row?.session_id ?? null
}
