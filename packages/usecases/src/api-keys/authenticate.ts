import { credentials, type Database, readOnce } from '@muster/db'
import { type Actor, ASSIGNMENT_SCOPES, DEFAULT_PROJECT_ID, DomainError, type Scope, SUBTASK_SCOPES, subtaskSessionId } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { FreshLookup } from '../core/fresh-lookup.ts'
import { hashToken, matchesHash, readToken } from '../core/secrets.ts'

/**
 * A caller without a key, on a server that was started open: any program on this machine, in the default project.
 *
 * @param sessionId the session that the caller names; updates name their sender by it
 */
export function openActor(sessionId: string | null = null): Actor {
  return { kind: 'open', id: 'open', name: sessionId, projectId: DEFAULT_PROJECT_ID, scopes: ['admin'], agentId: null, lineage: null }
}

/**
 * Resolves a bearer token to who calls.
 *
 * @throws DomainError `unauthenticated`, without a hint at what was wrong with a token that is none of ours
 */
export async function authenticate(deps: Deps, token: string): Promise<Actor> {
  const claimed = readToken(token)
  if (claimed?.kind === 'key') {
    // The look-up compares the hash: no more is to be found out about the token.
    const key = await keysOf(deps.db).ask(hashToken(token).toString('hex'))
    if (key !== null) {
      if (key.isRevoked) throw unauthenticated('This API key has been revoked.')
      if (key.isExpired) throw unauthenticated('This API key has expired.')
      return { kind: 'key', id: key.id, projectId: key.projectId, scopes: key.scopes as Scope[], agentId: key.agentId, lineage: null }
    }
  }
  if (claimed?.kind === 'subtask') {
    const found = await readOnce(deps.db, null, (tx) => credentials.findSubtaskCredential(tx, claimed.id))
    if (found !== null && matchesHash(token, found.credentialHash)) {
      return {
        kind: 'subtask',
        id: claimed.id,
        projectId: found.projectId,
        scopes: SUBTASK_SCOPES,
        agentId: found.agentId,
        lineage: { subtaskId: claimed.id, taskId: null, sessionId: subtaskSessionId(claimed.id), depth: 1 },
      }
    }
    throw unauthenticated('This credential is not valid. A subtask’s credential ends with its attempt.')
  }
  if (claimed?.kind === 'assignment') {
    const found = await readOnce(deps.db, null, (tx) => credentials.findAssignmentCredential(tx, claimed.id))
    if (found !== null && matchesHash(token, found.credentialHash)) {
      return {
        kind: 'session',
        id: found.sessionId,
        projectId: found.projectId,
        scopes: ASSIGNMENT_SCOPES,
        agentId: null,
        lineage: { subtaskId: null, taskId: claimed.id, sessionId: found.sessionId, depth: 1 },
      }
    }
    throw unauthenticated('This credential is not valid. It ends with the task, or when the task goes to another session.')
  }
  throw unauthenticated('This API key is not valid.')
}

/**
 * Which of these tokens no longer authenticate their holder: the key was revoked or has expired, the attempt or the assignment has ended. One query,
 * however many tokens.
 *
 * @param tokens that `authenticate` has accepted before
 */
export async function findEndedTokens(deps: Pick<Deps, 'db'>, tokens: readonly string[]): Promise<string[]> {
  const wanted = { keyHashes: [] as string[], browserHashes: [] as string[], subtaskIds: [] as string[], taskIds: [] as string[] }
  const hashes = new Map(tokens.map((token) => [token, hashToken(token).toString('hex')]))
  for (const [token, hash] of hashes) {
    const claimed = readToken(token)
    if (claimed?.kind === 'key') wanted.keyHashes.push(hash)
    else if (claimed?.kind === 'browser') wanted.browserHashes.push(hash)
    else if (claimed?.kind === 'subtask') wanted.subtaskIds.push(claimed.id)
    else if (claimed?.kind === 'assignment') wanted.taskIds.push(claimed.id)
  }
  const live = await readOnce(deps.db, null, (tx) => credentials.listLiveHashes(tx, wanted))
  return tokens.filter((token) => !live.has(hashes.get(token) ?? ''))
}

type KeyLookup = FreshLookup<Awaited<ReturnType<typeof credentials.findApiKey>>>
const keyLookups = new WeakMap<Database, KeyLookup>()

/** A key is looked up at every request, so that one that is revoked opens nothing from that moment on; requests that come at once share a look. */
function keysOf(db: Database): KeyLookup {
  const known = keyLookups.get(db)
  if (known !== undefined) return known
  const lookup: KeyLookup = new FreshLookup((hash) => readOnce(db, null, (tx) => credentials.findApiKey(tx, Buffer.from(hash, 'hex'))))
  keyLookups.set(db, lookup)
  return lookup
}

function unauthenticated(message: string): DomainError {
  return new DomainError('unauthenticated', message)
}
