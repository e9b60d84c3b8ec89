import { and, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { apiKeys } from '../schema/api-keys.ts'

const { keyHash: _, ...COLUMNS } = getTableColumns(apiKeys)

export type ApiKey = Omit<typeof apiKeys.$inferSelect, 'keyHash'>
export type NewApiKeyRow = Omit<typeof apiKeys.$inferSelect, 'createdAt' | 'revokedAt'>

export async function insertApiKey(tx: Tx, row: NewApiKeyRow): Promise<ApiKey> {
  const [inserted] = await tx.orm.insert(apiKeys).values(row).returning(COLUMNS)
  return inserted as ApiKey
}

/** Newest first. */
export async function listApiKeys(tx: Tx, projectId: string, beforeId: string | undefined, limit: number): Promise<ApiKey[]> {
  return await tx.orm
    .select(COLUMNS)
    .from(apiKeys)
    .where(and(eq(apiKeys.projectId, projectId), beforeId === undefined ? undefined : lt(apiKeys.id, beforeId)))
    .orderBy(desc(apiKeys.id))
    .limit(limit)
}

/** Revokes a key; null when the project has no such key. Revoking twice keeps the first time. */
export async function revokeApiKey(tx: Tx, projectId: string, id: string): Promise<ApiKey | null> {
  const [row] = await tx.orm
    .update(apiKeys)
    .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, muster_now())` })
    .where(and(eq(apiKeys.projectId, projectId), eq(apiKeys.id, id)))
    .returning(COLUMNS)
  return row ?? null
}
