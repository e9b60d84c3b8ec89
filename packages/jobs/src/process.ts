import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorForLog, type ProcessSettings, parseProcessSettings, SettingsError, type Tracing } from '@muster/domain'
import pino, { type Logger } from 'pino'
import { startTracing, wantsTracing } from './tracing.ts'

/** Longest time to wait until the last lines of the log are written. */
const LAST_LINES_MS = 500
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const

/** What the API and a worker are started with. */
export interface ProcessContext {
  settings: ProcessSettings
  /** The whole environment: its PATH decides which programs are found. */
  environment: Record<string, string | undefined>
  /** One JSON object a line. Ids only, never bodies, keys or prompts. */
  log: Logger
  /** Aborted when the process begins to stop. */
  stopping: AbortSignal
  /** Absent unless the variables of OpenTelemetry ask for it. */
  tracing?: Tracing
  /** Takes what has been started. It is closed in reverse order when the process stops, and when it cannot start. */
  started: AsyncDisposableStack
}

/**
 * Runs the API or a worker, from its settings to its exit. When `start` resolves, its fields go into the log line `ready`. SIGTERM closes what was
 * started: exit code 0. So does an error that is handled nowhere, with exit code 1. After SHUTDOWN_GRACE_SECONDS the process exits with 1 in any case.
 * SIGUSR2 changes the level of the log, until the process ends.
 */
export async function runProcess(
  name: 'api' | 'worker',
  environment: ProcessContext['environment'],
  start: (context: ProcessContext) => Promise<object>,
): Promise<never> {
  const settings = readSettings(environment)
  // Written behind the work, in larger pieces.
  const output = pino.destination({ sync: false })
  const log = pino({ level: settings.LOG_LEVEL, base: { process: name }, serializers: { err: errorForLog } }, output)
  const stopping = new AbortController()
  const started = new AsyncDisposableStack()
  let exitCode = 0

  const stop = (signal?: string) => {
    if (stopping.signal.aborted) return
    if (signal !== undefined) log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.error('did not stop in time')
      process.exit(1)
    }, settings.SHUTDOWN_GRACE_SECONDS * 1_000)
    stopping.abort()
  }
  process.on('SIGUSR2', () => changeLevel(log, settings.LOG_LEVEL))
  for (const signal of SIGNALS) process.on(signal, () => stop(signal))
  process.on('uncaughtException', (error) => {
    exitCode = 1
    log.error({ err: error }, 'stopping after an error that was handled nowhere')
    stop()
  })

  try {
    const tracing = wantsTracing(environment) ? await startTracing(`muster-${name}`, environment) : undefined
    // First in, so that the spans of everything else are sent.
    if (tracing !== undefined) started.defer(() => tracing.close())
    const fields = await start({ settings, environment, log, stopping: stopping.signal, started, ...(tracing && { tracing }) })
    if (!stopping.signal.aborted) {
      log.info({ ...fields, pid: process.pid }, 'ready')
      await once(stopping.signal, 'abort')
    }
  } catch (error) {
    exitCode = 1
    log.debug({ err: error }, 'could not start')
    log.fatal(error instanceof Error ? error.message : String(error))
    stop()
  }
  try {
    await started.disposeAsync()
  } catch (error) {
    exitCode = 1
    log.error({ err: error }, 'could not close everything')
  }
  if (exitCode === 0) log.info('stopped')
  output.end()
  // A reader that is gone does not let it close.
  await Promise.race([once(output, 'close').catch(() => undefined), sleep(LAST_LINES_MS)])
  // Everything is closed. A socket of the driver that still tries to reach a database must not hold the process.
  process.exit(exitCode)
}

/** Debug shows requests and claims, warn leaves out all that is usual. */
const LEVELS = ['debug', 'info', 'warn']

/** The next level, and after the last one the first. The line that says so is written whatever the level is, as one that a filter lets through. */
function changeLevel(log: Logger, configured: string): void {
  log.level = LEVELS[(LEVELS.indexOf(log.level) + 1) % LEVELS.length] as string
  log.warn({ log_level: log.level, configured }, 'changed the level of the log')
}

function readSettings(environment: ProcessContext['environment']): ProcessSettings {
  try {
    return parseProcessSettings(environment)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
