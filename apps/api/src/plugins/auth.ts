import { Socket } from 'node:net'
import { type Actor, DomainError, isLoopback, requireScope, requireSpawnAllowed } from '@muster/domain'
import type { LocalCaller } from '@muster/runners'
import { authenticate, findBrowserSession, openActor } from '@muster/usecases'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiDeps } from '../api-deps.ts'
import { browserToken, requireCsrfToken } from '../http/browser-cookie.ts'
import { LOOK_MS, within } from '../http/deadline.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; null on public endpoints. */
    actor: Actor | null
    /**
     * Judges the credential of the request again, unless that was done within `JUDGED_FOR_MS`. Does nothing on public endpoints.
     *
     * @throws DomainError `unauthenticated` when it has ended since
     */
    authorizeAgain: () => Promise<void>
    /** When the credential was judged, in milliseconds of `performance.now()`: the body is read after that. */
    identifiedAtMs: number
  }
}

/** A credential may end while the body is on its way. One that took longer than this, in milliseconds, is judged again before the body has an effect. */
export const SLOW_BODY_MS = 1_000

/** Wrong keys that one address may try in a window, before it is answered without looking them up. */
const FAILURES = { max: 100, timeWindow: 10_000 }

/**
 * For how long a credential counts as judged, in milliseconds. A request that is answered sooner could as well have been answered before the credential ended, and
 * a run that ends at once would cost a second look-up.
 */
export const JUDGED_FOR_MS = 50

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i

/** The token of the request, or null when there is none. */
function bearerToken(request: FastifyRequest): string | null {
  return BEARER.exec(request.headers.authorization ?? '')?.[1] ?? null
}

/** Calls back when the credential of the request ends before its answer does. @returns ends the watch */
export function onCredentialEnd(deps: ApiDeps, request: FastifyRequest, onEnded: () => void): () => void {
  const token = bearerToken(request) ?? browserToken(request)
  return token === null ? () => {} : deps.credentialWatch.watch(token, onEnded)
}

/** Resolves who asks, before anything of the request is read, and refuses what the endpoint's scope does not allow. */
export function addAuth(app: FastifyInstance, deps: ApiDeps): void {
  const countFailure = app.createRateLimit({ ...FAILURES, keyGenerator: (request) => `failures:${request.ip}` })

  app.decorateRequest('actor', null)
  app.decorateRequest('identifiedAtMs', 0)
  app.decorateRequest('authorizeAgain', async () => {})
  app.addHook('onRequest', async (request) => {
    const { access, spawns } = request.routeOptions.config
    if (access === 'public') return
    if (access === undefined) throw new Error(`no access is declared for ${request.routeOptions.url}`)
    if (access === 'loopback' && request.headers.authorization === undefined) return refuseWebPages(request)
    if (deps.settings.AUTH === 'open') refuseWebPages(request)
    const judge = async () => {
      const actor = await identify(request)
      request.identifiedAtMs = performance.now()
      return actor
    }
    request.actor = await judge()
    // A constant, or V8 would keep the request until a full garbage collection. docs/adr/0006
    const authorizeAgain = async () => {
      if (performance.now() - request.identifiedAtMs > JUDGED_FOR_MS) await judge()
    }
    request.authorizeAgain = authorizeAgain
    if (spawns === true) requireSpawnAllowed(request.actor)
    if (access !== 'key' && access !== 'loopback') requireScope(request.actor, access)
  })
  app.addHook('preHandler', (request, _reply, done) => {
    // Not the time since the request began: a slow database would be asked twice by each request.
    if (request.actor === null || performance.now() - request.identifiedAtMs <= SLOW_BODY_MS) return done()
    request.authorizeAgain().then(() => done(), done)
  })

  /** Each connection has one process at its other end: it is looked for once, however many requests follow. */
  const callers = new WeakMap<Socket, Promise<LocalCaller>>()

  /**
   * A call without a credential may come from a program of a subtask that leaves its credential out. Such a call must not count as one of the user, or
   * a subtask could start further work.
   */
  async function refuseSubtasks({ raw: { socket } }: FastifyRequest): Promise<void> {
    // Requests of tests that use no network have a stand-in.
    if (!(socket instanceof Socket)) return
    const known = callers.get(socket)
    const looking = known ?? deps.findLocalCaller(socket)
    if (known === undefined) callers.set(socket, looking)
    const caller = await looking
    if (caller === 'subtask') {
      throw new DomainError('unauthenticated', 'This call comes from a program of a subtask. Send its own credential: Authorization: Bearer $MUSTER_TOKEN.')
    }
    if (caller === 'unknown') {
      throw new DomainError(
        'unauthenticated',
        'This server could not find the program that calls. Make a key with `npm run key` and send it: Authorization: Bearer mst_….',
      )
    }
  }

  /** The cookie of the dashboard counts only on its own pages, and writes need the token that only these can read. */
  async function identifyBrowser(request: FastifyRequest, token: string): Promise<Actor> {
    refuseOtherOrigins(request)
    const { actor, csrfToken } = await within(LOOK_MS, findBrowserSession(deps, token))
    requireCsrfToken(request, csrfToken)
    return actor
  }

  async function identify(request: FastifyRequest): Promise<Actor> {
    if (request.headers.authorization === undefined) {
      if (deps.settings.AUTH === 'open') {
        await refuseSubtasks(request)
        return openActor(namedSession(request))
      }
      const token = browserToken(request)
      if (token !== null) return await identifyBrowser(request, token)
      throw new DomainError('unauthenticated', 'This server needs an API key: send Authorization: Bearer mst_…')
    }
    try {
      const token = bearerToken(request)
      if (token === null) throw new DomainError('unauthenticated', 'The Authorization header must be: Bearer, a space, and the key.')
      // Also on an open server: a subtask's own credential must not open more than its own work. In no more time than any endpoint has, also
      // for those that let their callers wait.
      return await within(LOOK_MS, authenticate(deps, token))
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'unauthenticated') throw error
      // Only who sends wrong keys is kept waiting: behind a proxy, others share the address.
      const failures = await countFailure(request)
      if (failures.isAllowed || !failures.isExceeded) throw error
      throw new DomainError('rate_limited', 'Too many wrong keys came from this address.', { retryAfterSeconds: failures.ttlInSeconds })
    }
  }
}

const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,128}$/u

/** The session that a caller names in `Muster-Session-Id`. It opens nothing; updates name their sender by it. */
function namedSession(request: FastifyRequest): string | null {
  const named = request.headers['muster-session-id']
  return typeof named === 'string' && PRINTABLE.test(named) ? named : null
}

/**
 * A server that asks for no key must not be reachable from web pages. A page's requests carry its own origin, and one that has
 * made its own name point here (DNS rebinding) carries that name as `Host`.
 */
function refuseWebPages(request: FastifyRequest): void {
  if (!isLoopback(request.hostname)) {
    throw new DomainError('forbidden', `This server is open on loopback and answers only as localhost or 127.0.0.1, not as ${cut(request.hostname)}.`)
  }
  refuseOtherOrigins(request)
}

/** Of web pages, only those of this server may call it without a key of their own. */
function refuseOtherOrigins(request: FastifyRequest): void {
  const { origin, host } = request.headers
  // Not the protocol: behind a proxy that ends TLS, the page has another one.
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)) {
    throw new DomainError('forbidden', `Without a key, this server takes no calls from web pages of another origin (${cut(origin)}).`)
  }
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new DomainError('forbidden', 'Without a key, this server takes no calls from web pages of another site.')
  }
}

const cut = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)
