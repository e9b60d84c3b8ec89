/**
 * Rules about tools as Claude Code writes them: a name, with a specifier where it is about some uses alone. [S10] allows by them, and so do
 * definitions. Everything here takes time in proportion to the text.
 */

/** The rule for everything. */
export const ALL_TOOLS = '*'

/** The name of Muster's own MCP server, as clients know it: its tool `get_task` is `mcp__muster__get_task` to an agent. */
export const MUSTER_MCP_SERVER = 'muster'

/** Muster's own tools that are for sub-agents, and work with a subtask's own credential. */
export const SUBAGENT_MCP_TOOLS = ['get_task', 'check_in', 'confirm_update', 'read_tsg', 'mark_tsg_helpful'].map((tool) => `mcp__${MUSTER_MCP_SERVER}__${tool}`)

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

/** What Claude Code and the runners of Muster bring. Others may exist; a definition that names one is told that nobody here knows it. */
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

/** Whether anybody here has heard of a tool. What MCP servers bring is theirs to say. */
export function isKnownTool(name: string): boolean {
  return name.endsWith('*') || isMcpTool(name) || KNOWN_TOOLS.has(name)
}

/** The known tool that is meant by a name in the wrong case. */
export function knownToolLike(name: string): string | undefined {
  return [...KNOWN_TOOLS].find((each) => each.toLowerCase() === name.toLowerCase())
}

/** A rule with its tool in the case that the tool has: to deny, any case will do here, but not for everybody who reads rules. */
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

/** How much of a tool a list of rules covers: some of its uses where all of them that are about it have specifiers. */
export type Coverage = { uses: 'all' } | { uses: 'some'; rules: string[] } | { uses: 'none' }

/** What a list allows. Names count as they are written. A command that is more than one is not covered by a rule about commands. */
export function allowedBy(rules: readonly string[], tool: ToolRule): Coverage {
  return coverage(rules, tool, (rule) => namesTool(rule.name, tool.name), isAllowedUse)
}

/** What a list denies. Whatever the case of names, and as soon as one part of a command is denied: what is left open would be used. */
export function deniedBy(rules: readonly string[], tool: ToolRule): Coverage {
  return coverage(rules, tool, (rule) => namesTool(rule.name.toLowerCase(), tool.name.toLowerCase()), isDeniedUse)
}

function coverage(
  rules: readonly string[],
  tool: ToolRule,
  isAboutIt: (rule: ToolRule) => boolean,
  isCovered: (specifier: string, used: string, isCommand: boolean) => boolean,
): Coverage {
  const some: string[] = []
  const used = tool.specifier === null ? null : spelled(tool.name, tool.specifier)
  for (const text of rules) {
    const rule = readToolRule(text)
    if (rule === null || !isAboutIt(rule)) continue
    if (rule.specifier === null) return { uses: 'all' }
    if (used === null) some.push(text)
    else if (isCovered(spelled(tool.name, rule.specifier), used, COMMAND_TOOLS.has(tool.name))) return { uses: 'all' }
  }
  return some.length === 0 ? { uses: 'none' } : { uses: 'some', rules: some }
}

/** Tools that are about files: what stands in parentheses is a path. */
const FILE_TOOLS = new Set(['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookRead', 'NotebookEdit', 'Grep', 'Glob', 'LS'])

/** One spelling of what has several: `./.env` and `/.env` are the `.env` of the workspace, and a host has no case. */
function spelled(toolName: string, specifier: string): string {
  if (FILE_TOOLS.has(toolName)) return specifier.replace(/^(?:(?:\.\/+)+|\/(?!\/))/, '')
  return toolName === 'WebFetch' ? specifier.toLowerCase() : specifier
}

const MCP_SERVER = /^mcp__[^*]+$/

/** `mcp__server` alone stands for all of its tools. */
function namesTool(ruleName: string, name: string): boolean {
  if (ruleName.endsWith('*')) return name.startsWith(ruleName.slice(0, -1))
  return ruleName === name || (MCP_SERVER.test(ruleName) && !ruleName.slice('mcp__'.length).includes('__') && name.startsWith(`${ruleName}__`))
}

const COMMAND_TOOLS = new Set(['Bash', 'PowerShell'])
/** What makes more than one command of a line, or has another run inside of it, or sends its output somewhere. */
const MORE_THAN_ONE = /[;&|\n\r`<>]|\$\(/

function isAllowedUse(specifier: string, used: string, isCommand: boolean): boolean {
  if (specifier === used) return true
  return !(isCommand && MORE_THAN_ONE.test(used)) && fits(specifier, used)
}

function isDeniedUse(specifier: string, used: string, isCommand: boolean): boolean {
  if (fits(specifier, used)) return true
  return isCommand && used.split(/[;&|\n\r`<>()]+/).some((part) => fits(specifier, part.trim()))
}

/** `git:*` is git and whatever follows it after a blank, `src/**` is `src` and whatever is in it; elsewhere `*` stands for anything. */
function fits(specifier: string, used: string): boolean {
  if (specifier.endsWith('/**') && used === specifier.slice(0, -'/**'.length)) return true
  if (!specifier.endsWith(':*')) return fitsPattern(specifier, used)
  const prefix = specifier.slice(0, -':*'.length)
  return used === prefix || used.startsWith(`${prefix} `)
}

/** Each part between two stars where it is first found: no regular expression, so that no pattern takes longer than the others. */
function fitsPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  let from = first.length
  const end = text.length - last.length
  for (const part of rest) {
    const found = text.indexOf(part, from)
    if (found === -1 || found + part.length > end) return false
    from = found + part.length
  }
  return true
}
