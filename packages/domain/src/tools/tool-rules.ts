import { denialOfUse, isUseAllowed, toolsAlike } from './tool-specifiers.ts'

/**
 * Rules about tools as Claude Code writes them: a name, with a specifier where it is about some uses alone. [S10] allows by them, and so do
 * definitions. Everything here takes time in proportion to the text.
 */

/** The rule for everything. */
export const ALL_TOOLS = '*'

/** The name of Muster's own MCP server, as clients know it: its tool `get_task` is `mcp__muster__get_task` to an agent. */
export const MUSTER_MCP_SERVER = 'muster'

/** Muster's own tools that are for sub-agents, and work with a subtask's own credential. */
export const SUBAGENT_MCP_TOOLS = ['get_task', 'mark_task_complete', 'check_in', 'confirm_update', 'read_tsg', 'scan_for_tsg', 'mark_tsg_helpful', 'ask'].map(
  (tool) => `mcp__${MUSTER_MCP_SERVER}__${tool}`,
)

/** Muster's own tools that `requireSpawnAllowed` refuses to sub-agents. */
const MUSTER_SPAWNING_TOOLS = ['spawn_task', 'schedule_task', 'spawn_subagent', 'create_task', 'create_real_task']

const SPAWNING_TOOLS = new Set(
  [
    // Claude Code's: what starts an agent, now or later.
    ...['Task', 'Agent', 'TeamCreate', 'CronCreate', 'RemoteTrigger'],
    ...MUSTER_SPAWNING_TOOLS,
    ...MUSTER_SPAWNING_TOOLS.map((tool) => `mcp__${MUSTER_MCP_SERVER}__${tool}`),
  ].map((tool) => tool.toLowerCase()),
)

/** What Claude Code and the runners of Muster bring. Others may exist; a definition that names one gets a warning. */
const KNOWN_TOOLS = new Set([
  ...['Read', 'Grep', 'Glob', 'LS', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'NotebookRead', 'Bash', 'BashOutput', 'KillShell', 'KillBash', 'PowerShell'],
  ...['WebFetch', 'WebSearch', 'Task', 'Agent', 'TaskOutput', 'TaskStop', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate', 'TodoRead', 'TodoWrite'],
  ...['Skill', 'SlashCommand', 'ToolSearch', 'LSP', 'Monitor', 'SendMessage', 'AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode', 'EnterWorktree'],
  ...['ExitWorktree', 'ListMcpResourcesTool', 'ReadMcpResourceTool', 'TeamCreate', 'TeamDelete', 'CronCreate', 'CronDelete', 'CronList', 'RemoteTrigger'],
  ...['StructuredOutput', 'recall_deep', 'learn_fact', ...MUSTER_SPAWNING_TOOLS],
])

/** What reaches an MCP server: its tools, and those of Claude Code that read what one offers. */
const MCP_TOOL = /^mcp__|mcpresource|mcpserver/i

export function isMcpTool(name: string): boolean {
  return MCP_TOOL.test(name)
}

/** The MCP server that a tool is of; null for what is none of a server's tools. */
export function mcpServerOf(name: string): string | null {
  return /^mcp__(.+?)__./.exec(name)?.[1] ?? null
}

/** Whether a tool starts further work, whatever the case it is written in. */
export function isSpawningTool(name: string): boolean {
  return SPAWNING_TOOLS.has(name.toLowerCase())
}

export function isSubagentMcpTool(name: string): boolean {
  return SUBAGENT_MCP_TOOLS.includes(name)
}

/** Whether a tool is known here. Tools of MCP servers always count as known. */
export function isKnownTool(name: string): boolean {
  return name.endsWith('*') || isMcpTool(name) || KNOWN_TOOLS.has(name)
}

/** The known tool that is meant by a name in the wrong case. */
export function knownToolLike(name: string): string | undefined {
  return [...KNOWN_TOOLS].find((each) => each.toLowerCase() === name.toLowerCase())
}

/** A rule with its tool name in the tool's own case: deny rules ignore case here, but not in every reader of rules. */
export function inKnownCase(rule: string): string {
  const read = readToolRule(rule)
  const known = read === null ? undefined : knownToolLike(read.name)
  if (read === null || known === undefined) return rule
  return read.specifier === null ? known : `${known}(${read.specifier})`
}

/** A tool, or some of its uses; as a rule, with a name that may end in `*`. */
export interface ToolRule {
  name: string
  /** What stands in parentheses: of `Bash(git:*)`, `git:*`. */
  specifier: string | null
}

const RULE_LENGTH_MAX = 500
const RULE = /^([A-Za-z_][\w.:/-]*\*?|\*)(?:\(([^\r\n]*)\))?$/
const USE = /^([A-Za-z_][\w.:/-]*)(?:\(([\s\S]*)\))?$/

/** Null for what is no rule. */
export function readToolRule(text: string): ToolRule | null {
  return text.length > RULE_LENGTH_MAX ? null : toolRule(RULE.exec(text))
}

/** A tool by its name, or one use of it: `Bash(git status)`. Null for what names no single tool. */
export function readToolUse(text: string): ToolRule | null {
  return toolRule(USE.exec(text))
}

function toolRule(found: RegExpExecArray | null): ToolRule | null {
  return found === null ? null : { name: found[1] as string, specifier: found[2] ?? null }
}

/** The entries of a list in one line: `Read, Bash(git log:*, git diff:*)` are two. */
export function splitToolList(text: string, separators: ',' | ', '): string[] {
  const entries: string[] = []
  let depth = 0
  let start = 0
  const add = (end: number) => {
    const entry = text.slice(start, end).trim()
    if (entry !== '') entries.push(entry)
  }
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '(') depth += 1
    else if (character === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0 && (character === ',' || (separators === ', ' && /\s/.test(character)))) {
      add(at)
      start = at + 1
    }
  }
  add(text.length)
  return entries
}

/** How much of a tool a list of rules covers: some of its uses where all of the rules about it have specifiers. `why` is a part of a sentence. */
export type Coverage = { uses: 'all'; why?: string } | { uses: 'some'; rules: string[] } | { uses: 'none' }

/** What a list allows. Names count as they are written. A command is allowed where each of its parts is. */
export function allowedBy(rules: readonly string[], tool: ToolRule): Coverage {
  return coverage(
    rules,
    tool,
    (rule) => namesTool(rule.name, tool.name),
    (specifiers, used) => (isUseAllowed(tool.name, specifiers, used) ? '' : null),
  )
}

/**
 * What a list denies. Whatever the case of names, and as soon as one part of a command is denied or cannot be judged: what is left open would be
 * used. A file that is denied to one tool is denied to those that do the same.
 */
export function deniedBy(rules: readonly string[], tool: ToolRule): Coverage {
  const names = [tool.name, ...toolsAlike(tool.name)].map((name) => name.toLowerCase())
  const isAboutIt = (rule: ToolRule) => (rule.specifier === null ? names.slice(0, 1) : names).some((name) => namesTool(rule.name.toLowerCase(), name))
  const known = knownToolLike(tool.name) ?? tool.name
  return coverage(rules, tool, isAboutIt, (specifiers, used) => denialOfUse(known, specifiers, used))
}

function coverage(
  rules: readonly string[],
  tool: ToolRule,
  isAboutIt: (rule: ToolRule) => boolean,
  whyCovered: (specifiers: readonly string[], used: string) => string | null,
): Coverage {
  const some: { text: string; specifier: string }[] = []
  for (const text of rules) {
    const rule = readToolRule(text)
    if (rule === null || !isAboutIt(rule)) continue
    if (rule.specifier === null) return { uses: 'all' }
    some.push({ text, specifier: rule.specifier })
  }
  if (some.length === 0) return { uses: 'none' }
  if (tool.specifier === null) return { uses: 'some', rules: some.map(({ text }) => text) }
  const specifiers = some.map(({ specifier }) => specifier)
  const why = whyCovered(specifiers, tool.specifier)
  if (why === null) return { uses: 'none' }
  return why === '' ? { uses: 'all' } : { uses: 'all', why }
}

const MCP_SERVER = /^mcp__[^*]+$/

/** `mcp__server` alone stands for all of its tools. */
function namesTool(ruleName: string, name: string): boolean {
  if (ruleName.endsWith('*')) return name.startsWith(ruleName.slice(0, -1))
  return ruleName === name || (MCP_SERVER.test(ruleName) && !ruleName.slice('mcp__'.length).includes('__') && name.startsWith(`${ruleName}__`))
}
