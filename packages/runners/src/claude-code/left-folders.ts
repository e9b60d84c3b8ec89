import { lstat, readFile, readlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toStorableText } from '@muster/domain'

/** What the folders of this runner begin with, in the folder of temporary files. */
export const FOLDER_PREFIX = 'muster-claude-'
const OWNER_FILE = 'owner.json'

/** A process. Others may have its number at another time or in another container. */
interface Owner {
  pid: number
  /** In ticks since the machine started; empty if unknown. */
  startedAt: string
  /** The namespace in which `pid` is valid. */
  namespace: string
}

/** Writes down whose a folder is. */
export async function markOwner(folder: string): Promise<void> {
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(await ownerOf(process.pid)), { mode: 0o600, flag: 'wx' })
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
  const owner = JSON.parse(toStorableText(await readFile(join(folder, OWNER_FILE), 'utf8'))) as Partial<Owner>
  if (typeof owner.pid !== 'number' || !Number.isInteger(owner.pid) || owner.pid <= 0) return false
  if (owner.namespace !== (await namespace())) return false
  return !isThere(owner.pid) || (await ownerOf(owner.pid)).startedAt !== owner.startedAt
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

async function ownerOf(pid: number): Promise<Owner> {
  // The name of a program, in parentheses, may have anything in it; the start is the 20th field behind it.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return { pid, startedAt: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '', namespace: await namespace() }
}

async function namespace(): Promise<string> {
  return await readlink('/proc/self/ns/pid').catch(() => '')
}
