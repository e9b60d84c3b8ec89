import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../http/endpoint.ts'
import { fieldProblem, validationFailed } from '../http/validation.ts'
import { describeApi } from '../openapi/document.ts'
import { renderErrorPage } from '../openapi/error-page.ts'
import { leanDocument } from '../openapi/lean.ts'
import { renderYaml } from '../openapi.ts'

/** `/openapi.json`, `/openapi.yaml` and the pages at `/docs`, without a key. */
export function addReference(app: FastifyInstance, endpoints: readonly Endpoint[]): void {
  // Built at the first request: most processes never get one, and building takes a tenth of the start time.
  const document = once(() => describeApi(endpoints))
  const yaml = once(() => renderYaml(document()))
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'public' }
  })
  app.register(helmet, {
    // On plain HTTP, as on loopback, an upgrade of the page's own requests would break it.
    contentSecurityPolicy: {
      directives: {
        defaultSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        styleSrc: ["'self'", "'unsafe-inline'"],
        scriptSrc: ["'self'"],
        upgradeInsecureRequests: null,
      },
    },
    strictTransportSecurity: false,
  })
  const lean = once(() => leanDocument(document()))
  app.get<{ Querystring: { view?: string } }>('/openapi.json', async ({ query }, reply) => {
    if (query.view !== undefined && query.view !== 'lean') throw validationFailed([fieldProblem('?view', 'must be lean, or absent', query.view)])
    return reply.type('application/json; charset=utf-8').send(query.view === 'lean' ? lean() : document())
  })
  app.get('/openapi.yaml', async (_request, reply) => reply.type('application/yaml; charset=utf-8').send(yaml()))
  app.get('/docs/errors', async (_request, reply) => {
    const page = await renderErrorPage()
    return page === undefined ? reply.redirect('/docs') : reply.type('text/html; charset=utf-8').send(page)
  })
  // It insists on a document at once; the pages are given the real one in its place.
  app.register(swagger, { mode: 'static', specification: { document: {} as never } })
  app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Muster API' },
    uiConfig: { deepLinking: true, showExtensions: true, docExpansion: 'list', tryItOutEnabled: true },
    staticCSP: false,
    transformSpecification: () => document(),
    transformSpecificationClone: false,
  })
}

function once<T extends NonNullable<unknown>>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
