import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseSettings } from '@muster/domain'
import { createClaudeCodeRunner } from '../claude-code/runner.ts'
import type { Guard } from '../command/guard.ts'
import type { Runner } from '../port.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { ENVIRONMENT, KEYS } from './ai.ts'
import { SILENT_LOG } from './command.ts'

/** A runner with a key, and what else is given: the program, and where its models are. */
export function claudeRunner(settings: Record<string, string>, guard: Guard, environment: Record<string, string> = {}, sandbox: Sandbox | null = null): Runner {
  return createClaudeCodeRunner(parseSettings({ ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY, ...settings }), {
    guard,
    log: SILENT_LOG,
    environment: { ...ENVIRONMENT, ...environment },
    baseFolder: '/',
    sandbox,
  })
}

/** What has been asked of Muster, by hooks and by MCP. */
export interface MusterCall {
  path: string
  authorization: string | undefined
  body: Record<string, unknown>
}

/** The two endpoints of Muster that a program calls: hooks are answered by nothing, and there is one tool. */
export interface TestMuster {
  readonly url: string
  readonly calls: MusterCall[]
  close(): Promise<void>
}

const TOOL = { name: 'get_task', description: 'Reads the task.', inputSchema: { type: 'object', properties: {} } }

export async function startTestMuster(): Promise<TestMuster> {
  const calls: MusterCall[] = []
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>
    calls.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
    if (request.url !== '/mcp') return void response.writeHead(200).end()
    if (body.id === undefined) return void response.writeHead(202).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: body.id, ...answerOf(body) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answerOf({ method, params }: Record<string, unknown>): Record<string, unknown> {
  const { protocolVersion } = (params ?? {}) as { protocolVersion?: string }
  if (method === 'initialize') return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'muster', version: '1' } } }
  if (method === 'tools/list') return { result: { tools: [TOOL] } }
  if (method === 'tools/call') return { result: { content: [{ type: 'text', text: 'The task is to count to three.' }] } }
  return { error: { code: -32601, message: 'no such method' } }
}

/** The processes of a subtask, by what their environment says. */
export function processesOf(subtaskId: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`MUSTER_SUBTASK_ID=${subtaskId}\0`)
      } catch {
        return false
      }
    })
}
