import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import { checkOutputSchema, checkTool, cutToBytes, type McpServerSettings, mcpServerOf, toStorableText } from '@muster/domain'
import { isTooDeep } from '../../command/protocol.ts'
import type { Brief } from '../../port.ts'
import { type RunTool, TOOL_TEXT_BYTES_MAX, ToolError } from '../tools/tool.ts'
import { McpConnection, McpError, type McpSurroundings } from './connection.ts'

/** The operator's MCP servers, as far as a run has them. */
export interface McpServers {
  readonly tools: RunTool[]
  /** What could not be had, for the transcript. */
  readonly problems: string[]
  /** Why a tool of a server is not there; null for what is nothing of theirs. */
  refusal(name: string): string | null
  close(): Promise<void>
}

const NO_SERVERS: McpServers = { tools: [], problems: [], refusal: () => null, close: async () => {} }
/** What providers take as a tool's name. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/
/** Models choose badly among more, and pay for each of them in every call. */
const TOOLS_MAX = 128
const DESCRIPTION_BYTES_MAX = 4 * 1024
const OPEN_SCHEMA = { type: 'object', additionalProperties: true }

/**
 * Reaches the servers whose tools the definition of a run allows: in the foreground alone. In the background nothing is reached, nothing is
 * started, and nothing is loaded, whatever is set and whatever a definition says. A server that cannot be had leaves its tools out; never throws.
 */
export async function openMcpServers(
  settings: Readonly<Record<string, McpServerSettings>>,
  brief: Pick<Brief, 'subagent' | 'background'>,
  surroundings: McpSurroundings,
  signal: AbortSignal,
): Promise<McpServers> {
  const { subagent = null, background = true } = brief
  if (background) return NO_SERVERS
  const mayUse = (toolName: string) => subagent === null || checkTool(subagent, { toolName, background }).allowed
  const wanted = Object.entries(settings).filter(([server]) => subagent === null || wantsOf(subagent, server))
  const problems: string[] = []
  const absent = new Map<string, string>()
  const { jsonSchema } = wanted.length === 0 ? { jsonSchema: null } : await import('ai')
  const opened = await Promise.all(
    wanted.map(async ([server, own]) => {
      try {
        return { server, connection: await McpConnection.open(server, own, surroundings, signal) }
      } catch (error) {
        const problem = error instanceof McpError ? error.message : `The MCP server "${server}" could not be used.`
        if (!signal.aborted) problems.push(`${problem} Its tools are left out.`)
        absent.set(server, problem)
        return null
      }
    }),
  )
  const connections = opened.filter((each) => each !== null)
  const tools = new Map<string, RunTool>()
  for (const { server, connection } of connections) {
    for (const tool of connection.tools) {
      const name = `mcp__${server}__${tool.name}`
      if (tools.has(name) || !mayUse(name.replaceAll(/[^\w-]/g, '_'))) continue
      if (!TOOL_NAME.test(name))
        problems.push(`A tool of the MCP server "${server}" is left out: ${JSON.stringify(tool.name.slice(0, 100))} makes no name that models take.`)
      else if (tools.size >= TOOLS_MAX) problems.push(`${name} is left out: a run has ${TOOLS_MAX} tools of MCP servers at most.`)
      else
        tools.set(name, { ...shapeOf(tool, jsonSchema as Shape), name, run: async (input, context) => await use(connection, tool.name, input, context.signal) })
    }
  }
  return {
    tools: [...tools.values()],
    problems,
    refusal: (name) => absent.get(mcpServerOf(name) ?? '') ?? null,
    close: async () => void (await Promise.all(connections.map(({ connection }) => connection.close()))),
  }
}

/** Whether a definition may want something of a server: it names it, or one of its rules is about tools of it. What it gets is decided tool by tool. */
function wantsOf({ tools, mcpServers }: { tools: readonly string[]; mcpServers: readonly string[] }, server: string): boolean {
  if (mcpServers.length > 0 && !mcpServers.includes(server)) return false
  const prefix = `mcp__${server}`
  return tools.some((rule) => {
    const { name = '' } = /^(?<name>[^(]*)/.exec(rule)?.groups ?? {}
    if (name.endsWith('*')) return `${prefix}__`.startsWith(name.slice(0, -1)) || name.startsWith(`${prefix}__`)
    return name === prefix || name.startsWith(`${prefix}__`)
  })
}

type Shape = typeof import('ai')['jsonSchema']

/** The description of a tool for a model. A schema that a provider may refuse, and the whole call with it, is given in words instead. */
function shapeOf({ description = '', inputSchema }: Tool, jsonSchema: Shape): Pick<RunTool, 'description' | 'inputSchema'> {
  const { $schema: _, ...schema } = inputSchema as Record<string, unknown>
  const isUsable = schema.type === 'object' && !isTooDeep(schema) && checkOutputSchema(schema) === null
  const described = isUsable || isTooDeep(schema) ? description : `${description}\n\nWhat it takes: ${JSON.stringify(schema)}`
  return {
    description: cutToBytes(toStorableText(described), DESCRIPTION_BYTES_MAX).text,
    inputSchema: jsonSchema((isUsable ? schema : OPEN_SCHEMA) as Parameters<Shape>[0]),
  }
}

async function use(connection: McpConnection, tool: string, input: unknown, signal: AbortSignal): Promise<string> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) throw new ToolError('The arguments must be an object.')
  let result: CallToolResult
  try {
    result = await connection.call(tool, input as Record<string, unknown>, signal)
  } catch (error) {
    if (error instanceof McpError) throw new ToolError(error.message)
    throw error
  }
  const { text, truncated } = cutToBytes(toStorableText(textOf(result)), TOOL_TEXT_BYTES_MAX)
  const described = `${text}${truncated ? '\n[cut: the answer is longer]' : ''}`
  if (result.isError === true) throw new ToolError(described === '' ? 'The tool failed without a message.' : described)
  return described === '' ? '[no answer]' : described
}

/** What a tool has answered, as text: pictures and sounds are named, and left out. */
function textOf({ content, structuredContent }: CallToolResult): string {
  const parts = content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'resource_link') return `[${part.name}](${part.uri})`
    if (part.type === 'resource') return 'text' in part.resource ? part.resource.text : `[${part.resource.uri} left out: it is no text]`
    return `[${part.mimeType} left out: it is no text]`
  })
  return parts.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : parts.join('\n')
}
