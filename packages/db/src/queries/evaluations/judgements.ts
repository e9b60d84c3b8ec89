import type { JudgeUsage } from '@muster/domain'
import { and, asc, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { judgements } from '../../schema/judgements.ts'

/** An evaluation has one judgement at most. */
export interface JudgementRef {
  projectId: string
  evaluationId: string
}

const only = ({ projectId, evaluationId }: JudgementRef) => and(eq(judgements.projectId, projectId), eq(judgements.evaluationId, evaluationId))
const pending = (ref: JudgementRef) => and(only(ref), eq(judgements.status, 'pending'))
const ID = { evaluationId: judgements.evaluationId }
const NOTHING_RESERVED = { reservedTokens: 0, reservedCostMicros: 0 }

/** Stores that a model is to judge an evaluation. Returns false if that is stored already. */
export async function insertJudgement(tx: Tx, row: JudgementRef & { model: string | null }): Promise<boolean> {
  const inserted = await tx.orm.insert(judgements).values(row).onConflictDoNothing().returning(ID)
  return inserted.length > 0
}

/** Counts a try, and frees what a try that was lost had reserved. Null if the judgement has ended, or does not exist. */
export async function beginTry(tx: Tx, ref: JudgementRef): Promise<{ model: string | null } | null> {
  const [row] = await tx.orm
    .update(judgements)
    .set({ attempts: sql`${judgements.attempts} + 1`, ...NOTHING_RESERVED })
    .where(pending(ref))
    .returning({ model: judgements.model })
  return row ?? null
}

/** Reserves what the try that has begun may use at most. It holds until the try ends, or the next one reserves anew. */
export async function reserve(tx: Tx, ref: JudgementRef, most: { tokens: number; costMicros: number }): Promise<void> {
  await tx.orm.update(judgements).set({ reservedTokens: most.tokens, reservedCostMicros: most.costMicros }).where(pending(ref))
}

/** Locks a judgement; false if it has ended. Of two callers, the second finds it ended. */
export async function lockPending(tx: Tx, ref: JudgementRef): Promise<boolean> {
  const rows = await tx.orm.select(ID).from(judgements).where(pending(ref)).for('update')
  return rows.length > 0
}

/** Adds what a try used, whatever its outcome, and frees what it had reserved. */
export async function addUsage(tx: Tx, ref: JudgementRef, usage: JudgeUsage): Promise<void> {
  await tx.orm
    .update(judgements)
    .set({
      inputTokens: sql`${judgements.inputTokens} + ${usage.inputTokens}`,
      cachedInputTokens: sql`${judgements.cachedInputTokens} + ${usage.cachedInputTokens ?? 0}`,
      outputTokens: sql`${judgements.outputTokens} + ${usage.outputTokens}`,
      costMicros: sql`${judgements.costMicros} + ${usage.costUsdMicros}`,
      ...NOTHING_RESERVED,
      ...(usage.model === undefined ? {} : { usedModel: usage.model }),
    })
    .where(only(ref))
}

/** Ends a locked judgement. An error says why there are no verdicts. */
export async function endJudgement(tx: Tx, ref: JudgementRef, error: string | null): Promise<void> {
  await tx.orm
    .update(judgements)
    .set({ status: error === null ? 'done' : 'failed', error, endedAt: sql`muster_now()`, ...NOTHING_RESERVED })
    .where(only(ref))
}

/** The oldest judgements that are still pending after a minute, of the last week. Both bounds keep it to a small part of the index. */
export async function findUnfinished(tx: Tx, projectId: string, limit: number): Promise<string[]> {
  const isOpen = and(eq(judgements.projectId, projectId), eq(judgements.status, 'pending'))
  const rows = await tx.orm
    .select(ID)
    .from(judgements)
    .where(and(isOpen, sql`${judgements.createdAt} between muster_now() - interval '7 days' and muster_now() - interval '1 minute'`))
    .orderBy(asc(judgements.createdAt))
    .limit(limit)
  return rows.map((row) => row.evaluationId)
}
