import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isLoopback, parseSettings, type Settings } from '@muster/domain'

/** The folder of the project. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Variables of an environment. */
export type Environment = Record<string, string | undefined>

/** The validated settings, and the environment from which API and worker read the same. */
export type SystemEnvironment = { settings: Settings; environment: Environment }

/** Adds the variables of `.env` in the project's folder to the environment of this process. Existing variables stay. */
export function loadEnvFile(): void {
  const path = join(ROOT, '.env')
  if (existsSync(path)) process.loadEnvFile(path)
}

/**
 * Adds the defaults that make `npm start` work on a bare machine (open on loopback, the scout example as a runner, the sub-agents of the project) and
 * validates the result. The processes themselves have no such defaults: they require keys, run no program, and read no folder.
 *
 * @throws SettingsError listing every problem
 */
export function prepareEnvironment(given: Environment): SystemEnvironment {
  const environment: Environment = { ...given }
  if (isUnset(environment.AUTH) && isLoopback(isUnset(environment.HOST) ? '127.0.0.1' : environment.HOST)) environment.AUTH = 'open'
  if (isUnset(environment.COMMAND_RUNNERS)) environment.COMMAND_RUNNERS = JSON.stringify({ scout: scoutRunner() })
  if (isUnset(environment.SUBAGENTS_DIRS)) environment.SUBAGENTS_DIRS = join(ROOT, 'subagents')
  const settings = parseSettings(environment)
  const dataDir = resolve(ROOT, settings.DATA_DIR)
  environment.DATA_DIR = dataDir
  return { settings: { ...settings, DATA_DIR: dataDir }, environment }
}

/** The example program of `examples/scout`, as an entry of COMMAND_RUNNERS. */
export function scoutRunner(): { argv: string[]; steerable: boolean } {
  // By its full path: programs get little of the worker's environment, and the Node of the PATH may be another one.
  return { argv: [process.execPath, join(ROOT, 'examples', 'scout', 'scout.mjs')], steerable: true }
}

function isUnset(value: string | undefined): value is undefined {
  return value === undefined || value.trim() === ''
}
