import { lstat, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isUnder } from '@muster/domain'

/** A folder that may be looked into: as the operator named it, and where it really is. */
export interface Root {
  given: string
  real: string
}

/** What a path leads to, with links followed. `not_checked` wherever the server may not look, whether something is there or not. */
export type Reached = { kind: 'folder' | 'file'; real: string } | { kind: 'not_found' | 'not_checked' }

const LINKS_MAX = 40
const NOT_FOUND: Reached = { kind: 'not_found' }
const NOT_CHECKED: Reached = { kind: 'not_checked' }

/** The folders that exist, by their names and their real paths. */
export async function openRoots(roots: readonly string[]): Promise<Root[]> {
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
export async function walkRoots(path: string, roots: readonly Root[]): Promise<Reached> {
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
