import type { Dirent } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileSize } from '@muster/db'

/** After so many files a measurement yields. */
const FILES_AT_ONCE = 500

/**
 * Adds to `size` what the files and folders in a folder take up on its disk, at any depth. Links are not followed. Leaves out what vanishes
 * meanwhile, and what this user may not read. Yields every few hundred files, so that the caller can pause or stop.
 */
export async function* measureFolder(path: string, size: FileSize): AsyncGenerator<void, void> {
  // `opendir` would follow a link.
  const isFolder = (await lstat(path).catch(ignoreUnreadable))?.isDirectory() === true
  const folders = isFolder ? [path] : []
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of entriesOf(folder)) {
      const file = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(file)
      const found = await lstat(file).catch(ignoreUnreadable)
      if (found === undefined) continue
      size.files += 1
      size.bytes += found.blocks * 512
      if (size.files % FILES_AT_ONCE === 0) yield
    }
  }
}

/** The entries of a folder as they are read; none if the folder is missing or may not be read. */
export async function* entriesOf(folder: string): AsyncGenerator<Dirent, void> {
  const opened = await opendir(folder).catch(ignoreUnreadable)
  if (opened !== undefined) yield* opened
}

/** For what has gone meanwhile, and what this process may not read. @throws the error, where it is another */
export function ignoreUnreadable(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR' && error.code !== 'EACCES' && error.code !== 'EPERM') throw error
}
