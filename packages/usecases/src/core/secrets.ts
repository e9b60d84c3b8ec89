import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const KEY_PREFIX = 'mst_key_'
export const SUBTASK_PREFIX = 'mst_sub_'
const ASSIGNMENT_PREFIX = 'mst_asg_'
const LEASE_PREFIX = 'mst_lease_'
const BROWSER_PREFIX = 'mst_web_'
export const SECRET_BYTES = 32

export interface Secret {
  /** What the holder gets, once. */
  token: string
  /** What is stored. 256 random bits need no slow hash. */
  hash: Buffer
}

export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

export function newApiKeySecret(): Secret & { prefix: string } {
  const token = KEY_PREFIX + randomBytes(32).toString('base64url')
  return { token, hash: hashToken(token), prefix: token.slice(0, KEY_PREFIX.length + 4) }
}

/** The credential of one attempt of a subtask. It carries the subtask's id, so that no index over all credentials is needed. */
export function newSubtaskCredential(subtaskId: string): Secret {
  return newOwnCredential(SUBTASK_PREFIX, subtaskId)
}

/** The token of a credential that was hashed where the subtask was chosen (see `claims.claimRows`). */
export function subtaskToken(subtaskId: string, secret: Buffer): string {
  return ownToken(SUBTASK_PREFIX, subtaskId, secret)
}

/** The credential of an assignee. It contains the id of the task, for the same reason. */
export function newAssignmentCredential(taskId: string): Secret {
  return newOwnCredential(ASSIGNMENT_PREFIX, taskId)
}

function newOwnCredential(prefix: string, id: string): Secret {
  const token = ownToken(prefix, id, randomBytes(SECRET_BYTES))
  return { token, hash: hashToken(token) }
}

function ownToken(prefix: string, id: string, secret: Buffer): string {
  return prefix + Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), secret]).toString('base64url')
}

export function newLeaseToken(): Secret {
  const token = LEASE_PREFIX + randomBytes(32).toString('base64url')
  return { token, hash: hashToken(token) }
}

/** The token of a browser's sign-in, which only its cookie holds. */
export function newBrowserToken(): Secret {
  const token = BROWSER_PREFIX + randomBytes(32).toString('base64url')
  return { token, hash: hashToken(token) }
}

/** What a token claims to be, before it is looked up; null when it is none of ours. */
export function readToken(token: string): { kind: 'key' | 'browser' } | { kind: 'subtask' | 'assignment'; id: string } | null {
  if (token.startsWith(KEY_PREFIX)) return { kind: 'key' }
  if (token.startsWith(BROWSER_PREFIX)) return { kind: 'browser' }
  for (const [prefix, kind] of [
    [SUBTASK_PREFIX, 'subtask'],
    [ASSIGNMENT_PREFIX, 'assignment'],
  ] as const) {
    const id = token.startsWith(prefix) ? ownerOf(token.slice(prefix.length)) : null
    if (id !== null) return { kind, id }
  }
  return null
}

function ownerOf(secret: string): string | null {
  const bytes = Buffer.from(secret, 'base64url')
  return bytes.length === 48 ? toUuid(bytes) : null
}

function toUuid(bytes: Buffer): string {
  const hex = bytes.subarray(0, 16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The id of something that must be stored once for the same name: the same in every process. */
export function idOf(name: string): string {
  return toUuid(hashToken(name))
}

/** Compares in constant time. */
export function matchesHash(token: string, hash: Buffer | null): boolean {
  return hash !== null && hash.length === 32 && timingSafeEqual(hashToken(token), hash)
}
