import { opendir } from 'node:fs/promises'
import { posix } from 'node:path'
import { type BriefFile, type FileCheck, isUnder } from '@muster/domain'
import { distance } from 'fastest-levenshtein'
import { openRoots, type Root, walkRoots } from './walk-roots.ts'

/** As many names of a folder are compared with one that is not there. */
const NAMES_MAX = 500

/**
 * Looks for the files that a brief names, under the given folders and nowhere else. For everything outside, the disk is not touched and
 * nothing is said: also not by way of links and `..`. [EN] 4.2
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
