import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { isSpawningTool, requireSpawnAllowed } from '@muster/domain'
import type { Ctx } from '@muster/usecases'
import type { FastifyRequest } from 'fastify'
import type { ApiDeps } from '../api-deps.ts'
import { within } from '../http/deadline.ts'
import { callerOf } from './caller.ts'
import { type McpTool, toolText } from './tool.ts'
import { toToolError } from './tool-error.ts'
import { checkInTool } from './tools/check-in.ts'
import { confirmUpdateTool } from './tools/confirm-update.ts'
import { getTaskTool } from './tools/get-task.ts'
import { markTsgHelpfulTool } from './tools/mark-tsg-helpful.ts'
import { readTsgTool } from './tools/read-tsg.ts'

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
export function createMcpServer(deps: ApiDeps, { request, ctx }: McpCall): Server {
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
