import { link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { retention } from '@muster/db'
import { retentionDays } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { findOverAttempts } from '../runs/worker-presence.ts'
import { ignoreUnreadable } from './measure-folder.ts'

type FolderDeps = Pick<Deps, 'dispatchDb' | 'settings' | 'log' | 'newId'>

/** The folders of one kind, which are all in one place, and which of them nothing needs any more. */
export interface FolderKind {
  /** The label of its metrics. */
  name: string
  /** The folder that they are in. */
  root: string
  /** How often they are looked at, in milliseconds. */
  everyMs: number
  /** Whether a name in `root` is of this kind. */
  has(name: string): boolean
  /** Which of these names can be removed. */
  findOver(names: readonly string[]): Promise<Set<string>>
}

const TASK = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ATTEMPT = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,9})$/
/** A file that a worker writes to see whether the disk has room. A killed worker leaves it. */
const PROBE = /^\.probe-/
/** The row of a folder that changed less than this ago may not be committed yet. */
const OLD_MS = 86_400_000

/**
 * The folders of tasks in DATA_DIR. A folder is over when its task was erased, or ended longer ago than its project keeps folders.
 *
 * @param nowMs the time of this machine, as its files have it
 */
export function taskFolders(deps: FolderDeps, nowMs: () => number): FolderKind {
  const { dispatchDb, settings } = deps
  const root = resolve(settings.DATA_DIR, 'tasks')
  return {
    ...{ name: 'tasks', root, everyMs: 3_600_000 },
    has: (name) => TASK.test(name),
    async findOver(names) {
      if (!(await belongsHere(deps))) return new Set()
      const over = await findUnknown(deps, names)
      if (settings.RETENTION_ENABLED) {
        const { folders } = retentionDays(settings.RETENTION_DAYS)
        for (const id of await retention.findOutlivedTasks(dispatchDb, names, folders)) over.add(id)
      }
      return await onlyOld(root, [...over], nowMs())
    },
  }
}

/**
 * The folders of attempts in DATA_DIR, as killed workers leave them. A folder is over when its attempt no longer runs, or its subtask is gone.
 * Other workers of this machine may use theirs, so the database decides.
 *
 * @param nowMs the time of this machine, as its files have it
 */
export function attemptFolders(deps: FolderDeps, nowMs: () => number): FolderKind {
  const root = resolve(deps.settings.DATA_DIR, 'workspaces')
  return {
    ...{ name: 'workspaces', root, everyMs: 600_000 },
    has: (name) => ATTEMPT.test(name) || PROBE.test(name),
    async findOver(names) {
      const attempts = names.flatMap((name) => {
        const [, subtaskId, attempt] = ATTEMPT.exec(name) ?? []
        return subtaskId === undefined ? [] : [{ name, subtaskId, attempt: Number(attempt) }]
      })
      const over = new Set((await findOverAttempts(deps, attempts)).map((ref) => `${ref.subtaskId}-${ref.attempt}`))
      const ids = attempts.map(({ subtaskId }) => subtaskId)
      const unknown = (await belongsHere(deps)) ? await findUnknown(deps, ids) : new Set()
      const maybe = [...attempts.filter(({ subtaskId }) => unknown.has(subtaskId)).map(({ name }) => name), ...names.filter((name) => PROBE.test(name))]
      return new Set([...over, ...(await onlyOld(root, maybe, nowMs()))])
    },
  }
}

async function findUnknown({ dispatchDb }: FolderDeps, ids: readonly string[]): Promise<Set<string>> {
  const known = await retention.findExisting(dispatchDb, ids)
  return new Set(ids.filter((id) => !known.has(id)))
}

async function onlyOld(root: string, names: readonly string[], nowMs: number): Promise<Set<string>> {
  const old = new Set<string>()
  for (const name of names) {
    const info = await stat(join(root, name)).catch(ignoreUnreadable)
    if (info !== undefined && nowMs - info.mtimeMs > OLD_MS) old.add(name)
  }
  return old
}

/**
 * Whether the first process that swept this data folder used the same database. What one database does not know may be the work of another.
 * On a full disk the first process cannot note its database, and removes nothing yet.
 */
async function belongsHere(deps: FolderDeps): Promise<boolean> {
  const database = await retention.databaseId(deps.dispatchDb)
  const path = resolve(deps.settings.DATA_DIR, 'database')
  const noted = (await readNote(path)) ?? (await writeNote(deps, path, database))
  if (noted === database) return true
  if (noted !== null) deps.log.debug({}, 'the data folder belongs to another database: its folders stay')
  return false
}

async function readNote(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Writes the note unless another process is faster. Returns what it says then; null on a full disk. */
async function writeNote({ newId }: FolderDeps, path: string, database: string): Promise<string | null> {
  // Not the number of the process: those of several containers may be equal, and a process may look twice at once.
  const draft = `${path}.${newId()}`
  try {
    await writeFile(draft, database, { flag: 'wx' })
    // A link appears whole or not at all, so no reader sees half of an id.
    await link(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') return null
    if (code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return await readNote(path)
}
