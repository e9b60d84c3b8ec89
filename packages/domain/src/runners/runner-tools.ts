import type { Settings } from '../settings/settings.ts'
import type { SubagentDefinition } from '../subagents/subagent.ts'
import { isMcpTool, mcpServerOf, readToolRule, SUBAGENT_MCP_TOOLS } from '../tools/tool-rules.ts'

/** The settings that decide which tools the built-in runners have. */
export type RunnerToolSettings = Pick<Settings, 'ENABLE_BASH_TOOL' | 'WEB_SEARCH_PROVIDER' | 'MCP_SERVERS'>

const AI_TOOLS = [
  ...['Read', 'Grep', 'Glob', 'Write', 'Edit', 'WebFetch', 'recall_deep', 'learn_fact'],
  ...['get_task', 'check_in', 'ask', 'confirm_update', 'read_tsg', 'mark_tsg_helpful'],
]
const CLAUDE_CODE_TOOLS = ['Read', 'Grep', 'Glob', 'Write', 'Edit', 'NotebookEdit', 'WebSearch']

/** The tools of a runner, without those of MCP servers. Null for programs and outside workers, which have tools of their own. */
export function toolsOfRunner({ ENABLE_BASH_TOOL, WEB_SEARCH_PROVIDER }: RunnerToolSettings, runner: string): string[] | null {
  if (runner === 'ai') return [...AI_TOOLS, ...(WEB_SEARCH_PROVIDER === undefined ? [] : ['WebSearch']), ...(ENABLE_BASH_TOOL ? ['Bash'] : [])]
  if (runner === 'claude-code') return [...CLAUDE_CODE_TOOLS, ...(ENABLE_BASH_TOOL ? ['Bash', 'WebFetch'] : [])]
  return null
}

export interface ToolWarningsQuestion {
  runner: string
  /** Whether the run is in the background, where no MCP server is reached. */
  background: boolean
  settings: RunnerToolSettings
}

/** One sentence for each tool that a definition lists and its run will not have; `*` asks for none. For people and models. */
export function toolWarnings({ tools, ask = [] }: Pick<SubagentDefinition, 'tools' | 'ask'>, { runner, background, settings }: ToolWarningsQuestion): string[] {
  const available = toolsOfRunner(settings, runner)
  if (available === null) return ask.length === 0 ? [] : [`The definition has tools that ask, and the runner ${runner} does not ask: ${ask.join(', ')}.`]
  const names = new Set(tools.flatMap((rule) => readToolRule(rule)?.name ?? []))
  return [...names].flatMap((name) => {
    if (name.endsWith('*') && !isMcpTool(name)) return []
    if (isMcpTool(name)) {
      const problem = mcpProblem(name, { runner, background, settings })
      return problem === null ? [] : [`The definition lists ${name}: ${problem}`]
    }
    return available.includes(name) ? [] : [`The definition lists ${name}, and the runner ${runner} does not have it.${howToSwitchOn(name, runner)}`]
  })
}

function mcpProblem(name: string, { runner, background, settings }: ToolWarningsQuestion): string | null {
  if (SUBAGENT_MCP_TOOLS.includes(name) || name === 'mcp__muster') {
    return runner === 'claude-code' ? null : `the runner ${runner} has it under its name without the prefix, if at all.`
  }
  if (background) return 'no MCP server is reached in the background. Spawn it with run_in_background: false.'
  if (runner !== 'ai') return `the runner ${runner} reaches no MCP server but that of Muster.`
  const server = mcpServerOf(name) ?? name.replace(/^mcp__/, '').replace(/__\*$/, '')
  if (server === '*' || Object.hasOwn(settings.MCP_SERVERS, server)) return null
  return `MCP_SERVERS of this server has no ${server}.`
}

function howToSwitchOn(name: string, runner: string): string {
  if (name === 'Bash' || (name === 'WebFetch' && runner === 'claude-code')) return ' ENABLE_BASH_TOOL=true switches it on.'
  return name === 'WebSearch' && runner === 'ai' ? ' WEB_SEARCH_PROVIDER switches it on.' : ''
}
