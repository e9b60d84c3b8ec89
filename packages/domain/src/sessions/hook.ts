import type { Actor } from '../core/actor.ts'
import { isUuid } from '../core/ids.ts'
import { plainPath } from '../tools/path-rules.ts'

/**
 * What Claude Code's hooks tell, and what is made of it. Names and fields are those of `HookInput` and `HookJSONOutput` in
 * `@anthropic-ai/claude-agent-sdk` 0.3.330.
 */
export interface HookCall {
  event: string
  /** As Claude Code names its process's session. */
  sessionId: string
  /** Of the sub-agent inside of that session that it is about; null on the main thread. */
  agentId: string | null
  /** What kind of sub-agent it is, or what `claude --agent` has started. */
  agentType: string | null
  toolName: string | null
  toolInput: unknown
  /** Names one use of a tool in all events about it. */
  toolUseId?: string | null
  /** What the tool answered. */
  toolResponse?: unknown
  /** The folder that the session is in. */
  cwd?: string | null
  /** Why a tool failed. */
  error: string | null
  lastAssistantMessage: string | null
  /** Whether an earlier Stop made the agent go on. */
  isStopHookActive?: boolean
}

/** Events that something comes of. Claude Code has more, and will have others: they are answered with nothing. */
export const HOOK_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStart',
  'Stop',
  'SubagentStop',
] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

export function isHookEvent(event: string): event is HookEvent {
  return (HOOK_EVENTS as readonly string[]).includes(event)
}

/**
 * The session that a hook speaks of. The credential of a sub-agent stands for its own, whatever Claude Code's process calls itself: what it
 * says of sessions is a claim.
 */
export function hookSessionOf(actor: Pick<Actor, 'lineage'>, { sessionId, agentId }: Pick<HookCall, 'sessionId' | 'agentId'>): string {
  if (actor.lineage !== null) return actor.lineage.sessionId
  return agentId === null ? sessionId : `${sessionId}:${agentId}`
}

/** Names of the tool that starts a sub-agent: the second is the older one. */
const AGENT_TOOLS = ['Agent', 'Task']
/** The sub-agent that the tool starts by default. */
const DEFAULT_SUBAGENT_TYPE = 'general-purpose'

const TASK_LINE = /^[ \t]*muster-task:[ \t]*(\S+)[ \t]*$/im

/**
 * The sub-agent that a call of the Agent tool starts, and the task that it is handed by a line `muster-task: <task_id>` of its prompt, the first one.
 * Null for every other tool.
 */
export function agentCallOf({ toolName, toolInput }: Pick<HookCall, 'toolName' | 'toolInput'>): { taskId: string | null; subagentType: string } | null {
  if (toolName === null || !AGENT_TOOLS.includes(toolName)) return null
  const { prompt, subagent_type: type } = (toolInput ?? {}) as { prompt?: unknown; subagent_type?: unknown }
  const taskId = typeof prompt === 'string' ? TASK_LINE.exec(prompt)?.[1]?.toLowerCase() : undefined
  return {
    taskId: taskId !== undefined && isUuid(taskId) ? taskId : null,
    subagentType: typeof type === 'string' && type !== '' ? type : DEFAULT_SUBAGENT_TYPE,
  }
}

/** The sub-agent that a call of the Agent tool has started, as its answer names it; null where it names none. */
export function startedAgentOf({ toolResponse }: Pick<HookCall, 'toolResponse'>): string | null {
  const { agentId } = (toolResponse ?? {}) as { agentId?: unknown }
  return typeof agentId === 'string' && agentId !== '' ? agentId : null
}

/** The task that a sub-agent names when it calls a tool of an MCP server: only the task that was handed to it has that id in a prompt. */
export function taskNamedByCall({ toolName, toolInput }: Pick<HookCall, 'toolName' | 'toolInput'>): string | null {
  if (toolName === null || !toolName.startsWith('mcp__')) return null
  const { task_id: taskId } = (toolInput ?? {}) as { task_id?: unknown }
  return typeof taskId === 'string' && isUuid(taskId.toLowerCase()) ? taskId.toLowerCase() : null
}

/** The argument in which a call of a Muster tool names the session of Claude Code that makes it. No tool has a parameter of this name. */
export const SESSION_ARGUMENT = '_session'
/** The tools of Muster, as Claude Code names them if the server has the name that the documents give it. */
const MUSTER_TOOLS = 'mcp__muster__'

/** The input of a call of a Muster tool with the session that makes it, which Claude Code does not tell an MCP server; null for every other tool. */
export function inputWithSession({ toolName, toolInput, sessionId }: Pick<HookCall, 'toolName' | 'toolInput' | 'sessionId'>): Record<string, unknown> | null {
  if (toolName?.startsWith(MUSTER_TOOLS) !== true || typeof toolInput !== 'object' || toolInput === null) return null
  return { ...toolInput, [SESSION_ARGUMENT]: sessionId }
}

type ToolInput = Record<string, unknown>
const filePath = ({ file_path }: ToolInput) => file_path
const searchPath = ({ path = '.' }: ToolInput) => path

/** Tools whose rules are about one field of their input. */
const SPECIFIERS: Record<string, (input: ToolInput) => unknown> = {
  Bash: ({ command }) => command,
  PowerShell: ({ command }) => command,
  WebFetch: ({ url }) => domainOf(url),
  Skill: ({ skill }) => skill,
}
const PATHS: Record<string, (input: ToolInput) => unknown> = {
  Read: filePath,
  Write: filePath,
  Edit: filePath,
  MultiEdit: filePath,
  NotebookRead: ({ notebook_path }) => notebook_path,
  NotebookEdit: ({ notebook_path }) => notebook_path,
  Grep: searchPath,
  Glob: searchPath,
  LS: searchPath,
}

/**
 * One use of a tool, as rules speak of it: `Bash(git status)`. A path is given relative to `cwd` where it lies in there. What cannot be read is an
 * empty use, which no rule about some uses allows, and each denies.
 */
export function toolUseOf({ toolName, toolInput, cwd = null }: { toolName: string; toolInput: unknown; cwd?: string | null }): string {
  const input = toolInput !== null && typeof toolInput === 'object' ? (toolInput as ToolInput) : {}
  if (Object.hasOwn(SPECIFIERS, toolName)) return `${toolName}(${textOrNothing(SPECIFIERS[toolName]?.(input))})`
  if (!Object.hasOwn(PATHS, toolName)) return toolName
  const path = textOrNothing(PATHS[toolName]?.(input))
  const plain = plainPath(path)
  const folder = cwd === null ? null : plainPath(cwd)
  if (plain === null || folder === null || !plain.startsWith('/') || !`${plain}/`.startsWith(`${folder}/`)) return `${toolName}(${path})`
  return `${toolName}(${plain.slice(folder.length + 1) || '.'})`
}

function textOrNothing(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function domainOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  // The last dot of a name means nothing, and must not make another host of it.
  return `domain:${new URL(url).hostname.replace(/\.$/, '')}`
}
