import type { StepKind } from '@muster/domain'
import { and, asc, desc, eq, gt } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { steps } from '../schema/steps.ts'

export interface Step {
  seq: number
  attempt: number
  kind: StepKind
  content: unknown
  at: Date
}

/** A transcript in its order. */
export async function listSteps(tx: Tx, projectId: string, subtaskId: string, afterSeq: number, limit: number): Promise<Step[]> {
  return await tx.orm
    .select({ seq: steps.seq, attempt: steps.attempt, kind: steps.kind, content: steps.content, at: steps.at })
    .from(steps)
    .where(and(eq(steps.projectId, projectId), eq(steps.subtaskId, subtaskId), gt(steps.seq, afterSeq)))
    .orderBy(asc(steps.seq))
    .limit(limit)
}

/** The end of a transcript, oldest first. */
export async function listLastSteps(tx: Tx, projectId: string, subtaskId: string, limit: number): Promise<Pick<Step, 'kind' | 'content'>[]> {
  const rows = await tx.orm
    .select({ kind: steps.kind, content: steps.content })
    .from(steps)
    .where(and(eq(steps.projectId, projectId), eq(steps.subtaskId, subtaskId)))
    .orderBy(desc(steps.seq))
    .limit(limit)
  return rows.reverse()
}
