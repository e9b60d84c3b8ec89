import { checkTool } from '@muster/domain'
import type { Run } from '../../port.ts'
import { type BashOptions, bashTool } from './bash.ts'
import { deliverOutputTool, type Outputs } from './deliver-output.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { readTool } from './read.ts'
import type { AiTool } from './tool.ts'
import { type WebFetchOptions, webFetchTool } from './web-fetch.ts'
import { openWorkspace } from './workspace.ts'
import { writeTool } from './write.ts'

/** What a run may use. A source of further tools, such as a server of the operator's, adds to `tools` and has its end in `close`. */
export interface Toolbox {
  readonly tools: ReadonlyMap<string, AiTool>
  readonly outputs: Outputs
  /** Why a tool, or one use of it, is not this run's; null where it is. */
  refusal(name: string, input: unknown): string | null
  /** Leaves nothing behind of what the tools have started. */
  close(): Promise<void>
}

export interface ToolboxOptions extends Pick<BashOptions, 'guard' | 'environment'> {
  hasBash: boolean
  web?: WebFetchOptions
}

const NO_OUTPUTS: Outputs = { delivered: {}, problems: () => [] }

/**
 * The tools of one run: files of its workspace, the public web, commands where the operator allows them, and what its brief asks for. A
 * run of a sub-agent has those that its definition allows, and each use of one is asked about again.
 */
export async function assembleTools(run: Pick<Run, 'brief' | 'workspace'>, options: ToolboxOptions): Promise<Toolbox> {
  const workspace = await openWorkspace(run.workspace)
  const { guard, environment } = options
  const marks = { MUSTER_SUBTASK_ID: run.brief.subtaskId, MUSTER_ATTEMPT: String(run.brief.attempt) }
  const bash = options.hasBash ? bashTool({ guard, environment, workspace: workspace.root, marks }) : null
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
    webFetchTool({ ...options.web, refusal: (use) => refusalOf(`WebFetch(${use})`) }),
    ...(bash === null ? [] : [bash]),
  ].filter(({ name }) => answerOf(name)?.allowed ?? true)
  // Whatever a definition lists: without it, a run could not deliver what it has to.
  const tools = new Map([...offered, ...(delivery === null ? [] : [delivery.tool])].map((tool) => [tool.name, tool]))
  return {
    tools,
    refusal(name, input) {
      const tool = tools.get(name)
      if (tool === undefined) return answerOf(name)?.reason ?? 'You were not given it.'
      return tool === delivery?.tool || tool.useOf === undefined ? null : refusalOf(`${name}(${tool.useOf(input)})`)
    },
    outputs: delivery?.outputs ?? NO_OUTPUTS,
    close: async () => bash?.close(),
  }
}
