import { DomainError, type FieldProblem } from '../core/errors.ts'
import { cutToCodePoints } from '../core/text.ts'

/** Where a definition comes from. One that Muster brings itself exists without a file, until a file or the API gives its name to another. */
export const SUBAGENT_SOURCES = ['file', 'api', 'builtin'] as const
export type SubagentSource = (typeof SUBAGENT_SOURCES)[number]

/** The purpose, instructions and tools of a sub-agent. [S10] SubagentDefinition */
export interface SubagentDefinition {
  name: string
  /** The name as its author wrote it, where that cannot be one here; null where both are the same. */
  title: string | null
  /** What the sub-agent is for. Callers choose a sub-agent by this text. */
  description: string
  /** One of `MODEL_ALIASES`, or what a provider calls its model. */
  model: string
  /** What it may use, as rules: `Read`, `Bash(git:*)`, `mcp__server__*`. `*` is everything there is; an empty list is nothing. */
  tools: string[]
  /** Rules of the same kind, and stronger: what is here is not used, whatever `tools` says. */
  disallowedTools: string[]
  /** Uses of tools that are asked about before they are executed, as rules whose names may have `*` anywhere. Absent where none is. */
  ask?: string[]
  instructions: string
  /** The file it was read from; null where there is none. */
  definitionPath: string | null
  /** Assigned by the store of definitions. A run names the version that it was started with. */
  version: number
  source: SubagentSource
  /** A run that takes longer is recorded as such, and not ended. */
  targetLatencyMs: number | null
  /** Model requests of one run, at most. */
  maxTurns: number | null
  /** Always runs in the background. */
  background: boolean
  /** By name: what a name stands for is in the operator's configuration, never in a definition. */
  mcpServers: string[]
  skills: string[]
  /** Where the end of each run is sent to that names no callback itself. Its secret is kept apart. Absent where there is none. */
  callback?: { url: string }
  /** Keys of the front matter that mean nothing here, such as `color`, as they were written. Never acted upon: `hooks` would be programs of a caller's choice. */
  unknownKeys: string[]
  /** Their values. */
  unknownValues: Record<string, unknown>
}

const SUBAGENT_NAME = /^[a-z][a-z0-9-]{0,63}$/

/** The names that Claude Code gave to those that exist without a file: exceptions to the rule for names, exactly as they are written here. */
export const BUILTIN_SUBAGENT_NAMES = ['Explore', 'Plan', 'general-purpose'] as const
export type BuiltinSubagentName = (typeof BUILTIN_SUBAGENT_NAMES)[number]

/** True for what can be a sub-agent's name. Nothing that is one leads out of a folder. */
export function isSubagentName(text: string): boolean {
  return SUBAGENT_NAME.test(text) || (BUILTIN_SUBAGENT_NAMES as readonly string[]).includes(text)
}

/**
 * The name that a sub-agent goes by here, made from the one that its author wrote: characters that no name may have become dashes, so that
 * `powershell-5.1-expert` is `powershell-5-1-expert` and `review-kit:code-reviewer` is `review-kit-code-reviewer`. Null where no letter or digit is left.
 */
export function toSubagentName(written: string): string | null {
  if (isSubagentName(written)) return written
  const dashed = written
    .slice(0, WRITTEN_NAME_MAX)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
  const name = (/^\d/.test(dashed) ? `agent-${dashed}` : dashed).slice(0, 64).replace(/-$/, '')
  return name === '' ? null : name
}

/** Characters of a written name that are looked at. */
const WRITTEN_NAME_MAX = 256

/** [S10] SubagentNotFound */
export function subagentNotFound(name: string): DomainError {
  const shown = cutToCodePoints(name, 64)
  return new DomainError('subagent_not_found', `There is no sub-agent ${JSON.stringify(shown)}. Use the name of one in the list of sub-agents.`, {
    subagent_type: shown,
  })
}

/** What a definition says of its model without naming one: the operator's configuration does. `inherit` is the runner's own default. */
const MODEL_ALIASES = ['haiku', 'sonnet', 'opus', 'inherit'] as const
export const DEFAULT_SUBAGENT_MODEL = 'sonnet'

const MODEL = /^[A-Za-z0-9][\w.:/@[\]+-]{0,127}$/

/** A model as it is kept: aliases in lower case, other names as they are; null for what cannot be one. */
export function toModelName(text: string): string | null {
  const alias = MODEL_ALIASES.find((each) => each === text.toLowerCase())
  return alias ?? (MODEL.test(text) ? text : null)
}

/** How much of anything a definition may have. */
export const SUBAGENT_LIMITS = {
  /** Code points. */
  description: 10_000,
  instructionsBytes: 1_048_576,
  tools: 200,
  names: 50,
  unknownKeys: 50,
  /** Levels of objects and lists inside of the value of an unknown key. */
  unknownDepth: 16,
  maxTurns: 10_000,
  targetLatencyMs: 600_000,
} as const

/** Something that is wrong with a definition, and what to do about it. `reason` follows the name of its field: `must be …`. */
export interface SubagentProblem extends FieldProblem {
  /** Of the text, from 1. */
  line: number
  /** With an error there is no definition; a warning says what its author may not have meant. */
  severity: 'error' | 'warning'
}

/** What became of the text of a definition. */
export interface SubagentReading {
  /** Null when one of the problems is an error. */
  definition: SubagentDefinition | null
  /** By line. */
  problems: SubagentProblem[]
}

/**
 * The definition that was read.
 *
 * @throws DomainError `subagent_invalid` with every error, its line and what to do
 */
export function requireDefinition({ definition, problems }: SubagentReading): SubagentDefinition {
  if (definition !== null) return definition
  const errors = problems.filter(({ severity }) => severity === 'error').map(({ severity: _, ...problem }) => problem)
  const listed = errors.slice(0, 5).map(({ line, field, reason }) => `line ${line}: ${field} ${reason}`)
  const more = errors.length > listed.length ? `, and ${errors.length - listed.length} more` : ''
  const count = errors.length === 1 ? 'a problem' : `${errors.length} problems`
  throw new DomainError('subagent_invalid', `The definition has ${count}: ${listed.join('; ')}${more}.`, { errors })
}
