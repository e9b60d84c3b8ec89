import { lstat, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type BriefFile, type BriefWarning, fileWarning, isUnder } from '@muster/domain'

type Found = 'found' | 'not_found' | 'not_checked'

/** A folder that may be looked into: as the operator named it, and where it really is. */
interface Root {
  given: string
  real: string
}

const LINKS_MAX = 40

/**
 * Looks for the files that a brief names, under the given folders and nowhere else, and warns of those that are not there. For everything
 * outside, the disk is not touched and nothing is said: also not by way of links and `..`, which are followed one step at a time for that. [EN] 4.2
 */
export async function checkFiles(files: readonly BriefFile[], roots: readonly string[], at: Date): Promise<BriefWarning[]> {
  let opened: Promise<Root[]> | undefined
  const warnings: BriefWarning[] = []
  for (const file of files) {
    const isInside = file.resolved !== null && isUnder(file.resolved, roots)
    opened ??= isInside ? openRoots(roots) : undefined
    const found = isInside && opened !== undefined ? await look(file.resolved as string, await opened) : 'not_checked'
    // What was not looked for is no fault of the brief, and says nothing about the disk.
    if (found === 'not_found') warnings.push(fileWarning(file, at))
  }
  return warnings
}

/** Folders that are not there are none. */
async function openRoots(roots: readonly string[]): Promise<Root[]> {
  const opened = await Promise.all(roots.map(async (root) => ({ given: resolve(root), real: await realpath(root).catch(() => null) })))
  return opened.filter((root): root is Root => root.real !== null)
}

/** A place that was reached without leaving the folders, and the names that lead on from there. */
interface Way {
  at: string
  rest: string[]
}

async function look(path: string, roots: readonly Root[]): Promise<Found> {
  let way = enter(path, roots)
  for (let links = 0; way !== null; ) {
    const name = way.rest.shift()
    if (name === undefined) return 'found'
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
      if (target === null) return 'not_found'
      way = isAbsolute(target) ? enter(resolve(target), roots, way.rest) : { at: way.at, rest: [...target.split(sep), ...way.rest] }
    } else if (kind === 'folder') way = { at: next, rest: way.rest }
    else if (kind === 'file') return way.rest.every((each) => each === '' || each === '.') ? 'found' : 'not_found'
    else return kind
  }
  return 'not_checked'
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
