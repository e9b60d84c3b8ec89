import { browserSessions, credentials, readOnce } from '@muster/db'
import { type Actor, DomainError, type Scope } from '@muster/domain'
import { authenticate } from '../api-keys/authenticate.ts'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { hashToken, newBrowserToken, readToken } from '../core/secrets.ts'

/** A browser stays signed in this long at most, in hours. It then asks for the key again. */
const HOURS_MAX = 7 * 24
/** A token that is older than this gets a successor, in seconds. */
const RENEW_AFTER_SECONDS = 15 * 60
/** The previous token stays valid this long, in seconds: requests are under way with it. */
const OVERLAP_SECONDS = 60

/** A token for the cookie of a browser, and what a page needs beside it. */
export interface BrowserSession {
  /** New, to be set as cookie; null if the browser keeps the one that it has. */
  token: string | null
  /** A write has to send it beside the cookie, so that no other site can make a browser write. */
  csrfToken: string
  expiresAt: Date
  actor: Actor
}

/**
 * Exchanges an API key for a token that only a cookie holds. The session has the scopes of the key, and ends with it.
 *
 * @param previousToken of the cookie that the browser has: its session ends, because the browser forgets the token
 * @throws DomainError `unauthenticated` if it is no valid API key
 */
export async function signIn(deps: Deps & Pick<Ctx, 'origin'>, apiKey: string, previousToken: string | null): Promise<BrowserSession & { token: string }> {
  if (readToken(apiKey)?.kind !== 'key')
    throw new DomainError('unauthenticated', 'This is no API key. A key begins with mst_key_; `npm run key -- create` makes one.')
  const actor = await authenticate(deps, apiKey)
  // First, and not in the transaction below, because it may be in another project: where it fails, no session is stored of which the browser never hears.
  if (previousToken !== null) await signOut(deps, previousToken)
  const { token, hash } = newBrowserToken()
  const stored = await inProject({ ...deps, actor }, async (tx) => {
    await browserSessions.deleteExpiredBrowserSessions(tx, actor.projectId)
    return await browserSessions.insertBrowserSession(tx, { projectId: actor.projectId, id: deps.newId(), apiKeyId: actor.id, tokenHash: hash }, HOURS_MAX)
  })
  if (stored === null) throw new DomainError('unauthenticated', 'This API key is not valid any more.')
  const session = await findBrowserSession(deps, token)
  return { ...session, token }
}

/**
 * Who a browser speaks for.
 *
 * @throws DomainError `unauthenticated` if the session has ended, or its key was revoked or has expired
 */
export async function findBrowserSession(deps: Pick<Deps, 'db'>, token: string): Promise<BrowserSession & { isDue: boolean }> {
  const found = readToken(token)?.kind === 'browser' ? await findStored(deps, token) : null
  if (found === null) throw new DomainError('unauthenticated', 'This browser is not signed in any more. Sign in with an API key.')
  if (found.isRevoked) throw new DomainError('unauthenticated', 'The API key of this browser’s sign-in has been revoked. Sign in with another one.')
  if (found.isExpired) throw new DomainError('unauthenticated', 'The API key of this browser’s sign-in has expired. Sign in with another one.')
  return {
    token: null,
    csrfToken: found.csrfToken,
    expiresAt: found.expiresAt,
    isDue: found.isNewest && found.ageSeconds >= RENEW_AFTER_SECONDS,
    actor: { kind: 'key', id: found.id, projectId: found.projectId, scopes: found.scopes as Scope[], agentId: found.agentId, lineage: null },
  }
}

/** The session of a browser, with a new token if it is time. Of two requests at once, one gets it; the other keeps the previous token for its cookie. */
export async function renewBrowserSession(deps: Deps, token: string): Promise<BrowserSession> {
  const session = await findBrowserSession(deps, token)
  if (!session.isDue) return session
  const next = newBrowserToken()
  const { actor } = session
  const isRenewed = await inProject({ ...deps, actor }, (tx) =>
    browserSessions.renewBrowserSession(tx, {
      projectId: actor.projectId,
      tokenHash: hashToken(token),
      newHash: next.hash,
      overlapSeconds: OVERLAP_SECONDS,
    }),
  )
  return isRenewed ? { ...session, token: next.token } : session
}

/** Ends the session of a browser. One that has ended already changes nothing. */
export async function signOut(deps: Deps & Pick<Ctx, 'origin'>, token: string): Promise<void> {
  if (readToken(token)?.kind !== 'browser') return
  const found = await findStored(deps, token)
  if (found === null) return
  const actor: Actor = { kind: 'key', id: found.id, projectId: found.projectId, scopes: [], agentId: null, lineage: null }
  await inProject({ ...deps, actor }, (tx) => browserSessions.deleteBrowserSession(tx, found.projectId, hashToken(token)))
}

function findStored({ db }: Pick<Deps, 'db'>, token: string) {
  return readOnce(db, null, (tx) => credentials.findBrowserSession(tx, hashToken(token)))
}
