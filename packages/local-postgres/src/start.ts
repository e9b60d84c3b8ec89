import { findBinaries, findSystemDir } from './binaries.ts'
import { prepareCluster, SUPERUSER } from './cluster.ts'
import { type DataFolder, findDataFolder, hasDatabase, openDataFolder, readRecord, removeDataFolder, writeRecord } from './data-folder.ts'
import { LocalPostgresError } from './errors.ts'
import { endLeftovers, runningPostmaster } from './leftovers.ts'
import { freePort, isPortFree } from './ports.ts'
import { identifyProcess, signalProcess } from './processes.ts'
import {
  canHaveSocket,
  end,
  lastLines,
  launch,
  logFileOf,
  portTaken,
  type RunningServer,
  type ServerPlan,
  type StopMode,
  socketUrlOf,
  urlOf,
} from './server.ts'
import { chooseServerUser } from './server-user.ts'

/** How to start a local server. */
export type LocalPostgresOptions = {
  /** The folder of this server only; created if it is missing. */
  dataDir: string
  /** The port on 127.0.0.1. Absent or 0: the one of the last start when it is free, else any. */
  port?: number
  /** Server settings on top of the durable defaults, such as `{ fsync: 'off' }` for tests that may lose their data. */
  settings?: Record<string, string>
  /** Receives a line for each step. */
  log?: (line: string) => void
  /** Called when the server ends unasked, with the reason. `restart` starts it again. */
  onExit?: (how: string) => void
  /** Where programs and data go when root's server cannot use them where they are; for tests. Absent: `/var/lib/muster`. */
  systemDir?: string
}

/** A PostgreSQL server of our own. Its address stays the same across `restart`. */
export type LocalPostgres = {
  /** The superuser, in the database `postgres`. */
  readonly adminUrl: string
  readonly port: number
  /** The server's main process (the postmaster); another one after a restart. */
  readonly pid: number
  readonly dataDir: string
  readonly logFile: string
  /** The address of a database for a login. The password is random and kept in the data folder. Does not create them. */
  urlFor(login: string, database: string): Promise<string>
  /**
   * The same by a Unix socket, for processes of this machine: a short statement costs a fifth less processor than by TCP. By TCP where the data folder can
   * hold no socket.
   */
  socketUrlFor(login: string, database: string): Promise<string>
  /** Ends the server, `fast` by default. Does nothing if it has ended already. */
  stop(mode?: StopMode): Promise<void>
  /** Ends the server if it runs, and starts it again on the same port. */
  restart(mode?: StopMode): Promise<void>
  /** Kills the main process with SIGKILL, as a crash of the machine would; for tests. `restart` starts it again. */
  kill(): Promise<void>
}

/** A started server. */
export type FoundPostgres = Pick<LocalPostgres, 'adminUrl' | 'port' | 'pid' | 'urlFor'>

/** How often a start without a given port tries another one because a process has taken it in between. */
const PORT_TRIES = 5

/**
 * Starts the PostgreSQL server of a data folder, and creates its database if there is none.
 *
 * It listens on 127.0.0.1 and at a socket among its files only, and requires a password. It ends with `stop`, or when this process exits. SIGKILL leaves
 * the server running; the next start on the same folder ends it first.
 *
 * @throws LocalPostgresError with one sentence: what is wrong, and what to do
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const log = options.log ?? (() => undefined)
  const systemDir = options.systemDir === undefined ? findSystemDir : () => Promise.resolve(options.systemDir ?? '')
  const user = chooseServerUser()
  const folder = await openDataFolder(options.dataDir, user, systemDir)
  const record = await readRecord(folder)
  await endLeftovers(folder, record, log)
  const binaries = await findBinaries(user, systemDir)
  const settings = options.settings ?? {}
  if (await prepareCluster(folder, user, binaries, settings.fsync !== 'off')) log(`made a database in ${folder.cluster}`)

  const plan = { folder, user, binaries, settings, port: 0, hasSocket: await canHaveSocket(folder) }
  const first = await launchOnPort(plan, options.port ?? 0, record?.port)
  return control({ ...plan, port: first.port }, first.server, await urlOf(folder, first.port, SUPERUSER, 'postgres'), log, options.onExit)
}

/** The running server of a data folder, whatever process started it; undefined when there is none. */
export async function findLocalPostgres(dataDir: string): Promise<FoundPostgres | undefined> {
  const folder = await findDataFolder(dataDir)
  if (folder === undefined) return undefined
  const [record, pid] = [await readRecord(folder), await runningPostmaster(folder)]
  if (record === undefined || pid === undefined) return undefined
  return {
    adminUrl: await urlOf(folder, record.port, SUPERUSER, 'postgres'),
    port: record.port,
    pid,
    urlFor: (login, database) => urlOf(folder, record.port, login, database),
  }
}

/** Whether a data folder holds a database. */
export async function hasLocalDatabase(dataDir: string): Promise<boolean> {
  const folder = await findDataFolder(dataDir)
  return folder !== undefined && (await hasDatabase(folder))
}

/** Ends the server of a data folder if one runs, and removes all its files, including those outside the folder. */
export async function removeLocalPostgres(dataDir: string): Promise<void> {
  const folder = await findDataFolder(dataDir)
  if (folder !== undefined) await endLeftovers(folder, await readRecord(folder), () => undefined)
  await removeDataFolder(dataDir)
}

async function launchOnPort(plan: ServerPlan, wanted: number, remembered: number | undefined): Promise<{ server: RunningServer; port: number }> {
  if (wanted !== 0) {
    if (!(await isPortFree(wanted))) throw portTaken(wanted)
    return { server: await launch({ ...plan, port: wanted }), port: wanted }
  }
  let port = remembered !== undefined && (await isPortFree(remembered)) ? remembered : await freePort()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { server: await launch({ ...plan, port }), port }
    } catch (error) {
      if (!(error instanceof LocalPostgresError) || error.code !== 'port_taken' || attempt === PORT_TRIES) throw error
      port = await freePort()
    }
  }
}

async function control(
  plan: ServerPlan,
  first: RunningServer,
  adminUrl: string,
  log: (line: string) => void,
  onExit?: (how: string) => void,
): Promise<LocalPostgres> {
  const { folder, port } = plan
  let server = first
  let isUp = true
  let isReleased = false
  // For a process that ends without stopping its server, after an exception for example.
  const endWithProcess = (): void => {
    if (isUp) signalProcess(server.pid, 'SIGINT')
  }

  const take = async (started: RunningServer): Promise<void> => {
    server = started
    isUp = true
    void started.exited.then(async (how) => {
      if (server !== started || !isUp) return
      isUp = false
      const lines = await lastLines(logFileOf(folder), 0, 1)
      onExit?.(`${how}; the last line of ${logFileOf(folder)} is: ${lines[0] ?? ''}`)
    })
    await remember(folder, port, started.pid)
  }
  const stop = async (mode: StopMode): Promise<void> => {
    if (!isUp) return
    isUp = false
    await end(server, mode)
  }
  process.on('exit', endWithProcess)
  await take(first)

  return {
    adminUrl,
    port,
    dataDir: folder.path,
    logFile: logFileOf(folder),
    get pid() {
      return server.pid
    },
    urlFor: (login, database) => urlOf(folder, port, login, database),
    socketUrlFor: (login, database) => socketUrlOf(plan, login, database),
    async stop(mode = 'fast') {
      // Only once: later the data folder may belong to another start.
      if (isReleased) return
      isReleased = true
      await stop(mode)
      process.off('exit', endWithProcess)
      await writeRecord(folder, { port, server: null, owner: null })
    },
    async restart(mode = 'fast') {
      await stop(mode)
      await endLeftovers(folder, undefined, log)
      process.off('exit', endWithProcess)
      process.on('exit', endWithProcess)
      isReleased = false
      await take(await launch(plan))
    },
    async kill() {
      if (!isUp) return
      isUp = false
      signalProcess(server.pid, 'SIGKILL')
      await server.exited
    },
  }
}

async function remember(folder: DataFolder, port: number, pid: number): Promise<void> {
  await writeRecord(folder, { port, server: identifyProcess(pid) ?? null, owner: identifyProcess(process.pid) ?? null })
}
