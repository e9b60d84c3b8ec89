import { randomBytes } from 'node:crypto'
import { chmod, link, lstat, mkdir, readdir, readFile, realpath, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { LocalPostgresError, systemErrorCode } from './errors.ts'
import { isAlive, isRunning, type ProcessIdentity } from './processes.ts'
import { canEnter, currentUserId, describeUser, ownerId, type ServerUser } from './server-user.ts'

/**
 * What lies in a data folder of the local server:
 *
 * - `cluster/`      PostgreSQL's own files, owned by the user that the server runs as
 * - `location`      instead of `cluster/`, when that user cannot reach this folder: the path of the files
 * - `password-*`    one password a login, readable by the user who starts the server
 * - `server.json`   the port of the last start, its server, and the process that started it
 * - `server.log`    PostgreSQL's log
 */
export type DataFolder = { path: string; cluster: string }

/** The content of `server.json`. */
export type ServerRecord = { port: number; server: ProcessIdentity | null; owner: ProcessIdentity | null }

const LOCATION = 'location'
const ORIGIN = 'origin'

/** Creates the data folder if it is missing, and finds or chooses the place of PostgreSQL's own files. */
export async function openDataFolder(dataDir: string, user: ServerUser, systemDir: () => Promise<string>): Promise<DataFolder> {
  await prepareFolder(dataDir)
  const path = await realpath(dataDir)
  const beside = join(path, 'cluster')
  const folder = (await readLocation(path)) ?? ((await exists(beside)) || canEnter(user, path) ? { path, cluster: beside } : undefined)
  if (folder !== undefined) {
    await checkOwner(folder, user)
    return folder
  }

  // A private folder of root, which the server's user cannot enter. The files go to a folder that it can enter, under a unique name: a clone that is
  // moved keeps its data, and a new clone in its place does not find them.
  const parent = join(await systemDir(), 'data', `${basename(path).replace(/[^\w.-]/g, '_')}-${randomBytes(6).toString('hex')}`)
  await mkdir(parent, { recursive: true, mode: 0o755 })
  const cluster = join(parent, 'cluster')
  await writeFile(join(parent, ORIGIN), `${path}\n`)
  await writeFile(join(path, LOCATION), `${cluster}\n`)
  return { path, cluster }
}

/** The data folder of an earlier start, or undefined when there has been none or it cannot be read. */
export async function findDataFolder(dataDir: string): Promise<DataFolder | undefined> {
  const path = await realpath(dataDir).catch(() => undefined)
  if (path === undefined) return undefined
  return (await readLocation(path)) ?? ((await exists(join(path, 'cluster'))) ? { path, cluster: join(path, 'cluster') } : undefined)
}

/** Whether a data folder holds a database. */
export async function hasDatabase(folder: DataFolder): Promise<boolean> {
  return exists(join(folder.cluster, 'PG_VERSION'))
}

/** Removes a data folder and PostgreSQL's files, wherever they are. The server must have been stopped. */
export async function removeDataFolder(dataDir: string): Promise<void> {
  const folder = await findDataFolder(dataDir)
  if (folder !== undefined && !folder.cluster.startsWith(`${folder.path}/`)) await rm(join(folder.cluster, '..'), { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
}

/** The password of a login, random from the first call on. Concurrent processes get the same one. */
export async function passwordOf(folder: DataFolder, login: string): Promise<string> {
  const path = join(folder.path, `password-${login}`)
  const known = await readIfThere(path)
  if (known !== undefined) return known.trim()
  const written = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(written, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  // A link is atomic and never replaces a file: the first one decides for all processes.
  await link(written, path).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EEXIST') throw error
  })
  await unlink(written)
  return (await readFile(path, 'utf8')).trim()
}

/** Whether a login has a password. */
export function hasPassword(folder: DataFolder, login: string): Promise<boolean> {
  return exists(join(folder.path, `password-${login}`))
}

/** The record of the last start; undefined when there is none, or none that can be read. */
export async function readRecord(folder: DataFolder): Promise<ServerRecord | undefined> {
  const text = await readIfThere(join(folder.path, 'server.json'))
  try {
    const record: unknown = JSON.parse(text ?? '')
    return isRecord(record) ? record : undefined
  } catch {
    return undefined
  }
}

/** Writes the record atomically: a reader sees the old one or the new one. */
export async function writeRecord(folder: DataFolder, record: ServerRecord): Promise<void> {
  const path = join(folder.path, 'server.json')
  const written = `${path}.${process.pid}`
  await writeFile(written, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  await rename(written, path)
}

/** Removes half-made clusters of starts that were killed. */
export async function removeHalfMade(folder: DataFolder): Promise<void> {
  const parent = join(folder.cluster, '..')
  for (const name of await readdir(parent)) {
    const maker = /^cluster\.new-(\d+)-/.exec(name)?.[1]
    if (maker !== undefined && !isAlive(Number(maker))) await rm(join(parent, name), { recursive: true, force: true })
  }
}

/** The other process that uses this data folder: it started the server and still runs. */
export function otherOwner(record: ServerRecord | undefined): ProcessIdentity | undefined {
  const owner = record?.owner
  return owner !== null && owner !== undefined && owner.pid !== process.pid && isRunning(owner) ? owner : undefined
}

/**
 * Creates a folder and the folders above it. Node's recursive `mkdir` never returns where the system refuses a folder with ENOENT although its
 * parent is there, as `/proc` does.
 *
 * @throws Error of the system, also when a file is in the way
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o755 })
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (code !== 'ENOENT' || (await exists(dirname(path)))) throw error
    await makeFolder(dirname(path))
    await makeFolder(path)
  }
}

async function prepareFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir)
    const found = await stat(dataDir)
    // A server that runs as another user has to pass through to reach the cluster. Secret files have mode 0600.
    if (currentUserId() === 0 && (found.mode & 0o011) !== 0o011) await chmod(dataDir, (found.mode & 0o777) | 0o011)
    const probe = join(dataDir, `.probe-${process.pid}-${randomBytes(4).toString('hex')}`)
    await writeFile(probe, '', { mode: 0o600, flag: 'wx' })
    await unlink(probe)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOSPC') throw diskFull(dataDir)
    const owner = await stat(dataDir).catch(() => undefined)
    if (owner !== undefined && owner.uid !== currentUserId()) throw notYours(dataDir, owner.uid)
    throw notWritable(dataDir, (error as Error).message)
  }
}

async function readLocation(path: string): Promise<DataFolder | undefined> {
  const cluster = (await readIfThere(join(path, LOCATION)))?.trim()
  if (cluster === undefined || cluster === '') return undefined
  const origin = (await readIfThere(join(cluster, '..', ORIGIN)))?.trim()
  if (origin === undefined) return undefined
  if (origin === path) return { path, cluster }
  // The folder was moved or copied. After a move it keeps its data; a copy must not share them with the original.
  const original = (await readIfThere(join(origin, LOCATION)))?.trim()
  if (original === cluster) return undefined
  await writeFile(join(cluster, '..', ORIGIN), `${path}\n`)
  return { path, cluster }
}

async function checkOwner(folder: DataFolder, user: ServerUser): Promise<void> {
  const found = await lstat(folder.cluster).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw notWritable(folder.path, (error as Error).message)
  })
  if (found !== undefined && found.uid !== ownerId(user)) throw notYours(folder.path, found.uid)
}

function notYours(path: string, owner: number): LocalPostgresError {
  return new LocalPostgresError(
    'data_folder_not_yours',
    `The data folder ${path} belongs to ${describeUser(owner)}: start Muster as the user who made it, or choose another folder with DATA_DIR.`,
  )
}

function notWritable(path: string, reason: string): LocalPostgresError {
  return new LocalPostgresError(
    'data_folder_unusable',
    `The data folder ${path} cannot be used (${reason}): make it writable, or choose another one with DATA_DIR.`,
  )
}

/** The error for a disk without room for the start of PostgreSQL. */
export function diskFull(path: string): LocalPostgresError {
  return new LocalPostgresError('disk_full', `The disk of ${path} is full: make room on it, or choose another folder with DATA_DIR.`)
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return undefined
    throw error
  })
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function isRecord(value: unknown): value is ServerRecord {
  return typeof value === 'object' && value !== null && 'port' in value && typeof value.port === 'number' && 'server' in value && 'owner' in value
}
