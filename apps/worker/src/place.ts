import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { v7 } from 'uuid'

/**
 * The id of a data folder, which it keeps in the file `place`. By it a check finds a worker that has the folder of its task, also after a restart
 * and beside workers of other machines.
 */
export function placeOf(dataDir: string): string {
  const path = resolve(dataDir, 'place')
  try {
    mkdirSync(resolve(dataDir), { recursive: true })
    // Of two workers that start at once, one makes it.
    writeFileSync(path, v7(), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(path, 'utf8').trim()
}
