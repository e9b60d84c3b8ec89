import { checkTool, type McpServerSettings } from '@muster/domain'
import type { Run } from '../../port.ts'
import type { McpSurroundings } from '../mcp/connection.ts'
import { openMcpServers } from '../mcp/servers.ts'
import { type BashOptions, bashTool } from './bash.ts'
import { deliverOutputTool, type Outputs } from './deliver-output.ts'
import { editTool } from './edit.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { memoryTools } from './memory.ts'
import { readTool } from './read.ts'
import { createGuideFinder, reportingTools } from './reporting.ts'
import type { RunTool } from './tool.ts'
import { type WebFetchOptions, webFetchTool } from './web-fetch.ts'
import { type WebSearchSettings, webSearchTool } from './web-search.ts'
import { openWorkspace } from './workspace.ts'
import { writeTool } from './write.ts'

/** What a run may use. */
export interface Toolbox {
  readonly tools: ReadonlyMap<string, RunTool>
  /** What could not be had, for the transcript. */
  readonly problems: readonly string[]
  readonly outputs: Outputs
  /** Why a tool, or one use of it, is not this run's; null where it is. */
  refusal(name: string, input: unknown): string | null
  /** How rules about uses that ask name one use of a tool; null for a tool that never asks. */
  useOf(name: string, input: unknown): string | null
  /** Notices of guides that match the failure of a tool, each once in a run. @throws ToolError where Muster cannot be asked */
  findGuides(failure: string, signal: AbortSignal): Promise<string[]>
  /** Leaves nothing behind of what the tools have started. */
  close(): Promise<void>
}

export interface ToolboxOptions extends Pick<BashOptions, 'guard' | 'environment' | 'sandbox'>, Pick<McpSurroundings, 'baseFolder'> {
  hasBash: boolean
  web?: WebFetchOptions
  /** Null if none is configured. */
  search: WebSearchSettings | null
  servers: Readonly<Record<string, McpServerSettings>>
  /** Milliseconds, where a test does not wait for as long. */
  mcp?: Partial<Pick<McpSurroundings, 'connectMs' | 'callMs'>>
}

/** How long a server of MCP may take to be reached, and to answer a call: as long as a command may. */
const MCP_TIMES = { connectMs: 10_000, callMs: 120_000 }
/** Why a tool is not there that a definition lists, where an operator could change that. */
const SWITCHED_OFF: Readonly<Record<string, string>> = {
  Bash: 'Commands are switched off on this server (ENABLE_BASH_TOOL).',
  WebSearch: 'No provider of searches is set on this server (WEB_SEARCH_PROVIDER).',
}

const NO_OUTPUTS: Outputs = { delivered: {}, problems: () => [] }

/**
 * The tools of one run: files of its workspace, the public web, commands where the operator allows them, memory, and what its brief asks for. A
 * run of a sub-agent has those that its definition allows, and each use of one is asked about again.
 */
export async function assembleTools(run: Pick<Run, 'access' | 'brief' | 'workspace' | 'signal'>, options: ToolboxOptions): Promise<Toolbox> {
  const workspace = await openWorkspace(run.workspace)
  const { guard, environment, sandbox = null } = options
  const marks = { MUSTER_SUBTASK_ID: run.brief.subtaskId, MUSTER_ATTEMPT: String(run.brief.attempt) }
  const bash = options.hasBash ? bashTool({ guard, environment, workspace: workspace.root, marks, sandbox }) : null
  const delivery = run.brief.requiredOutputs.length === 0 ? null : deliverOutputTool(run.brief.requiredOutputs)
  const { subagent = null, background = true } = run.brief
  const answerOf = (toolName: string) => (subagent === null ? null : checkTool(subagent, { toolName, background }))
  const refusalOf = (use: string) => {
    const answer = answerOf(use)
    return answer === null || answer.allowed ? null : answer.reason
  }
  const offered = [
    readTool(workspace),
    grepTool(workspace),
    globTool(workspace),
    writeTool(workspace),
    editTool(workspace),
    webFetchTool({ ...options.web, refusal: (use) => refusalOf(`WebFetch(${use})`) }),
    ...(options.search === null ? [] : [webSearchTool(options.search)]),
    ...(bash === null ? [] : [bash]),
    ...memoryTools(run.access),
  ].filter(({ name }) => answerOf(name)?.allowed ?? true)
  const mcp = await openMcpServers(
    options.servers,
    run.brief,
    { guard, environment, baseFolder: options.baseFolder, workspace: workspace.root, marks, ...MCP_TIMES, ...options.mcp },
    run.signal,
  )
  // The last two kinds whatever a definition lists: without them, a run could not deliver what it has to, or do what its brief says.
  const always = [...reportingTools(run), ...(delivery === null ? [] : [delivery.tool])]
  const tools = new Map([...offered, ...mcp.tools, ...always].map((tool): [string, RunTool] => [tool.name, tool]))
  return {
    tools,
    problems: mcp.problems,
    refusal(name, input) {
      const tool = tools.get(name)
      if (tool === undefined) {
        const answer = answerOf(name)
        return answer?.allowed === false ? answer.reason : (mcp.refusal(name) ?? SWITCHED_OFF[name] ?? 'You were not given it.')
      }
      return tool.useOf === undefined ? null : refusalOf(`${name}(${tool.useOf(input)})`)
    },
    useOf(name, input) {
      const tool = tools.get(name)
      if (tool === undefined || always.some((each) => each.name === name)) return null
      return tool.useOf === undefined ? name : `${name}(${tool.useOf(input)})`
    },
    findGuides: createGuideFinder(run.access),
    outputs: delivery?.outputs ?? NO_OUTPUTS,
    close: async () => void (await Promise.all([bash?.close(), mcp.close()])),
  }
}
