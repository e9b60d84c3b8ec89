import type { CallToolResult, Client, Tool, Transport } from '@modelcontextprotocol/client'
import type { McpServerSettings } from '@muster/domain'
import type { Guard } from '../../command/guard.ts'
import { type ProcessMarks, StartError } from '../../command/process.ts'
import { type Environment, inheritedBy, locateProgram } from '../../command/program.ts'
import { AnswerTooLarge, limitedFetch } from './limited-fetch.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface McpSurroundings {
  guard: Guard
  /** Variables of this process. A program gets a few of them, and what its settings add. */
  environment: Environment
  /** What relative paths in the settings start from. */
  baseFolder: string
  /** Where a program starts. */
  workspace: string
  /** What tells the processes of the attempt from all others. */
  marks: ProcessMarks
  /** Milliseconds that connecting, with the list of tools, may take, and one call. */
  connectMs: number
  callMs: number
}

/** Something that a server does, or does not do, in words that a model and a transcript may have. Never an address, never a header. */
export class McpError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'McpError'
  }
}

/** Pages of a list of tools. */
const LIST_PAGES_MAX = 10
/** How long a session is waited for to be ended at the server's. */
const CLOSE_MS = 300
const MESSAGE_LENGTH_MAX = 500

/** A server that has been reached, for one run. */
export class McpConnection {
  readonly #name: string
  readonly #client: Client
  readonly #transport: Transport
  readonly #callMs: number
  readonly tools: Tool[]

  private constructor(name: string, client: Client, transport: Transport, tools: Tool[], callMs: number) {
    this.#name = name
    this.#client = client
    this.#transport = transport
    this.tools = tools
    this.#callMs = callMs
  }

  /** Reaches a server and reads what tools it has. @throws McpError */
  static async open(name: string, settings: McpServerSettings, surroundings: McpSurroundings, signal: AbortSignal): Promise<McpConnection> {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const { connectMs, callMs } = surroundings
    const excess = new AbortController()
    const onTooLarge = (error: AnswerTooLarge) => excess.abort(error)
    const isHttp = 'url' in settings
    const client = new Client(
      { name: 'muster', version: '1' },
      {
        // A program of an older era may end at a message that it does not know, so it is not asked which one it is of.
        ...(isHttp && { versionNegotiation: { mode: 'auto' as const, probe: { timeoutMs: connectMs } } }),
        listMaxPages: LIST_PAGES_MAX,
        // What a tool answers is for a model to read, whether it fits the server's own schema or not; and no schema is compiled that may take for ever.
        jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) },
      },
    )
    client.onerror = () => {}
    const deadline = AbortSignal.timeout(connectMs)
    const either = AbortSignal.any([signal, deadline, excess.signal])
    const options = { signal: either, timeout: connectMs }
    let transport: Transport | null = null
    try {
      transport = isHttp
        ? new StreamableHTTPClientTransport(new URL(settings.url), {
            requestInit: { headers: settings.headers ?? {} },
            fetch: limitedFetch(onTooLarge),
            reconnectionOptions: { maxRetries: 0, initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1 },
          })
        : new StdioTransport(programOf(name, settings, surroundings), onTooLarge)
      await withSignal(client.connect(transport, options), either)
      const { tools } = await withSignal(client.listTools(undefined, options), either)
      return new McpConnection(name, client, transport, tools, callMs)
    } catch (error) {
      await within(CLOSE_MS + 1_000, Promise.all([client.close(), transport?.close()]))
      if (signal.aborted) throw new McpError('Stopped.')
      throw describe(name, either.aborted ? either.reason : error, connectMs)
    }
  }

  /** @throws McpError */
  async call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const deadline = AbortSignal.timeout(this.#callMs)
    const either = AbortSignal.any([signal, deadline])
    try {
      return await withSignal(this.#client.callTool({ name: tool, arguments: input }, { signal: either, timeout: this.#callMs }), either)
    } catch (error) {
      signal.throwIfAborted()
      throw describe(this.#name, deadline.aborted ? deadline.reason : error, this.#callMs)
    }
  }

  async close(): Promise<void> {
    const { terminateSession } = this.#transport as { terminateSession?: () => Promise<void> }
    if (terminateSession !== undefined) await within(CLOSE_MS, terminateSession.call(this.#transport))
    await within(CLOSE_MS + 2_000, this.#client.close())
  }
}

/** How the program of a server is started. @throws McpError */
function programOf(name: string, settings: { command: string[]; env?: Record<string, string> | undefined }, surroundings: McpSurroundings) {
  const { guard, environment, baseFolder, workspace, marks } = surroundings
  const { command, env } = settings
  const { program } = locateProgram({ argv: command, ...(env !== undefined && { env }) }, environment, baseFolder)
  if (program === null) throw new McpError(`The program of the MCP server "${name}" is not there, or cannot be run. Check MCP_SERVERS.`)
  // Marks of its own: what is left of a command that was stopped is looked for by those of the attempt.
  const own = { ...marks, MUSTER_ATTEMPT: `${marks.MUSTER_ATTEMPT}-mcp-${name}` }
  return { program, args: command.slice(1), cwd: workspace, env: { ...inheritedBy(environment), ...env, ...own }, guard, killAfterMs: 300 }
}

function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // The loser of the race is ignored, and must not become an unhandled rejection.
  promise.catch(() => {})
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Waits for a farewell, however it ends, and not for long. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([promise.then(() => {}).catch(() => {}), over])
  clearTimeout(timer)
}

/** What went wrong, without what the SDK or the network says of addresses. What the server itself says of a call is passed on. */
function describe(name: string, error: unknown, waitedMs: number): McpError {
  const server = `The MCP server "${name}"`
  if (error instanceof McpError) return error
  if (error instanceof StartError) return new McpError(`${server} could not be started. Check MCP_SERVERS.`)
  for (let current: unknown = error, depth = 0; typeof current === 'object' && current !== null && depth < 5; current = (current as Error).cause, depth += 1) {
    const {
      name: kind,
      code,
      status,
      message,
      data,
    } = current as { name?: string; code?: unknown; status?: unknown; message?: string; data?: { status?: unknown } }
    if (current instanceof AnswerTooLarge) return new McpError(`${server} ${current.message}.`)
    if (kind === 'TimeoutError' || code === 'REQUEST_TIMEOUT') return new McpError(`${server} did not answer within ${waitedMs / 1_000} s.`)
    const httpStatus = typeof status === 'number' ? status : data?.status
    if (typeof httpStatus === 'number') return new McpError(`${server} answered with status ${httpStatus}.`)
    // A program may end before or after it was written to.
    if (code === 'CONNECTION_CLOSED' || code === 'EPIPE') return new McpError(`${server} ended before it answered.`)
    if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_\w+)$/.test(code))
      return new McpError(`${server} could not be reached, or broke the connection off (${code}).`)
    // A JSON-RPC error: the server's own words.
    if (typeof code === 'number') return new McpError(`${server} refused: ${(message ?? '').slice(0, MESSAGE_LENGTH_MAX)}`)
  }
  return new McpError(`${server} answered with what cannot be read.`)
}
