import { type Actor, requireSpawnAllowed } from '../core/actor.ts'
import { DomainError } from '../core/errors.ts'
import {
  allowedBy,
  deniedBy,
  isMcpTool,
  isSpawningTool,
  isSubagentMcpTool,
  MUSTER_MCP_SERVER,
  mcpServerOf,
  readToolUse,
  SUBAGENT_MCP_TOOLS,
  type ToolRule,
} from '../tools/tool-rules.ts'
import { quote } from './fields.ts'
import { requireDefinition, type SubagentDefinition, type SubagentReading, subagentNotFound, toModelName } from './subagent.ts'

/** The policy for a background spawn whose definition requires MCP tools: refuse it, or run it without them. */
export const BACKGROUND_MCP_POLICIES = ['reject', 'strip'] as const
export type BackgroundMcpPolicy = (typeof BACKGROUND_MCP_POLICIES)[number]

/** What every sub-agent may use in the background, whatever its definition lists, unless it denies it. [S10] background_allowed_tools */
export const BACKGROUND_ALLOWED_TOOLS = ['Read', 'Grep', 'Glob'] as const

/** Who asks for which sub-agent, and how. */
export interface SpawnQuestion {
  actor: Actor
  name: string
  /** What is kept under that name: null or undefined for nothing. */
  found: SubagentReading | null | undefined
  /** In place of the definition's model. */
  model?: string | null
  runInBackground: boolean
  policy: BackgroundMcpPolicy
}

export interface SpawnDecision {
  /** As the run gets it: without what the policy removes. */
  definition: SubagentDefinition
  background: boolean
  /** Null: the runner's own default. */
  model: string | null
  /** Tools and servers of MCP that the policy has removed. */
  removed: string[]
}

/**
 * Decides about a spawn, by who asks and what the definition says; no prompt is looked at. A definition with `background: true` runs in the background
 * even where the caller does not ask for it. [S10] spawn
 *
 * @throws DomainError `spawn_blocked` from within a sub-agent, whatever it asks for; `subagent_not_found`, `subagent_invalid`; `background_mcp_blocked`
 *   under `reject`; `validation_failed` for a model that cannot be one
 */
export function decideSpawn({ actor, name, found, model, runInBackground, policy }: SpawnQuestion): SpawnDecision {
  requireSpawnAllowed(actor)
  if (found === null || found === undefined) throw subagentNotFound(name)
  const definition = requireDefinition(found)
  const background = runInBackground || definition.background
  return { ...applyPolicy(definition, { background, policy }), background, model: chooseModel(definition, model) }
}

/**
 * The model of a run: the caller's, else the definition's. Null for `inherit`, which is the runner's own default.
 *
 * @throws DomainError `validation_failed`
 */
export function chooseModel(definition: Pick<SubagentDefinition, 'model'>, override?: string | null): string | null {
  const model = override === null || override === undefined ? definition.model : toModelName(override)
  if (model !== null) return model === 'inherit' ? null : model
  const reason = 'must be haiku, sonnet, opus, inherit or the name of a model, in one word'
  throw new DomainError('validation_failed', `The request has a problem: model ${reason}.`, { errors: [{ pointer: '/model', field: 'model', reason }] })
}

/** [S10] is_mcp_allowed: the rule alone, without a definition. */
export function isMcpAllowed(toolName: string, background: boolean): boolean {
  return !background || !isMcpTool(toolName) || isSubagentMcpTool(toolName)
}

/** What a definition wants of MCP that the background does not have: tools, and servers as `mcpServers: name`. */
function backgroundMcpOf({ tools, mcpServers }: SubagentDefinition): string[] {
  const servers = mcpServers.filter((server) => server !== MUSTER_MCP_SERVER).map((server) => `mcpServers: ${server}`)
  return [...tools.filter((tool) => !isMcpAllowed(tool, true)), ...servers]
}

function applyPolicy(
  definition: SubagentDefinition,
  { background, policy }: { background: boolean; policy: BackgroundMcpPolicy },
): Pick<SpawnDecision, 'definition' | 'removed'> {
  const removed = background ? backgroundMcpOf(definition) : []
  if (removed.length === 0) return { definition, removed }
  if (policy === 'reject') throw backgroundMcpBlocked(definition, removed)
  const tools = definition.tools.filter((tool) => !removed.includes(tool))
  return { definition: { ...definition, tools, mcpServers: definition.mcpServers.filter((server) => server === MUSTER_MCP_SERVER) }, removed }
}

/**
 * The definition as a run of it goes by: in the background without what it wants of MCP. Whether it may be run at all was decided when it was
 * spawned; MCP tools are never available, even if the policy has changed since.
 */
export function definitionOfRun(definition: SubagentDefinition, background: boolean): SubagentDefinition {
  return applyPolicy(definition, { background, policy: 'strip' }).definition
}

/** [S10] BackgroundMcpBlocked */
function backgroundMcpBlocked({ name }: SubagentDefinition, tools: string[]): DomainError {
  const listed = tools.slice(0, 5).join(', ')
  const more = tools.length > 5 ? ` and ${tools.length - 5} more` : ''
  const message = `${name} wants ${listed}${more}, and no MCP tool works in the background. Spawn it with run_in_background: false, or take them out of its definition.`
  return new DomainError('background_mcp_blocked', message, { subagent_type: name, tool: tools[0], tools })
}

export interface ToolQuestion {
  /** A tool by its name, or one use of it: `Bash(git status)`. */
  toolName: string
  background: boolean
  /** False for a session of its own that goes by the definition, such as `claude --agent`. */
  inSubagent?: boolean
}

export interface ToolAnswer {
  allowed: boolean
  /** For people and models: why, and of what is allowed in part, which part. */
  reason: string
  /** What needs no list in the background. */
  alwaysAllowed: string[]
}

/**
 * Whether a run of a definition may use a tool. The first that applies: nothing starts further work from a sub-agent or the background; what is denied
 * is denied; of MCP the background has Muster's own tools for sub-agents alone; those, and in the background reading, need no list; the list.
 */
export function checkTool(definition: SubagentDefinition, question: ToolQuestion): ToolAnswer {
  const alwaysAllowed = BACKGROUND_ALLOWED_TOOLS.filter((tool) => deniedBy(definition.disallowedTools, { name: tool, specifier: null }).uses !== 'all')
  return { ...decideTool(definition, question), alwaysAllowed }
}

function decideTool(definition: SubagentDefinition, { toolName, background, inSubagent = true }: ToolQuestion): Omit<ToolAnswer, 'alwaysAllowed'> {
  const no = (reason: string) => ({ allowed: false, reason })
  const yes = (reason: string) => ({ allowed: true, reason })
  const tool = readToolUse(toolName)
  if (tool === null) return no(`${quote(toolName)} is no name of a tool.`)
  if (isSpawningTool(tool.name) && (inSubagent || background)) return no('A sub-agent cannot start further work. Its caller decides what comes next.')
  const denied = deniedBy(definition.disallowedTools, tool)
  if (denied.uses === 'all') return no(`${definition.name} is denied ${quote(toolName)} by its definition${denied.why === undefined ? '' : `: ${denied.why}`}.`)
  const except = denied.uses === 'some' ? ` Denied are ${denied.rules.join(', ')}.` : ''
  if (!isMcpAllowed(tool.name, background)) return no(`No MCP tool works in the background, but ${SUBAGENT_MCP_TOOLS.join(', ')}.`)
  if (isSubagentMcpTool(tool.name) && (inSubagent || background)) return yes(`Every sub-agent reports to Muster with it.${except}`)
  const server = mcpServerOf(tool.name)
  if (server !== null && definition.mcpServers.length > 0 && !definition.mcpServers.includes(server)) {
    return no(`${definition.name} names the MCP servers ${definition.mcpServers.join(', ')} and no other.`)
  }
  if (background && isAlwaysAllowed(tool)) return yes(`It is always allowed in the background.${except}`)
  const allowed = allowedBy(definition.tools, tool)
  if (allowed.uses === 'all') return yes(`${definition.name} lists it.${except}`)
  if (allowed.uses === 'some') return yes(`${definition.name} lists it as ${allowed.rules.join(', ')} and for nothing else.${except}`)
  return no(definition.tools.length === 0 ? `${definition.name} lists no tools.` : `${definition.name} lists ${definition.tools.join(', ')}.`)
}

function isAlwaysAllowed({ name }: ToolRule): boolean {
  return (BACKGROUND_ALLOWED_TOOLS as readonly string[]).includes(name)
}

/**
 * Of the tools that a runner has, those that a run of the definition gets, in the runner's order. One that is allowed for some of its uses is among
 * them: each use of it is to be asked about with `checkTool`.
 *
 * @throws DomainError `background_mcp_blocked` under `reject`, so that no way around the spawn is one around the policy
 */
export function effectiveTools(
  definition: SubagentDefinition,
  available: readonly string[],
  { background, policy }: { background: boolean; policy: BackgroundMcpPolicy },
): string[] {
  const { definition: kept } = applyPolicy(definition, { background, policy })
  return [...new Set(available)].filter((toolName) => checkTool(kept, { toolName, background }).allowed)
}
