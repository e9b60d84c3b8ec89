import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'
import { type DataFolder, diskFull, hasPassword, passwordOf, removeHalfMade } from './data-folder.ts'
import { LocalPostgresError, systemErrorCode } from './errors.ts'
import { type ServerUser, spawnIds } from './server-user.ts'

const run = promisify(execFile)

/** The login that owns the cluster. */
export const SUPERUSER = 'postgres'

/**
 * Creates the cluster if there is none, and refuses one that these programs cannot serve.
 *
 * @returns whether it was created
 */
export async function prepareCluster(folder: DataFolder, user: ServerUser, binaries: Binaries, isDurable: boolean): Promise<boolean> {
  const version = await clusterVersion(folder)
  if (version === undefined) {
    await removeHalfMade(folder)
    await makeCluster(folder, user, binaries, isDurable)
    return true
  }
  if (version !== String(binaries.majorVersion)) {
    throw new LocalPostgresError(
      'other_major_version',
      `The data folder ${folder.path} holds data of PostgreSQL ${version}, and this version of Muster brings PostgreSQL ${binaries.majorVersion}, which cannot read them: ` +
        'dump them with the version of Muster that wrote them (pg_dump) and restore them into a new DATA_DIR, or start with an empty one.',
    )
  }
  if (!(await hasPassword(folder, SUPERUSER))) {
    throw new LocalPostgresError(
      'password_lost',
      `The data folder ${folder.path} holds a database, but its password file password-${SUPERUSER} is gone: put it back, or start with an empty DATA_DIR.`,
    )
  }
  return false
}

async function clusterVersion(folder: DataFolder): Promise<string | undefined> {
  try {
    return (await readFile(join(folder.cluster, 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw new LocalPostgresError(
      'data_folder_unusable',
      `The data folder ${folder.path} cannot be read (${(error as Error).message}): make it readable, or choose another one with DATA_DIR.`,
      {
        cause: error,
      },
    )
  }
}

/**
 * Runs initdb beside the final place and renames at the end: a killed start leaves nothing that looks like a database, and one of two concurrent starts
 * wins completely.
 */
async function makeCluster(folder: DataFolder, user: ServerUser, binaries: Binaries, isDurable: boolean): Promise<void> {
  const half = `${folder.cluster}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  const passwordFile = `${half}-password`
  try {
    await mkdir(half, { mode: 0o700 })
    await writeFile(passwordFile, `${await passwordOf(folder, SUPERUSER)}\n`, { mode: 0o600 })
    if (user.uid !== undefined && user.gid !== undefined) {
      await chown(half, user.uid, user.gid)
      await chown(passwordFile, user.uid, user.gid)
    }
    const options = [
      ...[`--pgdata=${half}`, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8'],
      // PostgreSQL's own C.UTF-8: sorts and compares the same everywhere, whatever locales the machine has.
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
      ...(isDurable ? [] : ['--no-sync']),
    ]
    await run(binaries.initdb, options, { ...spawnIds(user), cwd: '/', env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' } })
    await rename(half, folder.cluster)
  } catch (error) {
    if (['EEXIST', 'ENOTEMPTY'].includes(systemErrorCode(error) ?? '')) {
      if ((await clusterVersion(folder)) !== undefined) return
      throw new LocalPostgresError(
        'data_folder_unusable',
        `The folder ${folder.cluster} holds files that are not a PostgreSQL database: move them away, or choose another DATA_DIR.`,
      )
    }
    const { stderr } = error as { stderr?: string }
    if (systemErrorCode(error) === 'ENOSPC' || stderr?.includes('No space left on device') === true) throw diskFull(folder.path)
    const reason = (stderr?.trim() || (error as Error).message).split('\n').slice(-4).join(' / ')
    throw new LocalPostgresError(
      'initdb_failed',
      `PostgreSQL could not make a database in ${folder.cluster} (${reason}): see that the folder can be written to, or choose another DATA_DIR.`,
      { cause: error },
    )
  } finally {
    await rm(half, { recursive: true, force: true })
    await rm(passwordFile, { force: true })
  }
}
