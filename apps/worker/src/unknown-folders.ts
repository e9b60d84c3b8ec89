import { link, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { databaseId, findUnknown } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

/** Folders of tasks, and of attempts of subtasks. */
const FOLDERS = { tasks: /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/, workspaces: /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{1,9}$/ }
/** One that changed later than this may belong to a row whose commit is under way. */
const OLD_MS = 86_400_000
const AT_ONCE = 1_000

/**
 * Removes the folders in DATA_DIR of tasks and subtasks that were erased or whose time is over. Only if the data folder belongs to this database, which the first worker notes
 * in it: what one database does not know may be the work of another.
 *
 * @param nowMs the time of this machine, as its files have it
 * @returns how many folders were removed
 */
export async function removeUnknownFolders(deps: WorkerDeps, nowMs: number): Promise<number> {
  const root = resolve(deps.settings.DATA_DIR)
  if (!(await belongsTo(root, await databaseId(deps)))) {
    deps.log.debug({}, 'the data folder belongs to another database, or has no room: its folders stay')
    return 0
  }
  let removed = 0
  for (const [folder, pattern] of Object.entries(FOLDERS)) {
    const names = await readdir(join(root, folder)).catch(() => [])
    const found = names.flatMap((name) => {
      const id = pattern.exec(name)?.[1]
      return id === undefined ? [] : [{ path: join(root, folder, name), id }]
    })
    for (let at = 0; at < found.length; at += AT_ONCE) {
      const some = found.slice(at, at + AT_ONCE)
      const unknown = await findUnknown(
        deps,
        some.map(({ id }) => id),
      )
      for (const { path, id } of some) {
        if (!unknown.has(id) || !(await isOld(path, nowMs))) continue
        await rm(path, { recursive: true, force: true })
        removed += 1
      }
    }
  }
  if (removed > 0) deps.log.info({ folders: removed }, 'removed folders of tasks and subtasks that are gone')
  return removed
}

async function isOld(path: string, nowMs: number): Promise<boolean> {
  const info = await stat(path).catch(() => null)
  return info !== null && nowMs - info.mtimeMs > OLD_MS
}

/** Whether the first worker of this data folder used the same database. On a full disk nothing can be noted, and nothing is removed yet. */
async function belongsTo(root: string, database: string): Promise<boolean> {
  const path = join(root, 'database')
  const draft = `${path}.${process.pid}`
  try {
    // A link appears whole or not at all, so that no half of an id is taken for another database.
    await writeFile(draft, database)
    await link(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') return false
    if (code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return (await readFile(path, 'utf8')).trim() === database
}
