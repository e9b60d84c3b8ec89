import { and, eq } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { idempotencyKeys } from '../../schema/idempotency-keys.ts'

export interface IdempotencyRow {
  requestHash: Buffer
  status: number
  headers: Record<string, string>
  body: unknown
}

/** Takes a key for this transaction; false when another transaction holds it. The first statement of whatever it guards. */
export async function lockIdempotencyKey(tx: Tx, projectId: string, actorId: string, key: string): Promise<boolean> {
  const [row] = await tx.sql<{ held: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${projectId} || '/idempotency/' || ${actorId} || '/' || ${key}, 1)) as held`
  return row?.held === true
}

export async function findIdempotencyKey(tx: Tx, projectId: string, actorId: string, key: string): Promise<IdempotencyRow | null> {
  const [row] = await tx.orm
    .select({ requestHash: idempotencyKeys.requestHash, status: idempotencyKeys.status, headers: idempotencyKeys.headers, body: idempotencyKeys.body })
    .from(idempotencyKeys)
    .where(and(eq(idempotencyKeys.projectId, projectId), eq(idempotencyKeys.actorId, actorId), eq(idempotencyKeys.key, key)))
  return row ?? null
}

export async function insertIdempotencyKey(tx: Tx, projectId: string, actorId: string, key: string, row: IdempotencyRow): Promise<void> {
  await tx.orm.insert(idempotencyKeys).values({ projectId, actorId, key, ...row })
}

/** Forgets the answers of a project that are older than a day. Answers how many. */
export async function deleteOldIdempotencyKeys(tx: Tx, limit: number): Promise<number> {
  const rows = await tx.sql`
    delete from idempotency_keys where ctid in (
      select ctid from idempotency_keys where created_at < (select muster_now()) - interval '25 hours' order by created_at limit ${limit}
    ) returning 1`
  return rows.length
}
