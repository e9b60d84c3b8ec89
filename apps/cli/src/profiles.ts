import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import envPaths from 'env-paths'
import { CliError, usageError } from './exit-codes.ts'

/** A server, and the key for it. */
export interface Profile {
  url: string
  key?: string
  /** The session whose inbox `muster inbox` reads, and that spawns are asked for by. */
  session?: string
}

export interface Profiles {
  /** The name of the profile that is used where none is named. */
  current?: string
  profiles: Record<string, Profile>
}

/** In the folder that the system has for settings, such as `~/.config/muster`. */
export function profilesFile(): string {
  const folder = process.env.MUSTER_CONFIG_DIR || envPaths('muster', { suffix: '' }).config
  return join(folder, 'profiles.json')
}

/** @throws CliError if the file cannot be read as profiles */
export function readProfiles(): Profiles {
  const file = profilesFile()
  let text: string
  try {
    text = readFileSync(file, 'utf8')
    // It holds keys: a copy or an editor may have opened it to others.
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: {} }
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    const parsed = JSON.parse(text) as Partial<Profiles> | null
    if (typeof parsed?.profiles !== 'object' || parsed.profiles === null) throw new Error('it has no "profiles"')
    return { ...(typeof parsed.current === 'string' ? { current: parsed.current } : {}), profiles: parsed.profiles }
  } catch (error) {
    throw new CliError(`${file} is not a file of profiles (${(error as Error).message}): mend it, or delete it and add them again.`)
  }
}

/** Replaces the file as a whole. Only its owner can read it, because it holds keys. */
export function writeProfiles(profiles: Profiles): void {
  const file = profilesFile()
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
  const half = `${file}.${process.pid}.tmp`
  writeFileSync(half, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  chmodSync(half, 0o600)
  renameSync(half, file)
}

/** The profile to use: the one that is named, or else the current one. @throws CliError if there is none of that name */
export function findProfile(name: string | undefined): Profile | undefined {
  const { current, profiles } = readProfiles()
  const wanted = name ?? current
  if (wanted === undefined) return undefined
  const found = Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined
  if (found !== undefined) return found
  const known = Object.keys(profiles)
  throw usageError(
    `There is no profile ${wanted}${known.length === 0 ? '' : `; there are ${known.join(', ')}`}. Add it: muster profile add ${wanted} --url <address>`,
  )
}
