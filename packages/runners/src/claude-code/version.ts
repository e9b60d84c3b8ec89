import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import type { Environment } from '../command/program.ts'

/** The first version that has everything the runner asks for: `--restricted` came last. */
export const VERSION_MIN = '2.1.248'
const TIMEOUT_MS = 10_000

interface Known {
  /** What the file was when it was asked. */
  stamp: string
  /** Null while it is asked, and for one that does not say. */
  version: string | null
}

const known = new Map<string, Known>()

/**
 * The version of a program that is there. Never waits: null until it has answered, and where it does not say. It is asked again when its file has
 * changed, as an update changes it.
 */
export function versionOf(program: string, environment: Environment): string | null {
  const stamp = stampOf(program)
  const found = known.get(program)
  if (found?.stamp === stamp) return found.version
  const asked: Known = { stamp, version: null }
  known.set(program, asked)
  const env = { PATH: environment.PATH ?? '', DISABLE_AUTOUPDATER: '1' }
  execFile(program, ['--version'], { env, timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 }, (error, output) => {
    // One that cannot be asked is started all the same: it says then what is the matter.
    if (error === null) asked.version = /^\d+\.\d+\.\d+/.exec(output.trim())?.[0] ?? null
  }).on('error', () => {})
  return null
}

/** True for a version that lacks something. */
export function isTooOld(version: string): boolean {
  const [given, least] = [version, VERSION_MIN].map((text) => text.split('.').map(Number)) as [number[], number[]]
  const place = least.findIndex((number, at) => number !== given[at])
  return place !== -1 && (given[place] ?? 0) < (least[place] ?? 0)
}

function stampOf(program: string): string {
  const stat = statSync(program, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`
}
