import { and, desc, eq, isNull, lt } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { apiKeys } from '../schema/api-keys.ts'

export interface ApiKey {
  id: string
  projectId: string
  name: string
  keyPrefix: string
  scopes: string[]
  agentId: string | null
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
}

export interface FoundKey {
  id: string
  projectId: string
  keyHash: Buffer
  scopes: string[]
  agentId: string | null
  isRevoked: boolean
  isExpired: boolean
}

/** Looks a key up by its hash, in any project: the one question that comes before the project is known. */
export async function findApiKey(tx: Pick<Tx, 'sql'>, keyHash: Buffer): Promise<FoundKey | null> {
  const [row] = await tx.sql<
    { id: string; project_id: string; key_hash: Buffer; scopes: string[]; agent_id: string | null; is_revoked: boolean; is_expired: boolean }[]
  >`select * from muster_find_api_key(${keyHash})`
  if (row === undefined) return null
  return {
    id: row.id,
    projectId: row.project_id,
    keyHash: row.key_hash,
    scopes: row.scopes,
    agentId: row.agent_id,
    isRevoked: row.is_revoked,
    isExpired: row.is_expired,
  }
}

/** The credential of a subtask's current attempt, in any project; null unless it is running. */
export async function findSubtaskCredential(
  tx: Pick<Tx, 'sql'>,
  subtaskId: string,
): Promise<{ projectId: string; agentId: string; attempt: number; credentialHash: Buffer | null } | null> {
  const [row] = await tx.sql<{ project_id: string; agent_id: string; attempt: number; credential_hash: Buffer | null }[]>`
    select * from muster_find_subtask_credential(${subtaskId})`
  if (row === undefined) return null
  return { projectId: row.project_id, agentId: row.agent_id, attempt: row.attempt, credentialHash: row.credential_hash }
}

/** The credential of the session that holds a task, in any project; null when nobody does. */
export async function findAssignmentCredential(
  tx: Pick<Tx, 'sql'>,
  taskId: string,
): Promise<{ projectId: string; sessionId: string; credentialHash: Buffer } | null> {
  const [row] = await tx.sql<{ project_id: string; session_id: string; credential_hash: Buffer }[]>`
    select * from muster_find_assignment_credential(${taskId})`
  return row === undefined ? null : { projectId: row.project_id, sessionId: row.session_id, credentialHash: row.credential_hash }
}

/**
 * Which of these credentials still open something, in any project.
 *
 * @param wanted hashes of keys in hexadecimal; ids of the subtasks and tasks that other credentials belong to
 * @returns hashes in hexadecimal: of live keys, of the current attempts of those subtasks, of the current assignments of those tasks
 */
export async function listLiveHashes(tx: Pick<Tx, 'sql'>, wanted: { keyHashes: string[]; subtaskIds: string[]; taskIds: string[] }): Promise<Set<string>> {
  const rows = await tx.sql<{ hash: string }[]>`
    select encode(k.key_hash, 'hex') as hash from unnest(${wanted.keyHashes}::text[]) as w (hash), muster_find_api_key(decode(w.hash, 'hex')) as k
    where not k.is_revoked and not k.is_expired
    union all
    select encode(s.credential_hash, 'hex') from unnest(${wanted.subtaskIds}::uuid[]) as w (id), muster_find_subtask_credential(w.id) as s
    where s.credential_hash is not null
    union all
    select encode(a.credential_hash, 'hex') from unnest(${wanted.taskIds}::uuid[]) as w (id), muster_find_assignment_credential(w.id) as a`
  return new Set(rows.map(({ hash }) => hash))
}

export interface NewApiKeyRow {
  id: string
  projectId: string
  name: string
  keyHash: Buffer
  keyPrefix: string
  scopes: string[]
  agentId: string | null
  expiresAt: Date | null
}

const COLUMNS = {
  id: apiKeys.id,
  projectId: apiKeys.projectId,
  name: apiKeys.name,
  keyPrefix: apiKeys.keyPrefix,
  scopes: apiKeys.scopes,
  agentId: apiKeys.agentId,
  createdAt: apiKeys.createdAt,
  expiresAt: apiKeys.expiresAt,
  revokedAt: apiKeys.revokedAt,
}

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
  await tx.sql`update api_keys set revoked_at = muster_now() where project_id = ${projectId} and id = ${id} and revoked_at is null`
  const [row] = await tx.orm
    .select(COLUMNS)
    .from(apiKeys)
    .where(and(eq(apiKeys.projectId, projectId), eq(apiKeys.id, id)))
  return row ?? null
}

/** Keys of a project that still open it. */
export async function countLiveApiKeys(tx: Tx, projectId: string): Promise<number> {
  return await tx.orm.$count(apiKeys, and(eq(apiKeys.projectId, projectId), isNull(apiKeys.revokedAt)))
}
