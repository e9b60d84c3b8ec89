import { existsSync } from 'node:fs'
import { join } from 'node:path'
import helmet from '@fastify/helmet'
import serveFiles from '@fastify/static'
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Endpoint } from '../http/endpoint.ts'
import { noSuchPath } from '../http/errors.ts'
import { fieldProblem, validationFailed } from '../http/validation.ts'
import { describeApi } from '../openapi/document.ts'
import { leanDocument } from '../openapi/lean.ts'
import { renderYaml } from '../openapi.ts'
import { BUILT_PAGES, requireBuilt } from './built-pages.ts'

/** Names in folders: never a way out of them. */
const GUIDE_PATH = /^(?:[\w-]+\/)*[\w-]+(\.\w+)?$/

/** `/openapi.json`, `/openapi.yaml` and the pages at `/docs`, without a key. */
export function addReference(app: FastifyInstance, endpoints: readonly Endpoint[], built = BUILT_PAGES): void {
  // Built at the first request: most processes never get one, and building takes a tenth of the start time.
  const document = once(() => describeApi(endpoints))
  const yaml = once(() => renderYaml(document()))
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'public' }
  })
  app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: false,
  })
  app.register(swagger, { hideUntagged: true, transformObject: () => document() })
  const lean = once(() => leanDocument(document()))
  app.get<{ Querystring: { view?: string } }>('/openapi.json', async ({ query }, reply) => {
    if (query.view !== undefined && query.view !== 'lean') throw validationFailed([fieldProblem('?view', 'must be lean, or absent', query.view)])
    return reply.type('application/json; charset=utf-8').send(query.view === 'lean' ? lean() : app.swagger())
  })
  app.get('/openapi.yaml', async (_request, reply) => reply.type('application/yaml; charset=utf-8').send(yaml()))
  addPages(app, built)
}

/** The reference at `/docs`, and the guides below it: as pages, and as Markdown with `.md` at the end of their address. */
function addPages(app: FastifyInstance, built: string): void {
  const send = (reply: FastifyReply, path: string) => {
    requireBuilt(built)
    return reply.header('cache-control', 'no-cache').sendFile(path)
  }
  app.get('/docs', (_request, reply) => send(reply, 'docs.html'))
  app.get('/docs/', (_request, reply) => reply.redirect('/docs'))
  app.get<{ Params: { '*': string } }>('/docs/*', ({ params, url, method }, reply) => {
    requireBuilt(built)
    const [path, extension] = GUIDE_PATH.exec(params['*']) ?? []
    const file = `guides/${path}${extension === undefined ? '.html' : ''}`
    if (path === undefined || !existsSync(join(built, file))) throw noSuchPath(method, url)
    return send(reply, file)
  })
  app.register(serveFiles, { root: built, serve: false, preCompressed: true, cacheControl: false })
}

function once<T extends NonNullable<unknown>>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
