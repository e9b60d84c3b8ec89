import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, Server, type Tool } from '@modelcontextprotocol/server'

/** A real MCP server on loopback, which knows who has come to it. */
export interface TestMcp {
  readonly url: string
  /** Every request, by its method of MCP. */
  readonly calls: { method: string; headers: IncomingMessage['headers'] }[]
  /** What the next tools/list answers. */
  tools: Tool[]
  /** What a call of a tool answers. */
  answer: (name: string, input: Record<string, unknown>) => unknown
  /** In place of the server: whatever this does with a request. */
  instead: ((message: IncomingMessage, response: ServerResponse, method: string) => boolean) | null
  close(): Promise<void>
}

const ECHO: Tool = {
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

export async function startTestMcp(): Promise<TestMcp> {
  const mcp: TestMcp = {
    url: '',
    calls: [],
    tools: [ECHO, { ...ECHO, name: 'shout' }],
    answer: (_, { text }) => ({ content: [{ type: 'text', text: `you said ${String(text)}` }] }),
    instead: null,
    async close() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools: mcp.tools }))
    server.setRequestHandler('tools/call', ({ params: { name, arguments: input = {} } }) => mcp.answer(name, input) as never)
    return server
  })
  const http = createServer(async (message, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    const { method = '' } = (body === '' ? {} : JSON.parse(body)) as { method?: string }
    mcp.calls.push({ method, headers: message.headers })
    if (mcp.instead?.(message, response, method) === true) return
    const headers = new Headers(
      Object.entries(message.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as [string, string]] : [])),
    )
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${message.url}`, { method: message.method ?? 'POST', headers, ...(body !== '' && { body }) }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    for await (const chunk of answer.body ?? []) response.write(chunk)
    response.end()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return Object.assign(mcp, { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` })
}

/**
 * The arguments of a server that is a program: of the older era, in a few lines. It writes down its input and its process id, and says on its standard
 * output more than messages.
 */
export function programServer(notes: string): string[] {
  const source = `
    const { appendFileSync } = require('node:fs')
    appendFileSync(${JSON.stringify(notes)}, 'pid ' + process.pid + ' ' + Object.keys(process.env).sort().join() + '\\n')
    console.log('a line that is no message')
    console.error('token of the program')
    const answers = {
      initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'program', version: '1' } }),
      'tools/list': () => ({ tools: [{ name: 'where', inputSchema: { type: 'object' } }, { name: 'die', inputSchema: { type: 'object' } }, { name: 'flood', inputSchema: { type: 'object' } }] }),
      'tools/call': ({ name }) => {
        if (name === 'die') process.exit(1)
        return { content: [{ type: 'text', text: name === 'flood' ? 'x'.repeat(6e6) : process.cwd() }] }
      },
    }
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      appendFileSync(${JSON.stringify(notes)}, method + '\\n')
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }))
    })`
  return [process.execPath, '-e', source]
}
