import type { CheckEnd } from '@muster/domain'
import { and, desc, eq, inArray, lt, ne, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { checkRuns } from '../../schema/check-runs.ts'

export type CheckRun = typeof checkRuns.$inferSelect

export type NewCheckRun = Pick<CheckRun, 'id' | 'batchId' | 'taskId' | 'subtaskId' | 'evaluationId' | 'criterionId' | 'checkName' | 'place'>

export async function insertCheckRuns(tx: Tx, projectId: string, rows: readonly NewCheckRun[]): Promise<void> {
  await tx.orm.insert(checkRuns).values(rows.map((row) => ({ projectId, ...row })))
}

const OPEN = inArray(checkRuns.status, ['pending', 'running'])

/** Newest first. */
export async function listCheckRuns(tx: Tx, projectId: string, taskId: string, beforeId: string | undefined, limit: number): Promise<CheckRun[]> {
  return await tx.orm
    .select()
    .from(checkRuns)
    .where(and(eq(checkRuns.projectId, projectId), eq(checkRuns.taskId, taskId), beforeId === undefined ? undefined : lt(checkRuns.id, beforeId)))
    .orderBy(desc(checkRuns.id))
    .limit(limit)
}

/** Those of one request. */
export async function listBatch(tx: Tx, projectId: string, batchId: string): Promise<CheckRun[]> {
  return await tx.orm
    .select()
    .from(checkRuns)
    .where(and(eq(checkRuns.projectId, projectId), eq(checkRuns.batchId, batchId)))
    .orderBy(checkRuns.id)
}

/** Those of other batches of an evaluation of a task, oldest first. */
export async function listEarlierOf(tx: Tx, projectId: string, run: Pick<CheckRun, 'taskId' | 'evaluationId' | 'batchId'>): Promise<CheckRun[]> {
  if (run.evaluationId === null) return []
  const ofEvaluation = and(eq(checkRuns.projectId, projectId), eq(checkRuns.taskId, run.taskId), eq(checkRuns.evaluationId, run.evaluationId))
  return await tx.orm
    .select()
    .from(checkRuns)
    .where(and(ofEvaluation, ne(checkRuns.batchId, run.batchId)))
    .orderBy(checkRuns.id)
}

/** Moves a batch to another evaluation of the same submission. */
export async function moveBatch(tx: Tx, projectId: string, batchId: string, evaluationId: string): Promise<void> {
  await tx.orm
    .update(checkRuns)
    .set({ evaluationId })
    .where(and(eq(checkRuns.projectId, projectId), eq(checkRuns.batchId, batchId)))
}

/** Those of an evaluation of a task, once all have ended; empty until then. */
export async function listEndedOf(tx: Tx, projectId: string, taskId: string, evaluationId: string): Promise<CheckRun[]> {
  const rows = await tx.orm
    .select()
    .from(checkRuns)
    .where(and(eq(checkRuns.projectId, projectId), eq(checkRuns.taskId, taskId), eq(checkRuns.evaluationId, evaluationId)))
    .orderBy(checkRuns.id)
  return rows.some(({ endedAt }) => endedAt === null) ? [] : rows
}

export async function findCheckRun(tx: Tx, id: string): Promise<CheckRun | null> {
  const [row] = await tx.orm.select().from(checkRuns).where(eq(checkRuns.id, id))
  return row ?? null
}

/** Those of a task that have not ended. */
export async function listOpen(tx: Tx, projectId: string, taskId: string): Promise<CheckRun[]> {
  return await tx.orm
    .select()
    .from(checkRuns)
    .where(and(eq(checkRuns.projectId, projectId), eq(checkRuns.taskId, taskId), OPEN))
    .orderBy(checkRuns.id)
}

/**
 * Ends a check, and the ones of its batch that wait for the same program. Returns those that it ended; none if this try is not the current one:
 * then another worker has taken it, or it has ended.
 */
export async function endCheck(tx: Tx, { id, tries }: Pick<CheckRun, 'id' | 'tries'>, wasRunning: boolean, end: CheckEnd): Promise<CheckRun[]> {
  const ended = { ...end, leaseExpiresAt: null, endedAt: sql`muster_now()` }
  const [row] = await tx.orm
    .update(checkRuns)
    .set(ended)
    .where(and(eq(checkRuns.id, id), eq(checkRuns.tries, tries), eq(checkRuns.status, wasRunning ? 'running' : 'pending')))
    .returning()
  if (row === undefined) return []
  const { projectId, batchId, checkName } = row
  const same = await tx.orm
    .update(checkRuns)
    .set(ended)
    .where(and(eq(checkRuns.projectId, projectId), eq(checkRuns.batchId, batchId), eq(checkRuns.checkName, checkName), eq(checkRuns.status, 'pending')))
    .returning()
  return [row, ...same]
}
