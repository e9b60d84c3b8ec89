import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The id of a data folder, stored in its file `place`. By this id a check finds a worker that has the folder of its task, even after a restart
 * and among workers of other machines.
 */
export function placeOf(dataDir: string, newId: () => string): string {
  const path = resolve(dataDir, 'place')
  mkdirSync(resolve(dataDir), { recursive: true })
  const known = read(path)
  if (UUID.test(known)) return known
  // Not the number of the process: those of several containers may be equal.
  const draft = `${path}.${newId()}`
  try {
    writeFileSync(draft, newId(), { flag: 'wx' })
    // A link appears whole or not at all: of two workers that start at once, one writes the id and the other reads all of it.
    if (known === '') linkSync(draft, path)
    else renameSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // A full disk leaves a file without an id.
    if (!UUID.test(read(path))) renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  return read(path)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
