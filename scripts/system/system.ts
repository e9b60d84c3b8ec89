import { join } from 'node:path'
import type { Settings } from '@muster/domain'
import { isPortFree, type LocalPostgres, takenBy } from '@muster/local-postgres'
import { configuredDatabase, type DatabaseUrls, startEmbeddedDatabase } from './database.ts'
import { type Environment, ROOT, type SystemEnvironment } from './environment.ts'
import { BrokenOffError, ExplainedError } from './errors.ts'
import { isShownAt } from './log-lines.ts'
import { type RunFile, takeDataDir } from './run-record.ts'
import { ensureSecretsKeysFile } from './secrets-keys.ts'
import { SupervisedProcess } from './supervised-process.ts'

/** How long `/readyz` may take to answer 200 after both processes are up. */
const READY_TIMEOUT_MS = 30_000
const READY_POLL_MS = 20
const DATABASE_BACKOFF_MS = 2_000
const QUIETER_THAN_INFO = new Set(['warn', 'error', 'fatal', 'silent'])

/** Receives the messages of a start. */
export type SystemOutput = {
  /** A sentence about the current step. */
  log: (line: string) => void
  /** A line that a process has written. */
  onLine: (source: 'api' | 'worker', line: string) => void
}

/** The running system: PostgreSQL (unless DATABASE_URL names one), API and worker, each a process of its own. */
export type System = {
  /** The address of the API. */
  address: string
  database: DatabaseUrls
  /** Ends everything in order: API and worker first, then the database. */
  stop: () => Promise<void>
  /** Ends everything at once. Committed data stays; the next start recovers. */
  kill: () => Promise<void>
}

/** What has been started so far. A failure ends exactly that. */
type Parts = { processes: SupervisedProcess[]; server: LocalPostgres | undefined; runFile: RunFile | undefined; isStopping: boolean }

/**
 * Starts everything and waits until the API is ready.
 *
 * @param starting receives `stop` and `kill` before anything runs, so that a start can be interrupted
 * @throws Error with what is wrong and what to do; nothing is left running
 */
export async function startSystem(
  { settings, environment }: SystemEnvironment,
  output: SystemOutput,
  starting: (ends: Pick<System, 'stop' | 'kill'>) => void = () => undefined,
): Promise<System> {
  const parts: Parts = { processes: [], server: undefined, runFile: undefined, isStopping: false }
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopped ??= stopParts(parts, settings)
    return stopped
  }
  const kill = (): Promise<void> => killParts(parts)
  starting({ stop, kill })
  try {
    parts.runFile = await takeDataDir(settings.DATA_DIR, output.log)
    await checkPort(settings)
    const database = await openDatabase(settings, parts, output)
    const address = await startProcesses(settings, { ...environment, ...(await secretsKeys(settings)) }, database, parts, output)
    await waitForReady(address, parts)
    return { address, database, stop, kill }
  } catch (error) {
    await stop()
    throw error
  }
}

/** On a machine of its own, Muster makes the key for secrets itself. With a DATABASE_URL, other processes may need the same. */
async function secretsKeys(settings: Settings): Promise<Environment> {
  if (settings.SECRETS_KEYS !== undefined || settings.DATABASE_URL !== undefined) return {}
  return { SECRETS_KEYS: await ensureSecretsKeysFile(settings) }
}

async function checkPort(settings: Settings): Promise<void> {
  if (settings.PORT === 0 || (await isPortFree(settings.PORT, settings.HOST))) return
  throw new ExplainedError(
    `Port ${settings.PORT} on ${settings.HOST} is already taken${takenBy(settings.PORT)} or cannot be listened on: stop that process, or choose another port (PORT=${settings.PORT + 1} npm start; PORT=0 takes any free one).`,
  )
}

async function openDatabase(settings: Settings, parts: Parts, { log }: SystemOutput): Promise<DatabaseUrls> {
  const configured = configuredDatabase(settings)
  if (configured !== undefined) {
    // The login of the processes may not change the schema. That of MIGRATE_DATABASE_URL may, so this start migrates.
    if (settings.MIGRATE_DATABASE_URL === undefined) log('using DATABASE_URL as it is; bring it to this version with: npm run migrate')
    else await (await loadMigrations()).migrateDatabase({ ...configured, log })
    await (await import('@muster/db')).requireUsableDatabase(configured.appUrl, { pooledUrl: configured.pooledUrl })
    return configured
  }
  log('starting PostgreSQL')
  // Loaded while PostgreSQL starts: it is a third of what this process loads, and needed only afterwards.
  const migrations = loadMigrations()
  // Reported where it is awaited, below. Until then it must not end this process as an unhandled rejection.
  migrations.catch(() => {})
  const { server, ...urls } = await startEmbeddedDatabase(settings, log, (how) => {
    log(`PostgreSQL has ended (${how})`)
    void bringBack(parts, log)
  })
  parts.server = server
  assertGoingOn(parts)
  await (await migrations).migrateDatabase({ ...urls, log })
  return urls
}

function loadMigrations(): Promise<typeof import('../migrate-database.ts')> {
  return import('../migrate-database.ts')
}

async function bringBack(parts: Parts, log: (line: string) => void): Promise<void> {
  while (!parts.isStopping) {
    log('starting PostgreSQL again')
    try {
      await parts.server?.restart()
      return
    } catch (error) {
      log((error as Error).message)
      await new Promise((resolve) => setTimeout(resolve, DATABASE_BACKOFF_MS))
    }
  }
}

async function startProcesses(settings: Settings, environment: Environment, database: DatabaseUrls, parts: Parts, output: SystemOutput): Promise<string> {
  // The processes do not need the login that may change the schema.
  const shared: Environment = { ...environment, DATABASE_URL: database.pooledUrl ?? database.appUrl, MIGRATE_DATABASE_URL: undefined }
  // A log line of level info reports that a process is up. It must be written even if the user hides that level.
  if (QUIETER_THAN_INFO.has(settings.LOG_LEVEL)) shared.LOG_LEVEL = 'info'
  let address: string | undefined
  const make = (name: 'api' | 'worker', readyMessage: string, own: () => Environment): SupervisedProcess => {
    const supervised = new SupervisedProcess({
      name: name === 'api' ? 'API' : 'worker',
      script: join(ROOT, 'apps', name, 'src', 'main.ts'),
      environment: () => ({ ...shared, ...own() }),
      readyMessage,
      onLine: (line) => {
        if (isShownAt(settings.LOG_LEVEL, line)) output.onLine(name, line)
      },
      onPid: (pid) => parts.runFile?.setChild(name, pid),
      log: output.log,
    })
    parts.processes.push(supervised)
    return supervised
  }

  // With PORT=0 the system chooses a port once. A restarted API has to use the same one.
  const api = make('api', 'listening', () => (address === undefined ? {} : { PORT: new URL(address).port }))
  const worker = make('worker', 'ready', () => ({ PUBLIC_URL: settings.PUBLIC_URL ?? address ?? addressOf(settings) }))
  const startApi = async (): Promise<string> => {
    const { address: heard } = await api.start()
    if (typeof heard !== 'string') throw new ExplainedError('The API did not report its address.')
    address = heard
    parts.runFile?.setAddress(heard)
    return heard
  }

  assertGoingOn(parts)
  output.log('starting the API and the worker')
  // Programs of the worker need the address of the API. If it is known in advance, both start at once.
  if (settings.PORT !== 0) return (await Promise.all([startApi(), worker.start()]))[0]
  const found = await startApi()
  assertGoingOn(parts)
  await worker.start()
  return found
}

/** The address of an API with these settings, as seen from this machine. */
function addressOf({ HOST, PORT }: Settings): string {
  const host = HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '::1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}

async function waitForReady(address: string, parts: Parts): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS
  let last = 'no answer'
  while (performance.now() < deadline) {
    assertGoingOn(parts)
    const answer = await fetch(new URL('/readyz', address)).catch((error: Error) => error)
    if (!(answer instanceof Error)) {
      if (answer.ok) return
      last = `${answer.status} ${await answer.text()}`
    } else last = answer.message
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS))
  }
  throw new ExplainedError(`The API at ${address} is not ready after ${READY_TIMEOUT_MS / 1000} s: ${last}`)
}

async function stopParts(parts: Parts, settings: Settings): Promise<void> {
  parts.isStopping = true
  await Promise.all(parts.processes.map((each) => each.stop(settings.SHUTDOWN_GRACE_SECONDS * 1000)))
  await parts.server?.stop('fast')
  await parts.runFile?.remove()
}

async function killParts(parts: Parts): Promise<void> {
  parts.isStopping = true
  for (const each of parts.processes) each.kill()
  await parts.server?.stop('immediate')
  await parts.runFile?.remove()
}

/** Ends a start that was asked to stop. */
function assertGoingOn(parts: Parts): void {
  if (parts.isStopping) throw new BrokenOffError()
}
