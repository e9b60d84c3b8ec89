import { execFileSync, spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { LocalPostgresError } from './errors.ts'

/** The system user that the server runs as. Undefined ids mean: the user of this process. */
export type ServerUser = { name: string; uid: number | undefined; gid: number | undefined }

/** The ids to spawn a program of the server with: none for the user of this process. */
export function spawnIds(user: ServerUser): { uid: number; gid: number } | Record<string, never> {
  return user.uid === undefined || user.gid === undefined ? {} : { uid: user.uid, gid: user.gid }
}

/** The numeric id of the user that owns the server's files. */
export function ownerId(user: ServerUser): number {
  return user.uid ?? currentUserId()
}

/** The numeric id of the user of this process. */
export function currentUserId(): number {
  return process.getuid?.() ?? -1
}

/**
 * Chooses the user that PostgreSQL runs as: the current user, except for root, because PostgreSQL refuses to run as root. Then it is the system user
 * `postgres`, created if it is missing, or `nobody` where users cannot be created.
 */
export function chooseServerUser(): ServerUser {
  if (currentUserId() !== 0) return { name: userInfo().username, uid: undefined, gid: undefined }
  const user = lookUpUser('postgres') ?? createPostgresUser() ?? lookUpUser('nobody')
  if (user === undefined) {
    throw new LocalPostgresError(
      'binaries_unusable',
      'PostgreSQL refuses to run as root, and this system has no "postgres" user and no "nobody" user to run it: create one (useradd --system postgres), or start Muster as an ordinary user.',
    )
  }
  return user
}

/** Name of a user id, for messages: `ada (uid 1000)`. */
export function describeUser(uid: number): string {
  const name = uid === currentUserId() ? userInfo().username : tryRun('id', ['-nu', String(uid)])
  return name === undefined ? `uid ${uid}` : `${name} (uid ${uid})`
}

/**
 * Whether the server's user can enter a folder. Tries it as that user, because access lists, mounts and the folders above count as well as mode bits.
 */
export function canEnter(user: ServerUser, folder: string): boolean {
  if (user.uid === undefined) return true
  return spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { ...spawnIds(user), cwd: '/', stdio: 'ignore' }).status === 0
}

function lookUpUser(name: string): ServerUser | undefined {
  const [uid, gid] = [tryRun('id', ['-u', name]), tryRun('id', ['-g', name])].map(Number)
  return uid === undefined || gid === undefined || !Number.isInteger(uid) || !Number.isInteger(gid) || uid === 0 ? undefined : { name, uid, gid }
}

function createPostgresUser(): ServerUser | undefined {
  tryRun('useradd', ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin', 'postgres'])
  // Also if that failed: of two concurrent starts, the slower one fails and finds the user.
  return lookUpUser('postgres')
}

function tryRun(program: string, options: string[]): string | undefined {
  try {
    return execFileSync(program, options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}
