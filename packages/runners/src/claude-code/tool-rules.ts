import { checkTool, effectiveTools, inKnownCase, mayAsk, SUBAGENT_MCP_TOOLS } from '@muster/domain'
import type { Brief } from '../port.ts'

/** The tool settings of the program. */
export interface ToolRules {
  /** Its own tools that are there at all. */
  tools: string[]
  /** Allow rules. Everything else is denied, because no user is present to ask. */
  allow: string[]
  /** Rules that are stronger. */
  deny: string[]
  /** Tools each use of which the program asks about, because some of their uses have to be approved. */
  ask: string[]
}

/** Its file tools stay within the workspace (`--restricted`), and searching the web is done by Anthropic. */
const FILE_TOOLS = ['Read', 'Grep', 'Glob', 'Write', 'Edit', 'NotebookEdit', 'WebSearch']
/** Commands, and fetching: both can reach the operator's network, because the program does not check addresses. */
const COMMAND_TOOLS = ['Bash', 'WebFetch']
/**
 * Addresses that no page is fetched from, as rules for the program: by their text, because it does not resolve names. They keep
 * a definition that has WebFetch, and no commands, from the services of this machine and from the credentials of its cloud.
 */
const PRIVATE_PAGES = ['localhost', '127.0.0.1', '0.0.0.0', '[::1]', '169.254.169.254', 'metadata.google.internal'].map((host) => `WebFetch(domain:${host})`)
/** What starts an agent is not among the tools above; denied all the same, so that no version of the program brings it back. */
const SPAWNING_TOOLS = ['Task', 'Agent']

/**
 * The tools of a run: those of its definition, where it has one, among those that are safe to have. Muster's own for sub-agents come with every
 * run, unless its definition denies them.
 */
export function toolRulesOf({ subagent, background = true, ask = [] }: Pick<Brief, 'subagent' | 'background' | 'ask'>, hasCommands: boolean): ToolRules {
  const available = hasCommands ? [...FILE_TOOLS, ...COMMAND_TOOLS] : FILE_TOOLS
  const asking = (tools: readonly string[]) => tools.filter((tool) => mayAsk(ask, tool))
  if (subagent == null) return { tools: available, allow: [...available, ...SUBAGENT_MCP_TOOLS], deny: alwaysDenied(available), ask: asking(available) }
  const tools = effectiveTools(subagent, available, { background, policy: 'strip' })
  const mcpTools = SUBAGENT_MCP_TOOLS.filter((toolName) => checkTool(subagent, { toolName, background }).allowed)
  return {
    tools,
    allow: [...tools.flatMap((tool) => usesOf(tool, subagent.tools)), ...mcpTools],
    deny: [...subagent.disallowedTools.map(inKnownCase), ...alwaysDenied(tools)],
    ask: asking(tools),
  }
}

function alwaysDenied(tools: readonly string[]): string[] {
  return tools.includes('WebFetch') ? [...SPAWNING_TOOLS, ...PRIVATE_PAGES] : SPAWNING_TOOLS
}

/** A tool, or the uses of it that a definition lists: `Bash(git:*)` allows no other command. */
function usesOf(tool: string, rules: readonly string[]): string[] {
  const uses = rules.filter((rule) => rule.startsWith(`${tool}(`))
  const isListed = rules.some((rule) => rule === tool || (rule.endsWith('*') && tool.startsWith(rule.slice(0, -1))))
  return isListed || uses.length === 0 ? [tool] : uses
}
