import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const MEMORY = '/dev/shm'
/** Free room and free memory, in bytes, of which the databases of a whole run take a fraction. */
const ROOM_MIN = 6 * 1_024 ** 3

/** Where databases of tests may be. Those of runs that were killed are looked for in each. */
export const DATABASE_FOLDERS = [...new Set([tmpdir(), MEMORY])]

/**
 * Where the next one belongs: in memory where there is plenty, otherwise among the temporary files. Hundreds of databases are copied and removed in a run,
 * and a disk takes up to ten times as long for that, the longer the more of them there have been. A folder that is named in `TMPDIR` is taken.
 */
export function databaseFolder(): string {
  if (process.env.TMPDIR !== undefined) return tmpdir()
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    // Of the process: a container may have less than the machine.
    return Math.min(bavail * bsize, process.availableMemory()) >= ROOM_MIN ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}
