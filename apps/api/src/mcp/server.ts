import { type AuthInfo, createMcpHandler, type McpRequestContext, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { fieldNames, idsAmong, type Origin, SESSION_ARGUMENT, VERSION } from '@muster/domain'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ApiDeps } from '../api-deps.ts'
import { within } from '../http/deadline.ts'
import { pathOf } from '../http/errors.ts'
import { logIds } from '../http/request-id.ts'
import { printableId } from '../http/schemas.ts'
import { callTool, findTool, listedTools, toolMeant } from './catalog.ts'
import type { McpCall } from './mcp-call.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { completeParameter, listResources, listResourceTemplates, readResource } from './resources.ts'
import { createSubscriptions, LISTEN_METHOD } from './subscriptions.ts'
import { type McpCaller, type McpTool, parse, TIERS, type Tier, toolText } from './tool.ts'
import { toProtocolError, toToolError } from './tool-error.ts'

/** What a caller says of itself, in the `_meta` of a request, in an argument of a tool that a hook of Claude Code added, in a header or in the address. */
const CLAIMS = {
  session: { meta: 'muster/session_id', header: 'muster-session-id', schema: printableId('The session that the caller is in.', 'research-1') },
  agent: { meta: 'muster/agent_id', header: 'muster-agent-id', schema: printableId('The agent that the caller acts for.', 'default') },
} as const

type Request = Pick<FastifyRequest, 'headers' | 'query'>

const parameter = (request: Request, name: string): unknown => (request.query as Record<string, unknown>)[name]

/**
 * The first claim of: `_meta`, the argument, the header, the address. It decides over nothing but in whose name something is done.
 *
 * @throws DomainError `validation_failed` for what can be no session or agent
 */
function claimed(name: keyof typeof CLAIMS, request: Request, meta: Record<string, unknown> | undefined, argument?: unknown): string | undefined {
  const { meta: key, header, schema } = CLAIMS[name]
  const value = meta?.[key] ?? argument ?? request.headers[header] ?? parameter(request, name)
  return value === undefined ? undefined : parse(z.object({ [key]: schema }), { [key]: value })[key]
}

/** `?tools=` of the address; standard where it says nothing that is known. */
function tierOf(request: Request): Tier {
  return TIERS.find((tier) => tier === parameter(request, 'tools')) ?? 'standard'
}

const INSTRUCTIONS =
  'Muster runs work for agents. As a controller: create_task writes a brief, spawn_task or assign_task gives it to an agent, steer_task and update_task change it while it runs, wait_for and claim_inbox bring results. As a sub-agent: get_task reads your brief; changes to it arrive only as [Task Update …] blocks with an update id, which confirm_update verifies; check_in reports which criteria are met; ask asks your parent, with wait: true where you cannot go on without the answer; mark_task_complete hands in. After a failure, read the guide that is named to you with read_tsg.'

/** Longest time for a resource, a prompt or a completion, in milliseconds. */
const ANSWER_MS = 5_000

/** The server for one request: it knows who calls, and is gone with the answer. */
function createMcpServer(deps: ApiDeps, { request, ctx }: McpCall, era: McpRequestContext['era']): Server {
  // Clients of the older era would wait on a GET stream of their session, and there are no sessions.
  const resources = era === 'modern' ? { subscribe: true, listChanged: true } : {}
  const server = new Server(
    { name: 'muster', title: 'Muster', version: VERSION },
    { capabilities: { tools: {}, resources, prompts: {}, completions: {} }, instructions: INSTRUCTIONS },
  )
  const answering = <T>(work: () => T | Promise<T>) =>
    within(ANSWER_MS, Promise.resolve().then(work), 'The server took too long. Ask again in a moment.').catch((error: unknown) => {
      throw toProtocolError(error, deps, logIds(request))
    })
  server.setRequestHandler('resources/list', () => answering(async () => ({ resources: await listResources(ctx) })))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: listResourceTemplates(ctx) }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => answering(() => readResource(ctx, uri)))
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts() }))
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: values } }) => answering(() => getPrompt(ctx, name, values)))
  server.setRequestHandler('completion/complete', ({ params: { argument } }) =>
    answering(async () => ({ completion: await completeParameter(ctx, argument.name, argument.value) })),
  )
  server.setRequestHandler('tools/list', () => ({ tools: listedTools(ctx.actor, tierOf(request)).map(({ description }) => description) }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: { [SESSION_ARGUMENT]: namedSession, ...input } = {} } }, { mcpReq }) => {
    const tool = findTool(name)
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name.slice(0, 100)}; tools/list names those that there are.`)
    try {
      const { lineage } = ctx.actor
      const progressToken = mcpReq._meta?.progressToken
      const origin = originOf(toolMeant(tool, input), tool === toolMeant(tool, input) ? input : input.arguments, request)
      const caller: McpCaller = {
        ctx: origin === undefined ? ctx : { ...ctx, origin },
        deps,
        sessionId: lineage?.sessionId ?? claimed('session', request, mcpReq._meta, namedSession),
        agentId: lineage === null ? claimed('agent', request, mcpReq._meta) : undefined,
        gone: mcpReq.signal,
        authorizeAgain: () => request.authorizeAgain(),
        report: progressReporter(async (progress, message) => {
          if (progressToken === undefined) return
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
        }),
      }
      const answer = await within(tool.deadlineMs, callTool(caller, tool, input), 'The tool took longer than the server waits. It may still take effect.')
      return server.projectCallToolResult({ content: toolText(answer), structuredContent: answer }, tool.description.outputSchema)
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      return toToolError(error, deps, { ids: logIds(request), tool: toolMeant(tool, input).description, isSubagent: ctx.actor.lineage !== null })
    }
  })
  return server
}

/** What the audit log says of a write of this call; undefined where it says nothing. */
function originOf({ isAudited, description: { name } }: McpTool, given: unknown, { ip, id }: Pick<FastifyRequest, 'ip' | 'id'>): Origin | undefined {
  if (!isAudited) return undefined
  const input = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {}
  return { door: 'mcp', address: ip, operation: name, requestId: id, ids: idsAmong(input), fields: fieldNames(input) }
}

/** Numbers reports upwards, as the protocol wants it. One that cannot be sent is not missed: the caller has gone, or does not want it. */
function progressReporter(send: (progress: number, message: string) => Promise<void>): McpCaller['report'] {
  let progress = 0
  return (ended, total) => {
    progress += 1
    send(progress, `${ended} of ${total} ended`).catch(() => {})
  }
}

export interface McpHandler {
  /** Answers a request to `/mcp`. */
  answer(call: McpCall): Promise<Response>
  /** Ends the streams. */
  close(): Promise<void>
}

export function createHandler(deps: ApiDeps): McpHandler {
  const subscriptions = createSubscriptions(deps)
  const handler = createMcpHandler(({ authInfo, era }) => createMcpServer(deps, (authInfo as AuthInfo).extra as unknown as McpCall, era), {
    bus: subscriptions.bus,
    // A minute without a byte is longer than some proxies wait.
    keepAliveMs: 10_000,
    onerror: (error) => deps.log.debug({ err: error }, 'a request to /mcp was refused'),
  })
  return {
    async answer(call) {
      const { request, ctx, gone } = call
      const { method, body: parsedBody } = request
      const headers = new Headers()
      for (const [name, value] of Object.entries(request.headers)) if (typeof value === 'string') headers.set(name, value)
      // The key itself goes no further.
      const authInfo: AuthInfo = { token: '', clientId: ctx.actor.id, scopes: [...ctx.actor.scopes], extra: { ...call } }
      const send = (signal: AbortSignal) =>
        handler.fetch(new Request(`http://localhost${pathOf(request)}`, { method, headers, signal }), { parsedBody, authInfo })
      return (parsedBody as { method?: unknown } | null)?.method === LISTEN_METHOD ? await subscriptions.open(call, send) : await send(gone)
    },
    close: () => handler.close(),
  }
}
