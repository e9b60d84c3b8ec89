import type { Actor } from '@muster/domain'
import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../api-deps.ts'
import { goneSignal } from '../http/register-endpoint.ts'
import type { McpHandler } from './server.ts'

const PATH = '/mcp'
/** Longest time until a request has been read, in milliseconds. */
const READ_MS = 5_000

/**
 * The door for agents: the Model Context Protocol over Streamable HTTP, in both of its eras (with `initialize`, up to 2025-11-25, and since 2026-07-28
 * without). Nothing is kept between two requests, so any process answers any of them. Credentials, limits and the log are those of REST; what
 * is not a call of a tool, such as a wrong key or a body that is no JSON, is answered as REST answers it. Not in `openapi.yaml`: clients ask the
 * server itself what it can do.
 */
export function addMcp(app: FastifyInstance, deps: ApiDeps): void {
  // The protocol's library takes a tenth of the memory of an idle process, so it is loaded at the first call.
  let made: Promise<McpHandler> | undefined
  const handler = (): Promise<McpHandler> => {
    made ??= import('./server.ts').then(({ createHandler }) => createHandler(deps))
    return made
  }
  app.route({
    // There is no stream to open with GET and no session to end with DELETE: both are 405, as for any path.
    method: 'POST',
    url: PATH,
    config: { access: 'key', bodyTypes: ['application/json'] },
    handlerTimeout: READ_MS,
    exposeHeadRoute: false,
    async handler(request, reply) {
      const { answer } = await handler()
      return reply.send(
        await answer({
          request,
          ctx: { ...deps, actor: request.actor as Actor, ...(request.traceparent === null ? {} : { traceparent: request.traceparent }) },
          gone: goneSignal(reply.raw),
        }),
      )
    },
  })
  app.addHook('preClose', async () => (await made)?.close())
}
