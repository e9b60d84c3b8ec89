import { lstat, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toStorableText } from '@muster/domain'
import { isOwnerGone, ownerOf, type ProcessOwner } from '../command/process-owner.ts'

/** What the folders of this runner begin with, in the folder of temporary files. */
export const FOLDER_PREFIX = 'muster-claude-'
const OWNER_FILE = 'owner.json'

/** Writes down whose a folder is. */
export async function markOwner(folder: string): Promise<void> {
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(ownerOf(process.pid)), { mode: 0o600, flag: 'wx' })
}

/**
 * The private folders of sessions, in the folder for temporary files. Killed workers leave them, with the instructions of users in them. A folder
 * is over if it is this user's, names the process that made it, and that process is certainly gone. One of another container may be in use.
 */
export const PREPARED_FOLDERS = {
  name: 'prepared',
  get root() {
    return tmpdir()
  },
  everyMs: 600_000,
  has: (name: string) => name.startsWith(FOLDER_PREFIX),
  async findOver(names: readonly string[]): Promise<Set<string>> {
    const over = new Set<string>()
    // Another process may be faster, and what cannot be read is not ours.
    for (const name of names) if (await isLeft(join(tmpdir(), name)).catch(() => false)) over.add(name)
    return over
  },
}

async function isLeft(folder: string): Promise<boolean> {
  const stat = await lstat(folder)
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false
  const { pid, startedAt, namespace } = JSON.parse(toStorableText(await readFile(join(folder, OWNER_FILE), 'utf8'))) as Partial<ProcessOwner>
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0 || startedAt === undefined || namespace === undefined) return false
  return isOwnerGone({ pid, startedAt, namespace })
}
