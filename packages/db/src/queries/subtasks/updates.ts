import type { Sender } from '@muster/domain'
import { and, asc, eq, gt, lte, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { subtasks } from '../../schema/subtasks.ts'
import { updates } from '../../schema/updates.ts'
import { anyOf } from '../core/lists.ts'

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

/** Queues a note for a subtask. Its row must be locked: the note gets its number among the updates under that lock. */
export async function insertNote(tx: Tx, note: NewNote): Promise<Update> {
  const [next] = await tx.orm
    .update(subtasks)
    .set({ updateSeq: sql`${subtasks.updateSeq} + 1` })
    .where(eq(subtasks.id, note.subtaskId))
    .returning({ seq: subtasks.updateSeq })
  return await insertUpdate(tx, { ...note, seq: next?.seq as number, updateType: 'note' })
}

/** Writes an update with its number. */
export async function insertUpdate(
  tx: Tx,
  { sender, ...row }: Omit<typeof updates.$inferInsert, 'senderKind' | 'senderId'> & { sender: Sender },
): Promise<Update> {
  const { kind, id, name = null } = sender
  // An update that was sent with a key has the name of the key.
  const senderName = kind === 'key' ? sql<string | null>`(select name from api_keys where project_id = ${row.projectId} and id::text = ${id})` : name
  const [inserted] = await tx.orm
    .insert(updates)
    .values({ ...row, senderKind: kind, senderId: id, senderName })
    .returning()
  return toUpdate(inserted as typeof updates.$inferSelect)
}

/** The updates for which some conditions hold, by number. */
export async function selectUpdates(tx: Tx, conditions: readonly SQL[], limit?: number): Promise<Update[]> {
  const query = tx.orm
    .select()
    .from(updates)
    .where(and(...conditions))
    .orderBy(asc(updates.seq))
  return (await (limit === undefined ? query : query.limit(limit))).map(toUpdate)
}

const ofSubtask = (projectId: string, subtaskId: string) => [eq(updates.projectId, projectId), eq(updates.subtaskId, subtaskId)]

/** Whether an update with this id was sent. */
export async function isSent(tx: Tx, projectId: string, id: string): Promise<boolean> {
  return (await selectUpdates(tx, [eq(updates.projectId, projectId), eq(updates.id, id)], 1)).length > 0
}

/** Updates of a subtask by number. */
export async function listUpdates(tx: Tx, projectId: string, subtaskId: string, afterSeq: number, limit: number): Promise<Update[]> {
  return await selectUpdates(tx, [...ofSubtask(projectId, subtaskId), gt(updates.seq, afterSeq)], limit)
}

/** Marks the queued updates of a subtask as delivered, and returns them by number. The subtask's row must be locked. */
export async function takeQueuedUpdates(tx: Tx, projectId: string, subtaskId: string, deliveredTo: string): Promise<Update[]> {
  const rows = await tx.orm
    .update(updates)
    .set({ status: 'delivered', deliveredAt: sql`(select muster_now())`, deliveredTo })
    .where(and(...ofSubtask(projectId, subtaskId), eq(updates.status, 'queued')))
    .returning()
  return rows.map(toUpdate).sort((one, other) => one.seq - other.seq)
}

/** Updates that were delivered to this session and not acknowledged yet, by number. */
export async function listUnacknowledged(tx: Tx, projectId: string, subtaskId: string, deliveredTo: string): Promise<Update[]> {
  return await selectUpdates(tx, [...ofSubtask(projectId, subtaskId), eq(updates.status, 'delivered'), eq(updates.deliveredTo, deliveredTo)])
}

/** Acknowledges updates. Ignores unknown ids, and updates that were not delivered. Returns the ids that changed. */
export async function acknowledgeUpdates(tx: Tx, projectId: string, subtaskId: string, updateIds: readonly string[]): Promise<string[]> {
  const rows = await tx.orm
    .update(updates)
    .set({ status: 'acknowledged', acknowledgedAt: sql`muster_now()` })
    .where(and(...ofSubtask(projectId, subtaskId), anyOf(updates.id, updateIds), eq(updates.status, 'delivered')))
    .returning({ id: updates.id })
  return rows.map((row) => row.id)
}

/** Updates of subtasks or tasks count as queued again: what was recorded as delivered did not arrive. */
export async function takeBackDeliveries(tx: Tx, projectId: string, updateIds: readonly string[]): Promise<void> {
  await tx.orm
    .update(updates)
    .set({ status: 'queued', deliveredTo: null, deliveredAt: null })
    .where(and(eq(updates.projectId, projectId), anyOf(updates.id, updateIds), eq(updates.status, 'delivered')))
}

/** Expires the updates of ended subtasks that were not delivered. */
export async function expireUpdates(tx: Tx, projectId: string, subtaskIds: readonly string[]): Promise<{ updateId: string; subtaskId: string }[]> {
  const rows = await tx.orm
    .update(updates)
    .set({ status: 'expired' })
    .where(and(eq(updates.projectId, projectId), anyOf(updates.subtaskId, subtaskIds), eq(updates.status, 'queued')))
    .returning({ updateId: updates.id, subtaskId: updates.subtaskId })
  return rows as { updateId: string; subtaskId: string }[]
}

/** The notes of a subtask up to a number, oldest first: part of its next prompt. */
export async function listNotesForBrief(tx: Tx, projectId: string, subtaskId: string, upToSeq: number): Promise<Update[]> {
  return await selectUpdates(tx, [...ofSubtask(projectId, subtaskId), lte(updates.seq, upToSeq)])
}

function toUpdate(row: typeof updates.$inferSelect): Update {
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
