import { lstat, opendir, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path'
import { type BriefFile, type FileCheck, isUnder, resolveBriefPath } from '@muster/domain'
import { distance } from 'fastest-levenshtein'
import type { Deps } from '../core/ctx.ts'

/** As many names of a folder are compared with one that is not there. */
const NAMES_MAX = 500

/**
 * Looks for the files that a brief names, under the given folders only. Paths outside are `not_checked` and the disk is not touched for
 * them, also not through links and `..`. [EN] 4.2
 */
export async function checkFiles(files: readonly BriefFile[], roots: readonly string[]): Promise<FileCheck[]> {
  let opened: Promise<Root[]> | undefined
  const checks: FileCheck[] = []
  for (const { field, path, resolved } of files) {
    const check = { field, path, status: 'not_checked', nearest: null } satisfies FileCheck
    if (resolved === null || !isUnder(resolved, roots)) {
      checks.push(check)
      continue
    }
    opened ??= openRoots(roots)
    const { kind } = await walkRoots(resolved, await opened)
    if (kind === 'not_found') checks.push({ ...check, status: kind, nearest: await findNearest(path, resolved, await opened) })
    else checks.push({ ...check, status: kind === 'not_checked' ? kind : 'found' })
  }
  return checks
}

/** The path with the most similar name of the same folder, or null where there is no such folder or name. */
async function findNearest(path: string, resolved: string, roots: readonly Root[]): Promise<string | null> {
  const wanted = posix.basename(resolved)
  // Otherwise the path does not end in the name that is missing, as `a/..` does not.
  if (posix.basename(path) !== wanted) return null
  const folder = await walkRoots(posix.dirname(resolved), roots)
  if (folder.kind !== 'folder') return null
  const distanceMax = Math.max(1, Math.floor(wanted.length / 3))
  const [nearest] = (await listNames(folder.real))
    .map((name) => ({ name, far: distance(wanted.toLowerCase(), name.toLowerCase()) }))
    // A link that leads nowhere has the wanted name itself.
    .filter(({ name, far }) => far <= distanceMax && name !== wanted)
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
  return nearest === undefined ? null : `${path.slice(0, path.lastIndexOf(wanted))}${nearest.name}`
}

/** Names of a folder, in no order. Empty where it cannot be read. */
async function listNames(folder: string): Promise<string[]> {
  const names: string[] = []
  try {
    for await (const entry of await opendir(folder)) {
      names.push(entry.name)
      if (names.length === NAMES_MAX) break
    }
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
  }
  return names
}

/**
 * The real path of a `client_cwd`, with links resolved, if it is a folder inside WORKSPACE_ROOTS now; null otherwise. The disk outside is
 * not touched.
 */
export async function findClientFolder({ settings }: Pick<Deps, 'settings'>, clientCwd: string): Promise<string | null> {
  const path = resolveBriefPath(clientCwd, null)
  if (path === null || !isUnder(path, settings.WORKSPACE_ROOTS)) return null
  const reached = await walkRoots(path, await openRoots(settings.WORKSPACE_ROOTS))
  return reached.kind === 'folder' ? reached.real : null
}

/** A folder that may be looked into: as the operator named it, and where it really is. */
interface Root {
  given: string
  real: string
}

/** What a path leads to, with links followed. `not_checked` wherever the server may not look, whether something is there or not. */
type Reached = { kind: 'folder' | 'file'; real: string } | { kind: 'not_found' | 'not_checked' }

const LINKS_MAX = 40
const NOT_FOUND: Reached = { kind: 'not_found' }
const NOT_CHECKED: Reached = { kind: 'not_checked' }

/** The folders that exist, by their names and their real paths. */
async function openRoots(roots: readonly string[]): Promise<Root[]> {
  const opened = await Promise.all(roots.map(async (root) => ({ given: resolve(root), real: await realpath(root).catch(() => null) })))
  return opened.filter((root): root is Root => root.real !== null)
}

/** A place that was reached without leaving the folders, and the names that lead on from there. */
interface Way {
  at: string
  rest: string[]
}

/**
 * Follows an absolute path one name and one link at a time, and stops before the first step that leads out of the roots: nothing outside is
 * looked at.
 */
async function walkRoots(path: string, roots: readonly Root[]): Promise<Reached> {
  let way = enter(path, roots)
  for (let links = 0; way !== null; ) {
    const name = way.rest.shift()
    if (name === undefined) return { kind: 'folder', real: way.at }
    if (name === '' || name === '.') continue
    if (name === '..') {
      way = enter(dirname(way.at), roots, way.rest)
      continue
    }
    const next = join(way.at, name)
    // Everything up to here is a real folder under a root, so that this cannot lead elsewhere.
    const kind = await kindOf(next)
    if (kind === 'link') {
      links += 1
      const target = links > LINKS_MAX ? null : await readlink(next).catch(() => null)
      if (target === null) return NOT_FOUND
      way = isAbsolute(target) ? enter(resolve(target), roots, way.rest) : { at: way.at, rest: [...target.split(sep), ...way.rest] }
    } else if (kind === 'folder') way = { at: next, rest: way.rest }
    else if (kind === 'file') return way.rest.every((each) => each === '' || each === '.') ? { kind: 'file', real: next } : NOT_FOUND
    else return kind === 'not_found' ? NOT_FOUND : NOT_CHECKED
  }
  return NOT_CHECKED
}

/** The way to a path from the folder that contains it, or null when none does. By letters alone. */
function enter(path: string, roots: readonly Root[], rest: string[] = []): Way | null {
  for (const { given, real } of roots) {
    for (const folder of [given, real]) {
      if (isUnder(path, [folder])) return { at: real, rest: [...relative(folder, path).split(sep), ...rest] }
    }
  }
  return null
}

async function kindOf(path: string): Promise<'link' | 'folder' | 'file' | 'not_found' | 'not_checked'> {
  try {
    const entry = await lstat(path)
    return entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : 'file'
  } catch (error) {
    // Where the server may not look, it does not know.
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'not_checked' : 'not_found'
  }
}
