import { and, eq, lte, or, sql } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { apiKeys } from '../schema/api-keys.ts'
import { browserSessions } from '../schema/browser-sessions.ts'

type Row = typeof browserSessions.$inferSelect

/**
 * Stores a sign-in with an API key.
 *
 * @param hoursMax how long it lasts at most; it also ends with its key
 * @returns when it ends; null if the project has no such key that is valid
 */
export async function insertBrowserSession(
  tx: Tx,
  row: Pick<Row, 'projectId' | 'id' | 'apiKeyId' | 'tokenHash'>,
  hoursMax: number,
): Promise<{ expiresAt: Date } | null> {
  const [key] = await tx.orm
    .select({ expiresAt: sql<string>`least(${apiKeys.expiresAt}, muster_now() + make_interval(hours => ${hoursMax}))` })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.projectId, row.projectId),
        eq(apiKeys.id, row.apiKeyId),
        sql`${apiKeys.revokedAt} is null`,
        sql`coalesce(${apiKeys.expiresAt} > muster_now(), true)`,
      ),
    )
    .for('share')
  if (key === undefined) return null
  const [inserted] = await tx.orm
    .insert(browserSessions)
    .values({ ...row, expiresAt: new Date(key.expiresAt) })
    .returning({ expiresAt: browserSessions.expiresAt })
  return inserted ?? null
}

/**
 * Gives a session a new token. The previous one stays valid for `overlapSeconds`.
 *
 * @param tokenHash of the newest token: one that was replaced renews nothing
 * @returns whether it was the newest token of a session that has not ended
 */
export async function renewBrowserSession(
  tx: Tx,
  { projectId, tokenHash, newHash, overlapSeconds }: { projectId: string; tokenHash: Buffer; newHash: Buffer; overlapSeconds: number },
): Promise<boolean> {
  const renewed = await tx.orm
    .update(browserSessions)
    .set({
      tokenHash: newHash,
      previousHash: tokenHash,
      previousUntil: sql`muster_now() + make_interval(secs => ${overlapSeconds})`,
      renewedAt: sql`muster_now()`,
    })
    .where(and(eq(browserSessions.projectId, projectId), eq(browserSessions.tokenHash, tokenHash), sql`${browserSessions.expiresAt} > muster_now()`))
    .returning({ id: browserSessions.id })
  return renewed.length > 0
}

/** Ends the session that has, or had until a moment ago, this token. */
export async function deleteBrowserSession(tx: Tx, projectId: string, tokenHash: Buffer): Promise<void> {
  const isItsToken = or(eq(browserSessions.tokenHash, tokenHash), eq(browserSessions.previousHash, tokenHash))
  await tx.orm.delete(browserSessions).where(and(eq(browserSessions.projectId, projectId), isItsToken))
}

/** Deletes sessions of the project that have expired. */
export async function deleteExpiredBrowserSessions(tx: Tx, projectId: string): Promise<void> {
  await tx.orm.delete(browserSessions).where(and(eq(browserSessions.projectId, projectId), lte(browserSessions.expiresAt, sql`muster_now()`)))
}
