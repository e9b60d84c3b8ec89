import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isLoopback, parseSettings, type Settings } from '@muster/domain'

/** The folder of the project. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Variables of an environment. */
export type Environment = Record<string, string | undefined>

/** The checked settings, and the environment that API and worker are given so that they read the same. */
export type SystemEnvironment = { settings: Settings; environment: Environment }

/** Adds what `.env` in the project's folder says to this process's environment; what is set already stays. */
export function loadEnvFile(): void {
  const path = join(ROOT, '.env')
  if (existsSync(path)) process.loadEnvFile(path)
}

/**
 * Fills in what makes `npm start` work on a bare machine, and checks the whole: open on loopback, the scout example as
 * the runner, and the sub-agents of the project. The processes themselves have no such defaults: there, keys are needed, no program may be run,
 * and no folder is read.
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
  // By its full path: the worker gives its programs next to nothing of its own environment, and the Node of the PATH may be another one.
  return { argv: [process.execPath, join(ROOT, 'examples', 'scout', 'scout.mjs')], steerable: true }
}

function isUnset(value: string | undefined): value is undefined {
  return value === undefined || value.trim() === ''
}
