import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable, UnmigratedDatabaseError } from '@muster/db'
import { errorForLog, parseSettings, type Settings, SettingsError } from '@muster/domain'
import pino from 'pino'
import { composeWorker, type WorkerDeps } from './deps.ts'
import { startWorker, type Worker } from './worker.ts'
import { requireDataDir } from './workspaces.ts'

const RETRY_MS = 1_000

function readSettings(): Settings & { DATABASE_URL: string } {
  try {
    const settings = parseSettings(process.env)
    if (settings.DATABASE_URL === undefined) throw new SettingsError(['DATABASE_URL: is needed; `npm start` brings a database of its own'])
    return { ...settings, DATABASE_URL: settings.DATABASE_URL }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

const settings = readSettings()
// Written behind the work, in larger pieces; what is left is written when the process ends.
const log = pino({ level: settings.LOG_LEVEL, base: { process: 'worker' }, serializers: { err: errorForLog } }, pino.destination({ sync: false }))

const stopped = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopped.abort(signal))

async function startWhenReachable(): Promise<{ deps: WorkerDeps; worker: Worker } | null> {
  let complaint: string | undefined
  while (!stopped.signal.aborted) {
    let deps: WorkerDeps | undefined
    try {
      await requireDataDir(settings.DATA_DIR)
      deps = await composeWorker(settings, { databaseUrl: settings.DATABASE_URL, log, environment: process.env })
      return { deps, worker: await startWorker(deps) }
    } catch (error) {
      await deps?.close().catch((second: unknown) => log.debug({ err: second }, 'could not close what was begun'))
      const message = error instanceof Error ? error.message : String(error)
      if (!isDatabaseUnavailable(error) && !(error instanceof UnmigratedDatabaseError)) {
        log.fatal(message)
        log.debug({ err: error }, 'could not start')
        process.exit(1)
      }
      if (message !== complaint) log.warn(`waiting for the database: ${message}`)
      complaint = message
      await sleep(RETRY_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
    }
  }
  return null
}

const started = await startWhenReachable()
if (started !== null) {
  const { deps, worker } = started
  log.info({ worker_id: deps.workerId, runners: [...deps.runners.keys()], capacity: settings.SUBTASK_WORKERS }, 'ready')
  if (!stopped.signal.aborted) await new Promise((resolve) => stopped.signal.addEventListener('abort', resolve, { once: true }))
  log.info({ running: worker.running }, 'stopping')
  setTimeout(() => {
    log.error('could not end in time; what still ran is taken over by others')
    process.exit(1)
  }, settings.SHUTDOWN_GRACE_SECONDS * 1_000).unref()
  await worker.stop()
  await deps.close()
}
log.info('stopped')
// Everything is given back and closed. A driver's leftover socket that is still trying to reach a database must not hold the process.
process.exit(0)
