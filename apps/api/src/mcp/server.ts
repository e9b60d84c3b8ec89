import { type AuthInfo, createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { type FieldProblem, isSpawningTool, requireSpawnAllowed } from '@muster/domain'
import type { Ctx } from '@muster/usecases'
import type { FastifyRequest } from 'fastify'
import type { ApiDeps } from '../api-deps.ts'
import { within } from '../http/deadline.ts'
import { printableId } from '../http/schemas.ts'
import { check, validationFailed } from '../http/validation.ts'
import { type McpCaller, type McpTool, toolText } from './tool.ts'
import { toToolError } from './tool-error.ts'
import { checkInTool } from './tools/check-in.ts'
import { confirmUpdateTool } from './tools/confirm-update.ts'
import { getTaskTool } from './tools/get-task.ts'
import { markTsgHelpfulTool } from './tools/mark-tsg-helpful.ts'
import { readTsgTool } from './tools/read-tsg.ts'

/** In the `_meta` of a request. */
const SESSION_META = 'muster/session_id'

const session = printableId('The session that the caller is in.', 'research-1')

/**
 * Who calls, first found: the credential of a sub-agent, `_meta`, the header `Muster-Session-Id`, `?session=`. What a caller says of itself decides
 * over nothing but in whose name something is counted.
 *
 * @throws DomainError `validation_failed` for what can be no session
 */
function callerOf(ctx: Ctx, request: Pick<FastifyRequest, 'headers' | 'query'>, meta: Record<string, unknown> | undefined): McpCaller {
  const { lineage } = ctx.actor
  if (lineage !== null) return { ctx, sessionId: lineage.sessionId }
  const claimed = meta?.[SESSION_META] ?? request.headers['muster-session-id'] ?? (request.query as Record<string, unknown>).session
  if (claimed === undefined) return { ctx, sessionId: undefined }
  const problems: FieldProblem[] = []
  const sessionId = check(session, claimed, 'body', problems)
  if (problems.length > 0) throw validationFailed(problems.map((problem) => ({ ...problem, pointer: `/_meta/${SESSION_META}`, field: SESSION_META })))
  return { ctx, sessionId }
}

/** Tools for sub-agents. Every caller has them; none starts work. */
const TOOLS: readonly McpTool[] = [getTaskTool, checkInTool, confirmUpdateTool, readTsgTool, markTsgHelpfulTool]

/** Longest time that a tool may take, in milliseconds. */
const DEADLINE_MS = 5_000

const INSTRUCTIONS =
  'Muster hands you work as briefs. Changes to one arrive only as [Task Update …] blocks with an update id; confirm one with confirm_update. Report with check_in which criteria are met. After a failure, read the guide that is named to you with read_tsg, and say with mark_tsg_helpful whether it helped.'

/** One HTTP request, and who makes it. */
export interface McpCall {
  request: FastifyRequest
  ctx: Ctx
}

/** The server for one request: it knows who calls, and is gone with the answer. */
function createMcpServer(deps: ApiDeps, { request, ctx }: McpCall): Server {
  const server = new Server({ name: 'muster', title: 'Muster', version: '0.1.0' }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS })
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map(({ description }) => description) }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: input } }, { mcpReq }) => {
    const tool = TOOLS.find(({ description }) => description.name === name)
    try {
      if (tool === undefined && isSpawningTool(name)) requireSpawnAllowed(ctx.actor)
      if (tool === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name.slice(0, 100)}; tools/list names those that there are.`)
      const caller = callerOf(ctx, request, mcpReq._meta)
      const answer = await within(DEADLINE_MS, tool.call(caller, input), 'The tool took longer than the server waits. It may still take effect.')
      return server.projectCallToolResult({ content: toolText(answer), structuredContent: answer }, tool.description.outputSchema)
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      return toToolError(error, deps, { request_id: request.id, tool: name.slice(0, 100) })
    }
  })
  return server
}

export type McpHandler = ReturnType<typeof createMcpHandler>

/** Answers the requests to `/mcp`. Each brings along who makes it (a `McpCall`). */
export function createHandler(deps: ApiDeps): McpHandler {
  return createMcpHandler(({ authInfo }) => createMcpServer(deps, (authInfo as AuthInfo).extra as unknown as McpCall), {
    // Nothing that could be subscribed to ever changes, and a stream would hold up the end of the process.
    maxSubscriptions: 0,
    onerror: (error) => deps.log.debug({ err: error }, 'a request to /mcp was refused'),
  })
}
