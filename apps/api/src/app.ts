import type { Socket } from 'node:net'
import cookie from '@fastify/cookie'
import { DomainError } from '@muster/domain'
import Fastify, { type FastifyInstance } from 'fastify'
import type { ApiDeps } from './api-deps.ts'
import { allowedMethods } from './http/allowed-methods.ts'
import { answerBrokenRequest, answerConnect, answerExpectation } from './http/broken-requests.ts'
import { addCompression } from './http/compression.ts'
import { noSuchPath, pathOf, sendError } from './http/errors.ts'
import { addFilesBody } from './http/files-body.ts'
import { addJsonBody } from './http/json-body.ts'
import { addMarkdownBody } from './http/markdown-body.ts'
import { addRateLimit } from './http/rate-limit.ts'
import { registerEndpoint } from './http/register-endpoint.ts'
import { logIds, requestId } from './http/request-id.ts'
import { addMcp } from './mcp/mount.ts'
import { addAuth } from './plugins/auth.ts'
import { addCors } from './plugins/cors.ts'
import { addDashboard } from './plugins/dashboard.ts'
import { addRequestMetrics, createMetrics } from './plugins/metrics.ts'
import { addReference } from './plugins/reference.ts'
import { addTracing } from './plugins/tracing.ts'
import { endpoints } from './routes/index.ts'

const CLOSE_IDLE_EVERY_MS = 50
/** The longest time a request may take to arrive completely. */
const REQUEST_MS = 60_000
/** A connection without traffic is closed after this time, which is longer than any long poll and any idle keep-alive. */
const SILENT_MS = 120_000
/** How long a client may still send a request that has been answered. */
const REST_OF_REQUEST_MS = 2_000

/** The API as an app that knows no port and no environment. The caller closes it. */
export async function buildApp(deps: ApiDeps): Promise<FastifyInstance> {
  const app = Fastify({
    // The hook below logs requests: at level debug, and nothing of a request but its ids.
    logger: false,
    genReqId: requestId,
    // The hook below answers with a problem.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_MS,
    connectionTimeout: SILENT_MS,
    routerOptions: { maxParamLength: 2_000 },
    // Endpoints check what comes in and goes out by their own schemas; without this, two unused compilers of JSON Schema would be loaded.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, deps.newId()),
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply, deps),
  })
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, deps))
  app.server.on('connect', (request, socket) => answerConnect(request, socket, deps.newId()))
  app.server.on('checkExpectation', (request, response) => answerExpectation(request, response, deps.newId()))
  const methodsOf = allowedMethods(app)

  addTracing(app, deps)
  addRequestHooks(app, deps)
  closeConnections(app, deps.stopping)
  closeUnfinished(app)

  const { registry, observe } = createMetrics(deps)
  addRequestMetrics(app, observe)
  addJsonBody(app)
  addMarkdownBody(app)
  addFilesBody(app)
  await addRateLimit(app, deps.settings)
  addCompression(app)
  await app.register(cookie)

  const all = endpoints(registry)
  app.register((api, _options, done) => {
    const addEndpoints = () => {
      addAuth(api, deps)
      for (const endpoint of all) registerEndpoint(api, deps, endpoint)
      addMcp(api, deps)
    }
    addCors(api, deps.settings)
      .then(addEndpoints)
      .then(() => done(), done)
  })
  app.register((pages, _options, done) => {
    addReference(pages, all)
    done()
  })
  app.register((pages, _options, done) => {
    addDashboard(pages, deps)
    done()
  })

  answerUnknownPaths(app, methodsOf)
  return app
}

/** Hooks of every request that wait for nothing call back: a promise of each would cost a turn of the queue of microtasks. */
function addRequestHooks(app: FastifyInstance, deps: ApiDeps): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff').header('cache-control', 'no-store')
    if (deps.stopping.aborted && request.routeOptions.config.access !== 'public') {
      throw new DomainError('unavailable', 'The server is shutting down. Send the request again, to another server or to this one in a moment.')
    }
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    deps.log.debug(
      {
        ...logIds(request),
        method: request.method,
        path: pathOf(request),
        status: reply.statusCode,
        took_ms: Math.round(reply.elapsedTime),
      },
      'request answered',
    )
    done()
  })
  app.addHook('onRequest', (request, _reply, done) => {
    // An empty parameter, as in /subtasks/: a value to the router, another path to its caller.
    if (Object.entries(request.params as Record<string, string>).some(([name, value]) => name !== '*' && value === '')) {
      throw noSuchPath(request.method, pathOf(request))
    }
    done()
  })
}

/** Needs the rate limit: otherwise unknown paths would be a way around it. */
function answerUnknownPaths(app: FastifyInstance, methodsOf: (path: string) => string[]): void {
  app.setNotFoundHandler({ preHandler: app.rateLimit() }, (request, reply) => {
    const path = pathOf(request)
    const allowed = methodsOf(path)
    if (allowed.length === 0) throw noSuchPath(request.method, path)
    reply.header('allow', allowed.join(', '))
    throw new DomainError('method_not_allowed', `${path} takes ${allowed.join(', ')}, not ${request.method}.`)
  })
}

/** A request may be answered before it has arrived completely, such as one whose body stalls. Its client may then leave the connection open. */
function closeUnfinished(app: FastifyInstance): void {
  app.server.on('request', (request, response) => {
    if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return
    response.once('finish', () => {
      if (request.complete) return
      const timer = setTimeout(() => {
        if (!request.complete) request.socket.destroy()
      }, REST_OF_REQUEST_MS).unref()
      request.socket.once('close', () => clearTimeout(timer))
    })
  })
}

function noSchemas(): never {
  throw new Error('a route has a JSON Schema; endpoints are described by zod')
}

/**
 * Lets the server close as soon as the last answer is sent. A kept-alive connection would hold it open as long as its client wants, and so would one
 * that was opened and never used, as load balancers and browsers keep in reserve: Node does not count it as idle.
 */
function closeConnections(app: FastifyInstance, stopping: AbortSignal): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping.aborted) reply.header('connection', 'close')
    done()
  })
  const unused = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  app.server.on('request', ({ socket }) => unused.delete(socket))
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    timer = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    for (const socket of unused) socket.destroy()
  })
  app.addHook('onClose', async () => clearInterval(timer))
}
