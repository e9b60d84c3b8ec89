// SQL: functions of the database find a credential before its project is known, for every request.
import type { Tx } from '../client.ts'

export interface FoundKey {
  id: string
  projectId: string
  keyHash: Buffer
  scopes: string[]
  agentId: string | null
  isRevoked: boolean
  isExpired: boolean
}

/** Finds a key by its hash, in any project. */
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

export interface FoundBrowserSession extends Omit<FoundKey, 'keyHash'> {
  /** What a write has to send beside the cookie. */
  csrfToken: string
  /** Whether the token is the newest of its session, and was made this many seconds ago. */
  isNewest: boolean
  ageSeconds: number
  expiresAt: Date
}

/** Finds the sign-in of a browser by the hash of its token, in any project, with the API key that it was made with. Null once it has ended. */
export async function findBrowserSession(tx: Pick<Tx, 'sql'>, tokenHash: Buffer): Promise<FoundBrowserSession | null> {
  const [row] = await tx.sql<
    {
      key_id: string
      project_id: string
      scopes: string[]
      agent_id: string | null
      is_revoked: boolean
      is_expired: boolean
      csrf_token: string
      is_newest: boolean
      age_seconds: number
      expires_at: string
    }[]
  >`select * from muster_find_browser_session(${tokenHash})`
  if (row === undefined) return null
  return {
    id: row.key_id,
    projectId: row.project_id,
    scopes: row.scopes,
    agentId: row.agent_id,
    isRevoked: row.is_revoked,
    isExpired: row.is_expired,
    csrfToken: row.csrf_token,
    isNewest: row.is_newest,
    ageSeconds: row.age_seconds,
    expiresAt: new Date(row.expires_at),
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

/** The credential of the assignee of a task, in any project; null without an assignee. */
export async function findAssignmentCredential(
  tx: Pick<Tx, 'sql'>,
  taskId: string,
): Promise<{ projectId: string; sessionId: string; credentialHash: Buffer } | null> {
  const [row] = await tx.sql<{ project_id: string; session_id: string; credential_hash: Buffer }[]>`
    select * from muster_find_assignment_credential(${taskId})`
  return row === undefined ? null : { projectId: row.project_id, sessionId: row.session_id, credentialHash: row.credential_hash }
}

/**
 * Which of these credentials are still valid, in any project.
 *
 * @param wanted hashes of keys and of tokens of browsers in hexadecimal; ids of the subtasks and tasks of other credentials
 * @returns hashes in hexadecimal: of valid keys and tokens, of the current attempts of those subtasks, and of the current assignments of those tasks
 */
export async function listLiveHashes(
  tx: Pick<Tx, 'sql'>,
  wanted: { keyHashes: string[]; browserHashes: string[]; subtaskIds: string[]; taskIds: string[] },
): Promise<Set<string>> {
  const rows = await tx.sql<{ hash: string }[]>`
    select encode(k.key_hash, 'hex') as hash from unnest(${wanted.keyHashes}::text[]) as w (hash), muster_find_api_key(decode(w.hash, 'hex')) as k
    where not k.is_revoked and not k.is_expired
    union all
    select w.hash from unnest(${wanted.browserHashes}::text[]) as w (hash), muster_find_browser_session(decode(w.hash, 'hex')) as b
    where not b.is_revoked and not b.is_expired
    union all
    select encode(s.credential_hash, 'hex') from unnest(${wanted.subtaskIds}::uuid[]) as w (id), muster_find_subtask_credential(w.id) as s
    where s.credential_hash is not null
    union all
    select encode(a.credential_hash, 'hex') from unnest(${wanted.taskIds}::uuid[]) as w (id), muster_find_assignment_credential(w.id) as a`
  return new Set(rows.map(({ hash }) => hash))
}
