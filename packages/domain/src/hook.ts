import type { Actor } from './actor.ts'
import { isUuid } from './ids.ts'

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
  /** Why a tool failed. */
  error: string | null
  lastAssistantMessage: string | null
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
/** What the tool starts when it is not told. */
const DEFAULT_SUBAGENT_TYPE = 'general-purpose'

const TASK_LINE = /^[ \t]*muster-task:[ \t]*(\S+)[ \t]*$/im

/** The task that a call of the Agent tool hands to the sub-agent it starts, by a line `muster-task: <task_id>` of its prompt, the first one; null for every other call. */
export function taskHandedOver({ toolName, toolInput }: Pick<HookCall, 'toolName' | 'toolInput'>): { taskId: string; subagentType: string } | null {
  if (toolName === null || !AGENT_TOOLS.includes(toolName)) return null
  const { prompt, subagent_type: type } = (toolInput ?? {}) as { prompt?: unknown; subagent_type?: unknown }
  const taskId = typeof prompt === 'string' ? TASK_LINE.exec(prompt)?.[1]?.toLowerCase() : undefined
  if (taskId === undefined || !isUuid(taskId)) return null
  return { taskId, subagentType: typeof type === 'string' && type !== '' ? type : DEFAULT_SUBAGENT_TYPE }
}

/** Tools whose rules are about one field of their input. Those about files are Claude Code's own to judge: what a path means depends on where it runs. */
const SPECIFIERS: Record<string, (input: Record<string, unknown>) => unknown> = {
  Bash: ({ command }) => command,
  PowerShell: ({ command }) => command,
  WebFetch: ({ url }) => domainOf(url),
  Skill: ({ skill }) => skill,
}

/** One use of a tool, as rules speak of it: `Bash(git status)`. */
export function toolUseOf({ toolName, toolInput }: { toolName: string; toolInput: unknown }): string {
  const input = toolInput !== null && typeof toolInput === 'object' ? (toolInput as Record<string, unknown>) : {}
  const specifier = Object.hasOwn(SPECIFIERS, toolName) ? SPECIFIERS[toolName]?.(input) : undefined
  return typeof specifier === 'string' ? `${toolName}(${specifier})` : toolName
}

function domainOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  // The last dot of a name means nothing, and must not make another host of it.
  return `domain:${new URL(url).hostname.replace(/\.$/, '')}`
}
