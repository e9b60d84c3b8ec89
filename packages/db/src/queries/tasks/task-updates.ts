import type { Sender, UpdateType } from '@muster/domain'
import { and, eq, gt, inArray, lte, notInArray, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { tasks } from '../../schema/tasks.ts'
import { updates } from '../../schema/updates.ts'
import { anyOf } from '../core/lists.ts'
import { insertUpdate, selectUpdates, type Update } from '../subtasks/updates.ts'

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

/** Writes an update of a task. Its row must be locked: the update gets its number under that lock. */
export async function insertTaskUpdate(tx: Tx, update: NewTaskUpdate): Promise<Update> {
  const [next] = await tx.orm
    .update(tasks)
    .set({ updateSeq: sql`${tasks.updateSeq} + 1` })
    .where(eq(tasks.id, update.taskId))
    .returning({ seq: tasks.updateSeq })
  return await insertUpdate(tx, { ...update, seq: next?.seq as number })
}

const ofTask = (projectId: string, taskId: string) => [eq(updates.projectId, projectId), eq(updates.taskId, taskId)]

/** Updates of a task by number. */
export async function listTaskUpdates(tx: Tx, projectId: string, taskId: string, afterSeq: number, limit: number): Promise<Update[]> {
  return await selectUpdates(tx, [...ofTask(projectId, taskId), gt(updates.seq, afterSeq)], limit)
}

/** Those that are no part of the brief: a new assignee receives them after it. */
const BESIDE_BRIEF = ['note', 'revision_request'] as const

/** Notes and requests for revision that assignees of a task were sent, by number: a brief that is delivered again includes them. */
export async function listNotesForTaskBrief(tx: Tx, projectId: string, taskId: string): Promise<Update[]> {
  const conditions = [inArray(updates.updateType, [...BESIDE_BRIEF]), inArray(updates.status, ['queued', 'delivered', 'acknowledged'])]
  return await selectUpdates(tx, [...ofTask(projectId, taskId), ...conditions])
}

/** One update, of a task or of a subtask. */
export async function findUpdate(tx: Tx, id: string): Promise<Update | null> {
  const [update] = await selectUpdates(tx, [eq(updates.id, id)])
  return update ?? null
}

/** Expires the updates of an ended task that were not delivered. The task must be locked. */
export async function expireTaskUpdates(tx: Tx, projectId: string, taskId: string): Promise<string[]> {
  return await changeStatus(tx, { status: 'expired' }, [...ofTask(projectId, taskId), eq(updates.status, 'queued')])
}

/**
 * Supersedes changes of the brief that were not delivered when the task goes to another assignee, which receives the brief as it is then. Notes and
 * requests for revision stay queued for that assignee. The task must be locked.
 */
export async function supersedeTaskUpdates(tx: Tx, projectId: string, taskId: string): Promise<string[]> {
  const conditions = [eq(updates.status, 'queued'), notInArray(updates.updateType, [...BESIDE_BRIEF])]
  return await changeStatus(tx, { status: 'superseded' }, [...ofTask(projectId, taskId), ...conditions])
}

/**
 * Updates of a task that were delivered to the current attempt of the subtask that runs it and not acknowledged yet, by number. Updates that went to an
 * earlier attempt are part of the prompt of this one. None once the task has ended its run.
 */
export async function listUnacknowledgedTaskUpdates(tx: Tx, projectId: string, taskId: string, sessionId: string): Promise<Update[]> {
  const briefed = sql`(select briefed_seq from assignments where task_id = ${taskId} and session_id = ${sessionId} and ended_at is null)`
  const conditions = [eq(updates.status, 'delivered'), eq(updates.deliveredTo, sessionId), gt(updates.seq, briefed)]
  return await selectUpdates(tx, [...ofTask(projectId, taskId), ...conditions])
}

const ACKNOWLEDGED = { status: 'acknowledged', acknowledgedAt: sql`muster_now()` } as const

/** Acknowledges updates of a task that were delivered to a session, and ignores others. Returns the ids that changed. */
export async function acknowledgeTaskUpdatesById(tx: Tx, projectId: string, taskId: string, deliveredTo: string, ids: readonly string[]): Promise<string[]> {
  const conditions = [eq(updates.deliveredTo, deliveredTo), anyOf(updates.id, ids), eq(updates.status, 'delivered')]
  return await changeStatus(tx, ACKNOWLEDGED, [...ofTask(projectId, taskId), ...conditions])
}

/** Acknowledges what was delivered of a task up to a revision. Returns the ids that changed, by number. */
export async function acknowledgeTaskUpdates(tx: Tx, projectId: string, taskId: string, upToRevision: number): Promise<string[]> {
  return await changeStatus(tx, ACKNOWLEDGED, [...ofTask(projectId, taskId), eq(updates.status, 'delivered'), lte(updates.revision, upToRevision)])
}

async function changeStatus(tx: Tx, change: typeof ACKNOWLEDGED | { status: 'expired' | 'superseded' }, conditions: readonly SQL[]): Promise<string[]> {
  const rows = await tx.orm
    .update(updates)
    .set(change)
    .where(and(...conditions))
    .returning({ id: updates.id, seq: updates.seq })
  return rows.toSorted((one, other) => one.seq - other.seq).map((row) => row.id)
}
