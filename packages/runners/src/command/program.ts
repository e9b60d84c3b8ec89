import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { CommandRunnerSettings } from '@muster/domain'

/** Variables of the process, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What a program inherits. Anything else a worker knows, such as its database, is none of a program's business. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'] as const

/** Where a configured program is, or what is missing, for the eyes of an operator. */
export type Located = { program: string; cwd: string | null; missing: [] } | { program: null; cwd: string | null; missing: string[] }

/**
 * Finds a configured program: a path with a slash relative to `cwd` (or to `baseFolder` without one), a bare name on PATH.
 * Looks at the disk at every call, so that a program installed later needs no restart.
 */
export function locateProgram(settings: CommandRunnerSettings, environment: Environment, baseFolder: string): Located {
  const [name = ''] = settings.argv
  const cwd = settings.cwd === undefined ? null : resolve(baseFolder, settings.cwd)
  const missing: string[] = []
  if (cwd !== null && !isFolder(cwd)) missing.push(`The folder ${cwd} (cwd) does not exist.`)

  if (name.includes('/')) {
    const path = resolve(cwd ?? baseFolder, name)
    const problem = problemOf(path)
    if (problem !== null) missing.push(`The program ${path} ${problem}.`)
    return missing.length === 0 ? { program: path, cwd, missing: [] } : { program: null, cwd, missing }
  }
  const path = settings.env?.PATH ?? environment.PATH ?? ''
  // Relative entries are skipped: what they name depends on the folder one happens to be in.
  const program = path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find((candidate) => problemOf(candidate) === null)
  if (program === undefined) missing.push(`The program "${name}" was not found on the PATH; install it, or give its full path in COMMAND_RUNNERS.`)
  return program !== undefined && missing.length === 0 ? { program, cwd, missing: [] } : { program: null, cwd, missing }
}

/** How a program reaches Muster, and what it is there for. Subtask and attempt also tell its processes from all others. */
export interface MusterVariables extends Record<`MUSTER_${string}`, string> {
  /** As W3C Trace Context has it; absent where there is no trace. */
  TRACEPARENT?: string
  MUSTER_URL: string
  MUSTER_TOKEN: string
  MUSTER_SUBTASK_ID: string
  MUSTER_ATTEMPT: string
  MUSTER_SESSION_ID: string
  MUSTER_WORKSPACE: string
}

export type ProgramEnvironment = Record<string, string> & MusterVariables

/** The whole environment of a program: what it inherits, what its settings add, and how it reaches Muster, which nothing overrides. */
export function programEnvironment(environment: Environment, added: Record<string, string> | undefined, muster: MusterVariables): ProgramEnvironment {
  return { ...inheritedBy(environment), ...added, ...muster }
}

/** What any program of the operator's inherits. */
export function inheritedBy(environment: Environment): Record<string, string> {
  return Object.fromEntries(INHERITED.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]] as const])))
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function problemOf(path: string): string | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return 'does not exist'
    if (!stat.isFile()) return 'is not a file'
    accessSync(path, constants.X_OK)
    return null
  } catch {
    return 'is not executable for this user (chmod +x, or name its interpreter first in argv)'
  }
}
