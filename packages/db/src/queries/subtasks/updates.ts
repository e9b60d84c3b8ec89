import type { Sender } from '@muster/domain'
import { and, asc, eq, gt, inArray, lte, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { updates } from '../../schema/updates.ts'

export interface Update {
  updateId: string
  subtaskId: string | null
  taskId: string | null
  seq: number
  updateType: string
  fields: string[]
  content: string
  diff: unknown
  revision: number | null
  sender: Sender
  delivery: 'next_step' | 'interrupt'
  status: 'queued' | 'delivered' | 'acknowledged' | 'superseded' | 'expired'
  deliveredTo: string | null
  createdAt: Date
  deliveredAt: Date | null
  acknowledgedAt: Date | null
}

export interface NewNote {
  id: string
  projectId: string
  subtaskId: string
  content: string
  sender: Sender
  delivery: 'next_step' | 'interrupt'
}

/** Queues a note for a subtask. Its row must be locked: the note's place among its updates is assigned under that lock. */
export async function insertNote(tx: Tx, note: NewNote): Promise<Update> {
  const [place] = await tx.sql<{ seq: number }[]>`update subtasks set update_seq = update_seq + 1 where id = ${note.subtaskId} returning update_seq as seq`
  const [row] = await tx.orm
    .insert(updates)
    .values({
      projectId: note.projectId,
      id: note.id,
      subtaskId: note.subtaskId,
      seq: place?.seq as number,
      updateType: 'note',
      content: note.content,
      senderKind: note.sender.kind,
      senderId: note.sender.id,
      senderName: senderName(note.projectId, note.sender),
      delivery: note.delivery,
    })
    .returning()
  return toUpdate(row as typeof updates.$inferSelect)
}

/** Updates of a subtask in their order. */
export async function listUpdates(tx: Tx, projectId: string, subtaskId: string, afterSeq: number, limit: number): Promise<Update[]> {
  const rows = await tx.orm
    .select()
    .from(updates)
    .where(and(eq(updates.projectId, projectId), eq(updates.subtaskId, subtaskId), gt(updates.seq, afterSeq)))
    .orderBy(asc(updates.seq))
    .limit(limit)
  return rows.map(toUpdate)
}

/** Hands over what is queued for a subtask, in order. The subtask's row must be locked. */
export async function takeQueuedUpdates(tx: Tx, projectId: string, subtaskId: string, deliveredTo: string): Promise<Update[]> {
  const rows = await tx.sql<{ id: string }[]>`
    update updates set status = 'delivered', delivered_at = (select muster_now()), delivered_to = ${deliveredTo}
    where project_id = ${projectId} and subtask_id = ${subtaskId} and status = 'queued'
    returning id`
  return rows.length === 0
    ? []
    : (
        await tx.orm
          .select()
          .from(updates)
          .where(
            inArray(
              updates.id,
              rows.map((row) => row.id),
            ),
          )
          .orderBy(asc(updates.seq))
      ).map(toUpdate)
}

/** Updates that were handed over to this holder and not acknowledged yet, in order. */
export async function listUnacknowledged(tx: Tx, projectId: string, subtaskId: string, deliveredTo: string): Promise<Update[]> {
  const rows = await tx.orm
    .select()
    .from(updates)
    .where(and(eq(updates.projectId, projectId), eq(updates.subtaskId, subtaskId), eq(updates.status, 'delivered'), eq(updates.deliveredTo, deliveredTo)))
    .orderBy(asc(updates.seq))
  return rows.map(toUpdate)
}

/** Records that updates were taken in. Unknown ids, and updates that were never handed over, are left alone. Answers which changed. */
export async function acknowledgeUpdates(tx: Tx, projectId: string, subtaskId: string, updateIds: readonly string[]): Promise<string[]> {
  const rows = await tx.sql<{ id: string }[]>`
    update updates set status = 'acknowledged', acknowledged_at = muster_now()
    where project_id = ${projectId} and subtask_id = ${subtaskId} and id = any(${updateIds as string[]}::uuid[]) and status = 'delivered'
    returning id`
  return rows.map((row) => row.id)
}

/** Marks what was never handed over as expired, when its subtask has ended. */
export async function expireUpdates(tx: Tx, projectId: string, subtaskIds: readonly string[]): Promise<{ updateId: string; subtaskId: string }[]> {
  const rows = await tx.sql<{ id: string; subtask_id: string }[]>`
    update updates set status = 'expired'
    where project_id = ${projectId} and subtask_id = any(${subtaskIds as string[]}::uuid[]) and status = 'queued'
    returning id, subtask_id`
  return rows.map((row) => ({ updateId: row.id, subtaskId: row.subtask_id }))
}

/** The notes of a subtask up to a place, oldest first: what its next brief has to contain. */
export async function listNotesForBrief(tx: Tx, projectId: string, subtaskId: string, upToSeq: number): Promise<Update[]> {
  const rows = await tx.orm
    .select()
    .from(updates)
    .where(and(eq(updates.projectId, projectId), eq(updates.subtaskId, subtaskId), lte(updates.seq, upToSeq)))
    .orderBy(asc(updates.seq))
  return rows.map(toUpdate)
}

export function toUpdate(row: typeof updates.$inferSelect): Update {
  return {
    updateId: row.id,
    subtaskId: row.subtaskId,
    taskId: row.taskId,
    seq: row.seq,
    updateType: row.updateType,
    fields: row.fields,
    content: row.content,
    diff: row.diff,
    revision: row.revision,
    sender: { kind: row.senderKind, id: row.senderId, name: row.senderName },
    delivery: row.delivery,
    status: row.status,
    deliveredTo: row.deliveredTo,
    createdAt: row.createdAt,
    deliveredAt: row.deliveredAt,
    acknowledgedAt: row.acknowledgedAt,
  }
}

/** The name to store with an update: that of the key it was sent with, else what the sender gave. */
export function senderName(projectId: string, { kind, id, name = null }: Sender): SQL<string | null> | string | null {
  return kind === 'key' ? sql<string | null>`(select name from api_keys where project_id = ${projectId} and id::text = ${id})` : name
}
