import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server'
import type { ApiDeps } from '../api-deps.ts'
import { createMcpServer, type McpCall } from './server.ts'

export type McpHandler = ReturnType<typeof createMcpHandler>

/** Answers the requests to `/mcp`. Each brings along who makes it (a `McpCall`). */
export function createHandler(deps: ApiDeps): McpHandler {
  return createMcpHandler(({ authInfo }) => createMcpServer(deps, (authInfo as AuthInfo).extra as unknown as McpCall), {
    // Nothing that could be subscribed to ever changes, and a stream would hold up the end of the process.
    maxSubscriptions: 0,
    onerror: (error) => deps.log.debug({ err: error }, 'a request to /mcp was refused'),
  })
}
