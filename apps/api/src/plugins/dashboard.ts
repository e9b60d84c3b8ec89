import helmet from '@fastify/helmet'
import serveFiles from '@fastify/static'
import { DomainError, type Origin } from '@muster/domain'
import { type BrowserSession, findBrowserSession, renewBrowserSession, signIn, signOut } from '@muster/usecases'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ApiDeps } from '../api-deps.ts'
import { browserToken, clearBrowserCookie, requireCsrfToken, setBrowserCookie } from '../http/browser-cookie.ts'
import { LOOK_MS, within } from '../http/deadline.ts'
import { check, validationFailed } from '../http/validation.ts'
import { BUILT_PAGES, requireBuilt } from './built-pages.ts'

const YEAR_MS = 365 * 24 * 60 * 60 * 1000

const signInSchema = z.strictObject({ key: z.string().min(1).max(512) })

/** `/`, the dashboard at `/ui`, and the sign-in of browsers at `/ui/session`. All without a key. */
export function addDashboard(app: FastifyInstance, deps: ApiDeps, built = BUILT_PAGES): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'public' }
  })
  app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        // The editor lives in a shadow root, whose styles are sheets of scripts; what sizes an element does it through its `style` object.
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        // No script may make HTML, a script or its address of a text, also not of one that an agent wrote.
        requireTrustedTypesFor: ["'script'"],
        trustedTypes: ["'none'"],
      },
    },
    strictTransportSecurity: false,
  })
  app.get('/', async (_request, reply) => reply.redirect('/ui/'))
  app.get('/ui', async (_request, reply) => reply.redirect('/ui/'))
  addBrowserSessions(app, deps)
  app.get('/ui/*', (request, reply) => sendFile(request as FastifyRequest<{ Params: { '*': string } }>, reply, built))
  app.register(serveFiles, { root: built, serve: false, preCompressed: true, cacheControl: false })
}

/** A file of the build, or its page: what is shown at a path is decided in the browser. */
function sendFile(request: FastifyRequest<{ Params: { '*': string } }>, reply: FastifyReply, built: string): FastifyReply {
  requireBuilt(built)
  const path = request.params['*']
  if (!path.startsWith('assets/')) return reply.header('cache-control', 'no-cache').sendFile('index.html')
  // Their names contain a hash of their content.
  return reply.header('cache-control', `public, max-age=${YEAR_MS / 1000}, immutable`).sendFile(path)
}

/** A page never has the key: it gives it once, and gets a cookie that it cannot read. */
function addBrowserSessions(app: FastifyInstance, deps: ApiDeps): void {
  const isOpen = deps.settings.AUTH === 'open'
  const countFailure = app.createRateLimit({ max: 100, timeWindow: 10_000, keyGenerator: (request) => `failures:${request.ip}` })
  const present = ({ csrfToken, expiresAt, actor }: BrowserSession) => ({
    mode: isOpen ? 'open' : 'keys',
    signed_in: true,
    csrf_token: csrfToken,
    expires_at: expiresAt.toISOString(),
    project_id: actor.projectId,
    scopes: actor.scopes,
  })

  app.get('/ui/session', async (request, reply) => {
    const token = browserToken(request)
    if (isOpen || token === null) return { mode: isOpen ? 'open' : 'keys', signed_in: isOpen }
    try {
      const session = await within(LOOK_MS, renewBrowserSession(deps, token))
      if (session.token !== null) setBrowserCookie(request, reply, session.token, session.expiresAt)
      return present(session)
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'unauthenticated') throw error
      clearBrowserCookie(request, reply)
      return { mode: 'keys', signed_in: false, reason: error.message }
    }
  })
  app.post('/ui/session', async (request, reply) => {
    if (isOpen) throw new DomainError('conflict', 'This server is open: it needs no sign-in.')
    const problems: Parameters<typeof check>[3] = []
    const body = check(signInSchema, request.body, 'body', problems) as z.output<typeof signInSchema>
    if (problems.length > 0) throw validationFailed(problems)
    try {
      const session = await signIn({ ...deps, origin: originOf(request, 'signIn') }, body.key, browserToken(request))
      setBrowserCookie(request, reply, session.token, session.expiresAt)
      return present(session)
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'unauthenticated') throw error
      const failures = await countFailure(request)
      if (failures.isAllowed || !failures.isExceeded) throw error
      throw new DomainError('rate_limited', 'Too many wrong keys came from this address.', { retryAfterSeconds: failures.ttlInSeconds })
    }
  })
  app.delete('/ui/session', async (request, reply) => {
    const token = browserToken(request)
    if (token !== null) {
      const session = await findOrNull(deps, token)
      if (session !== null) requireCsrfToken(request, session.csrfToken)
      await signOut({ ...deps, origin: originOf(request, 'signOut') }, token)
      clearBrowserCookie(request, reply)
    }
    return reply.status(204).send()
  })
}

/** For the audit log. */
function originOf({ ip, id }: FastifyRequest, operation: string): Origin {
  return { door: 'http', address: ip, operation, requestId: id, ids: {}, fields: [] }
}

async function findOrNull(deps: ApiDeps, token: string): Promise<BrowserSession | null> {
  try {
    return await findBrowserSession(deps, token)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'unauthenticated') return null
    throw error
  }
}
