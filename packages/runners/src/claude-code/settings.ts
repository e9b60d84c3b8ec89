import type { Settings } from '@muster/domain'
import { type Environment, locateProgram } from '../command/program.ts'
import { isTooOld, VERSION_MIN, versionOf } from './version.ts'

/** The part of the settings that the runner `claude-code` is made of. */
export type ClaudeCodeSettings = Pick<
  Settings,
  'CLAUDE_CODE_PATH' | 'ANTHROPIC_API_KEY' | 'ANTHROPIC_BASE_URL' | 'ENABLE_BASH_TOOL' | 'MODEL_ALIASES' | 'MCP_SERVERS'
>

/** What a bare installation is called. */
const PROGRAM = 'claude'

/** The program, or null; and what an operator has to install or set before it can run anything. */
export interface LocatedClaude {
  program: string | null
  missing: string[]
  /** Null where it is not known, or not yet. */
  version: string | null
}

/** Looks at the disk at every call. The version of the program is queried once, in the background. */
export function locateClaude(settings: ClaudeCodeSettings, environment: Environment, baseFolder: string): LocatedClaude {
  const name = settings.CLAUDE_CODE_PATH ?? PROGRAM
  const { program, missing } = locateProgram({ argv: [name] }, environment, baseFolder)
  const lacks = name.includes('/')
    ? missing.map((problem) => `${problem} Check CLAUDE_CODE_PATH.`)
    : missing.map(() => `The program "${name}" was not found on the PATH: install Claude Code, or give its full path in CLAUDE_CODE_PATH.`)
  const version = program === null ? null : versionOf(program, environment)
  if (version !== null && isTooOld(version)) lacks.push(`Claude Code ${version} is too old: update it to ${VERSION_MIN} or newer.`)
  return {
    program,
    version,
    missing: settings.ANTHROPIC_API_KEY === undefined ? [...lacks, 'Set ANTHROPIC_API_KEY: the login of a person is not used.'] : lacks,
  }
}

/**
 * What `--model` is given: an alias of MODEL_ALIASES, else a name as it is, for the program knows haiku, sonnet and opus itself. Null is the
 * program's own default.
 *
 * @returns the problem where the name is one of another provider
 */
export function modelOf(settings: ClaudeCodeSettings, requested: string | null): { model: string | null } | { problem: string } {
  if (requested === null || requested === 'inherit') return { model: null }
  const name = Object.hasOwn(settings.MODEL_ALIASES, requested) ? (settings.MODEL_ALIASES[requested] as string) : requested
  if (name.startsWith('openai:')) {
    const alias = name === requested ? '' : ` (that is ${name})`
    return { problem: `The model "${requested}"${alias} is one of openai, and Claude Code runs models of Anthropic: name another, or take another runner.` }
  }
  return { model: name.startsWith('anthropic:') ? name.slice('anthropic:'.length) : name }
}
