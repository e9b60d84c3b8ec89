import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile, rename, stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Binaries } from './binaries.ts'
import { SUPERUSER } from './cluster.ts'
import { type DataFolder, diskFull, passwordOf } from './data-folder.ts'
import { LocalPostgresError } from './errors.ts'
import { isReady } from './leftovers.ts'
import { LOOPBACK, takenBy } from './ports.ts'
import { signalProcess } from './processes.ts'
import { type ServerUser, spawnIds } from './server-user.ts'

/** How PostgreSQL ends: waiting for its clients, ending their transactions, or at once with a recovery at the next start. */
export type StopMode = 'smart' | 'fast' | 'immediate'

/** What a server process is started with. */
export type ServerPlan = {
  folder: DataFolder
  user: ServerUser
  binaries: Binaries
  port: number
  settings: Record<string, string>
  /** Whether it listens at a socket among its files too. */
  hasSocket: boolean
}

/** One run of a server process. */
export type RunningServer = { pid: number; child: ChildProcess; exited: Promise<string> }

const STOP_SIGNAL = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const satisfies Record<StopMode, NodeJS.Signals>

/** A crash recovery replays up to a gigabyte of log and may take this long. */
const START_TIMEOUT_MS = 120_000
/** Clients can delay a fast shutdown. After this time the server ends like a crash, which loses nothing that was committed. */
const STOP_TIMEOUT_MS = 30_000
const LOG_SIZE_MAX = 10 * 1024 * 1024

/** Durable, with enough connections for API, worker and tests together. */
const DEFAULT_SETTINGS: Record<string, string> = {
  max_connections: '200',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // `explainFailure` searches the log for English words.
  lc_messages: 'C',
  log_line_prefix: '%m [%p] ',
}

/** Where the server of a data folder writes its log. */
export function logFileOf(folder: DataFolder): string {
  return join(folder.path, 'server.log')
}

/** The address of a database on a local server. */
export async function urlOf(folder: DataFolder, port: number, login: string, database: string, host = LOOPBACK): Promise<string> {
  return `postgres://${login}:${await passwordOf(folder, login)}@${host}:${port}/${database}`
}

/** The same by the server's socket among its own files, or by TCP where it has none. */
export async function socketUrlOf({ folder, port, hasSocket }: ServerPlan, login: string, database: string): Promise<string> {
  return await urlOf(folder, port, login, database, hasSocket ? encodeURIComponent(folder.cluster) : LOOPBACK)
}

/**
 * Whether this process can make a socket among the files of a server, and so reach it there. Not on every file system, such as those of shared folders, and
 * not where the path is too long for a socket.
 */
export async function canHaveSocket(folder: DataFolder): Promise<boolean> {
  const probe = createServer()
  try {
    // As long as the name that the server gives its own.
    probe.listen(join(folder.cluster, '.s.PGSQL.65536'))
    await once(probe, 'listening')
    return true
  } catch {
    return false
  } finally {
    probe.close()
  }
}

/**
 * Starts PostgreSQL and waits until it answers.
 *
 * It is a child of this process, but in a process group of its own: Ctrl-C in a terminal reaches every process of a group, and the database has to
 * outlive the processes that write to it.
 */
export async function launch(plan: ServerPlan): Promise<RunningServer> {
  const { folder, user, binaries, port } = plan
  const log = logFileOf(folder)
  const logStart = await makeRoomInLog(log)
  const settings = {
    ...DEFAULT_SETTINGS,
    ...plan.settings,
    // Callers cannot change these: an address that only this machine reaches, a socket that only the server's user and root reach, and the log in `logFileOf`.
    listen_addresses: LOOPBACK,
    port: String(port),
    // Among its own files: relative to them, a path is never too long for the server itself.
    unix_socket_directories: plan.hasSocket ? '.' : '',
    unix_socket_permissions: '0700',
    password_encryption: 'scram-sha-256',
    logging_collector: 'off',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const output = openSync(log, 'a', 0o600)
  const child = spawn(binaries.postgres, ['-D', folder.cluster, ...options], {
    ...spawnIds(user),
    cwd: '/',
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  })
  closeSync(output)
  const state: { ended?: string } = {}
  const exited = new Promise<string>((resolve) => {
    const end = (how: string): void => {
      state.ended ??= how
      resolve(how)
    }
    child.once('error', (error) => end(error.message))
    child.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`))
  })

  const deadline = performance.now() + START_TIMEOUT_MS
  while (state.ended === undefined && performance.now() < deadline) {
    if (child.pid !== undefined && (await isReady(folder, child.pid))) {
      const server = { pid: child.pid, child, exited }
      await checkLogin(plan, server)
      return server
    }
    await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 15))])
  }
  if (state.ended === undefined) child.kill('SIGQUIT')
  throw await explainFailure(plan, log, logStart, state.ended ?? `it was not ready after ${START_TIMEOUT_MS / 1000} s`)
}

/** Ends a server and waits for it; one that does not end in time is ended like a crash. */
export async function end(server: RunningServer, mode: StopMode): Promise<void> {
  signalProcess(server.pid, STOP_SIGNAL[mode])
  // A smart shutdown waits for all clients, however long that takes.
  if (mode === 'smart') return void (await server.exited)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, STOP_TIMEOUT_MS, 'late' as const)
  })
  if ((await Promise.race([server.exited, late])) === 'late') signalProcess(server.pid, 'SIGQUIT')
  clearTimeout(timer)
  await server.exited
}

/** The last lines that the server has written to its log since a position. */
export async function lastLines(log: string, from: number, count: number): Promise<string[]> {
  const text = (await readFile(log).catch(() => Buffer.alloc(0))).subarray(from).toString('utf8')
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
}

async function checkLogin(plan: ServerPlan, server: RunningServer): Promise<void> {
  const sql = postgres(await urlOf(plan.folder, plan.port, SUPERUSER, 'postgres'), { max: 1, connect_timeout: 10, onnotice: () => undefined })
  try {
    await sql`select 1`
  } catch (error) {
    await end(server, 'fast')
    const isPassword = error instanceof postgres.PostgresError && error.code === '28P01'
    throw isPassword
      ? new LocalPostgresError(
          'password_lost',
          `The database in ${plan.folder.path} does not accept the password of its file password-${SUPERUSER}: put the right one back, or start with an empty DATA_DIR.`,
        )
      : new LocalPostgresError('start_failed', `PostgreSQL started but does not answer (${(error as Error).message}): see its log ${logFileOf(plan.folder)}.`, {
          cause: error,
        })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function explainFailure(plan: ServerPlan, log: string, logStart: number, how: string): Promise<LocalPostgresError> {
  const said = (await lastLines(log, logStart, 200)).join('\n')
  if (/could not (bind|create any TCP\/IP sockets)|Address already in use/.test(said)) return portTaken(plan.port)
  if (/lock file "postmaster.pid" already exists/.test(said)) {
    return new LocalPostgresError(
      'already_running',
      `The data folder ${plan.folder.path} was taken by another start at the same moment: use that one, or choose another folder with DATA_DIR.`,
    )
  }
  // The log is on the same disk and may have no line of it, so the free space is checked too.
  if (/No space left on device/.test(said) || (await isDiskFull(plan.folder.path))) return diskFull(plan.folder.path)
  const lines = (await lastLines(log, logStart, 6)).map((line) => `\n  ${line}`).join('')
  return new LocalPostgresError('start_failed', `PostgreSQL did not start (${how}): see its log ${log}, which ends with:${lines || ' nothing'}`)
}

/** Whether a folder takes no more data. */
async function isDiskFull(path: string): Promise<boolean> {
  const { bavail } = await statfs(path)
  return bavail === 0
}

/** The error for a port that another process listens on. */
export function portTaken(port: number): LocalPostgresError {
  return new LocalPostgresError('port_taken', `Port ${port} for PostgreSQL is already taken${takenBy(port)}: stop that process, or choose another port.`)
}

/** Limits the log: a large one is renamed, and replaces the one renamed before. Returns where new lines begin. */
async function makeRoomInLog(log: string): Promise<number> {
  const size = (await stat(log).catch(() => undefined))?.size ?? 0
  if (size < LOG_SIZE_MAX) return size
  await rename(log, `${log}.1`)
  return 0
}
