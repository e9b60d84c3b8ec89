// SQL: every request with an Idempotency-Key takes these steps before and after its own.
import type { Tx } from '../../client.ts'

export interface IdempotencyRow {
  requestHash: Buffer
  status: number
  headers: Record<string, string>
  body: unknown
}

/** Takes a key for this transaction; false while another transaction has it. Comes before everything that the key protects. */
export async function lockIdempotencyKey(tx: Tx, projectId: string, actorId: string, key: string): Promise<boolean> {
  const [row] = await tx.sql<{ held: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${projectId} || '/idempotency/' || ${actorId} || '/' || ${key}, 1)) as held`
  return row?.held === true
}

export async function findIdempotencyKey(tx: Tx, projectId: string, actorId: string, key: string): Promise<IdempotencyRow | null> {
  const [row] = await tx.sql<IdempotencyRow[]>`
    select request_hash as "requestHash", status, headers, body from idempotency_keys
    where project_id = ${projectId} and actor_id = ${actorId} and key = ${key}`
  return row ?? null
}

export async function insertIdempotencyKey(tx: Tx, projectId: string, actorId: string, key: string, row: IdempotencyRow): Promise<void> {
  const body = row.body === null ? null : JSON.stringify(row.body)
  await tx.sql`
    insert into idempotency_keys (project_id, actor_id, key, request_hash, status, headers, body)
    values (${projectId}, ${actorId}, ${key}, ${row.requestHash}, ${row.status}, ${JSON.stringify(row.headers)}::jsonb, ${body}::jsonb)`
}

/** Deletes answers that are older than a day. Returns how many. */
export async function deleteOldIdempotencyKeys(tx: Pick<Tx, 'sql'>, limit: number): Promise<number> {
  const rows = await tx.sql`
    delete from idempotency_keys where ctid in (
      select ctid from idempotency_keys where created_at < (select muster_now()) - interval '25 hours' order by created_at limit ${limit}
    ) returning 1`
  return rows.length
}
