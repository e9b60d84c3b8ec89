#!/usr/bin/env node
// Plain JavaScript, because `npx` runs it with the Node that a user has, and from node_modules, where Node strips no types.

/** Serves MCP over stdio by passing every request on to `/mcp` of a running Muster. */
import { parseArgs } from 'node:util'
import { Client, ProtocolError, ProtocolErrorCode, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const DEFAULT_URL = 'http://127.0.0.1:7300'

const HELP = `Usage: npx muster-mcp [--url <url>] [--tools core|standard|all] [--session <id>] [--agent <id>]

Serves the tools, resources and prompts of a running Muster to a client of MCP that speaks stdio.

  --url <url>       where Muster is (default: MUSTER_URL, or ${DEFAULT_URL})
  --tools <tier>    how many tools the client lists (default: standard)
  --session <id>    the session that the client is in: it gets the results of what it starts
  --agent <id>      the agent that the client acts for
  --help            this text

MUSTER_KEY holds the API key; Muster on loopback in open mode needs none.
`

/** Longer than the longest wait of a tool, in milliseconds. */
const ANSWER_MS = 120_000

main().catch((error) => fail(error.message))

async function main() {
  const { url, values } = readOptions()
  if (values.help) return void process.stdout.write(HELP)
  const client = new Client({ name: 'muster-mcp', version: '0.1.0' }, { versionNegotiation: { mode: 'auto' } })
  const { MUSTER_KEY: key } = process.env
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } })).catch((error) => fail(connectProblem(url, error)))
  serveStdio(() => createServer(client, url), { onerror: (error) => process.stderr.write(`muster-mcp: ${error.message}\n`) })
}

/** A server that has what Muster has, but for subscriptions, and knows nothing itself. */
function createServer(client, url) {
  const { tools, resources, prompts, completions } = client.getServerCapabilities() ?? {}
  const capabilities = {
    ...(tools && { tools: {} }),
    ...(resources && { resources: {} }),
    ...(prompts && { prompts: {} }),
    ...(completions && { completions: {} }),
  }
  const server = new Server(client.getServerVersion() ?? { name: 'muster', version: '0.1.0' }, { capabilities, instructions: client.getInstructions() })
  server.fallbackRequestHandler = async ({ method, params }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    const onprogress = (progress) => mcpReq.notify({ method: 'notifications/progress', params: { ...progress, progressToken } }).catch(() => {})
    try {
      return await client.request({ method, params }, { signal: mcpReq.signal, timeout: ANSWER_MS, ...(progressToken !== undefined && { onprogress }) })
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        `Muster at ${url.origin} did not answer (${reasonOf(error)}). What was asked for may still happen.`,
      )
    }
  }
  return server
}

function readOptions() {
  const text = { type: 'string' }
  try {
    const { values } = parseArgs({ options: { url: text, tools: text, session: text, agent: text, help: { type: 'boolean', short: 'h' } } })
    const base = values.url ?? process.env.MUSTER_URL ?? DEFAULT_URL
    if (!URL.canParse(base) || !/^https?:/.test(base)) throw new Error(`--url must be an address such as ${DEFAULT_URL}, and ${base} is none.`)
    const url = new URL(base)
    url.pathname = url.pathname.replace(/(\/+mcp)?\/*$/, '/mcp')
    for (const name of ['tools', 'session', 'agent']) if (values[name] !== undefined) url.searchParams.set(name, values[name])
    return { url, values }
  } catch (error) {
    return fail(`${error.message}\n\n${HELP}`, 2)
  }
}

function connectProblem(url, error) {
  // The library names the status in its message alone.
  if (/\b401\b/.test(error.message)) return `Muster at ${url.origin} refuses the key: set MUSTER_KEY to one that \`npm run key -- create\` has printed.`
  return `No Muster answers at ${url.origin} (${reasonOf(error)}): start it, or name another address with --url.`
}

/** The message of the innermost cause: fetch says only that it failed. */
function reasonOf(error) {
  let inner = error
  while (inner.cause instanceof Error) inner = inner.cause
  return inner.code ?? inner.message
}

function fail(problem, code = 1) {
  process.stderr.write(`muster-mcp: ${problem}\n`)
  process.exit(code)
}
