import type { Sender, UpdateType } from '@muster/domain'
import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { updates } from '../../schema/updates.ts'
import { senderName, toUpdate, type Update } from '../subtasks/updates.ts'

export interface NewTaskUpdate {
  id: string
  projectId: string
  taskId: string
  updateType: UpdateType
  fields: string[]
  content: string
  diff: unknown
  /** The revision that it made, or that the brief had when it was sent. */
  revision: number
  sender: Sender
  status: 'queued' | 'superseded'
}

/** Writes an update of a task. Its row must be locked: the update's place among the others is assigned under that lock. */
export async function insertTaskUpdate(tx: Tx, update: NewTaskUpdate): Promise<Update> {
  const [place] = await tx.sql<{ seq: number }[]>`update tasks set update_seq = update_seq + 1 where id = ${update.taskId} returning update_seq as seq`
  const { sender, ...columns } = update
  const [row] = await tx.orm
    .insert(updates)
    .values({ ...columns, seq: place?.seq as number, senderKind: sender.kind, senderId: sender.id, senderName: senderName(update.projectId, sender) })
    .returning()
  return toUpdate(row as typeof updates.$inferSelect)
}

/** Updates of a task in their order. */
export async function listTaskUpdates(tx: Tx, projectId: string, taskId: string, afterSeq: number, limit: number): Promise<Update[]> {
  const rows = await tx.orm
    .select()
    .from(updates)
    .where(and(eq(updates.projectId, projectId), eq(updates.taskId, taskId), gt(updates.seq, afterSeq)))
    .orderBy(asc(updates.seq))
    .limit(limit)
  return rows.map(toUpdate)
}

/** Notes and requests for revision that whoever holds a task has been sent, in order: what a brief that is handed over anew has to contain. */
export async function listNotesForTaskBrief(tx: Tx, projectId: string, taskId: string): Promise<Update[]> {
  const rows = await tx.orm
    .select()
    .from(updates)
    .where(
      and(
        eq(updates.projectId, projectId),
        eq(updates.taskId, taskId),
        inArray(updates.updateType, ['note', 'revision_request']),
        inArray(updates.status, ['queued', 'delivered', 'acknowledged']),
      ),
    )
    .orderBy(asc(updates.seq))
  return rows.map(toUpdate)
}

/** One update, of a task or of a subtask. */
export async function findUpdate(tx: Tx, id: string): Promise<Update | null> {
  const [row] = await tx.orm.select().from(updates).where(eq(updates.id, id))
  return row === undefined ? null : toUpdate(row)
}

/** Marks what was never handed over as expired, when its task has ended. The task must be locked. */
export async function expireTaskUpdates(tx: Tx, projectId: string, taskId: string): Promise<string[]> {
  const rows = await tx.sql<{ id: string }[]>`
    update updates set status = 'expired' where project_id = ${projectId} and task_id = ${taskId} and status = 'queued' returning id`
  return rows.map((row) => row.id)
}

/**
 * Marks changes of the brief that were never handed over as superseded, when the task goes to another holder, who gets the brief as it
 * is then. Notes and requests for revision are no part of the brief: they stay queued for that holder. The task must be locked.
 */
export async function supersedeTaskUpdates(tx: Tx, projectId: string, taskId: string): Promise<string[]> {
  const rows = await tx.sql<{ id: string }[]>`
    update updates set status = 'superseded'
    where project_id = ${projectId} and task_id = ${taskId} and status = 'queued' and update_type not in ('note', 'revision_request')
    returning id`
  return rows.map((row) => row.id)
}

/**
 * Updates of a task that were handed over to the current attempt of the subtask that runs it and not acknowledged yet, in order. What an
 * earlier attempt was told is left out: it is part of the brief of this one, and newer changes may have come since. None of a task that is run no more.
 */
export async function listUnacknowledgedTaskUpdates(tx: Tx, projectId: string, taskId: string, sessionId: string): Promise<Update[]> {
  const rows = await tx.orm
    .select()
    .from(updates)
    .where(
      and(
        eq(updates.projectId, projectId),
        eq(updates.taskId, taskId),
        eq(updates.status, 'delivered'),
        eq(updates.deliveredTo, sessionId),
        sql`${updates.seq} > (select briefed_seq from assignments where task_id = ${taskId} and session_id = ${sessionId} and ended_at is null)`,
      ),
    )
    .orderBy(asc(updates.seq))
  return rows.map(toUpdate)
}

/** Records that updates of a task were taken in by their holder. Others are left alone. Answers which changed. */
export async function acknowledgeTaskUpdatesById(tx: Tx, projectId: string, taskId: string, deliveredTo: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.sql<{ id: string }[]>`
    update updates set status = 'acknowledged', acknowledged_at = muster_now()
    where project_id = ${projectId} and task_id = ${taskId} and delivered_to = ${deliveredTo} and id = any(${ids as string[]}::uuid[]) and status = 'delivered'
    returning id`
  return rows.map((row) => row.id)
}

/** Records that a session has taken in what it was handed of a task up to a revision. Answers which changed, in their order. */
export async function acknowledgeTaskUpdates(tx: Tx, projectId: string, taskId: string, upToRevision: number): Promise<string[]> {
  const rows = await tx.sql<{ id: string; seq: number }[]>`
    update updates set status = 'acknowledged', acknowledged_at = muster_now()
    where project_id = ${projectId} and task_id = ${taskId} and status = 'delivered' and revision <= ${upToRevision}
    returning id, seq`
  return rows.toSorted((one, other) => one.seq - other.seq).map((row) => row.id)
}
