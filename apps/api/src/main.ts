import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { readConfig } from './config.ts'
import { createDeps } from './deps.ts'
import { createLog } from './log.ts'

/** The API process: settings, dependencies, app, listen; and the same backwards when it is told to stop. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const { settings } = config
  const log = createLog(settings.LOG_LEVEL)
  const deps = createDeps(config, log)
  const app = await buildApp(deps)

  let fatal: Error | undefined
  const grace = closeWithGrace(
    { delay: settings.SHUTDOWN_GRACE_SECONDS * 1000, logger: false, onTimeout: () => log.error({}, 'did not stop in time') },
    async ({ err, signal }) => {
      if (err === undefined) log.info({ signal }, 'stopping')
      else log.error({ err }, 'stopping after an error that nobody handled')
      // Streams and long polls would hold the server open for as long as their readers like.
      deps.beginStop()
      await app.close()
      await deps.close()
      log.info({}, 'stopped')
      // Rejecting is what makes the exit code 1.
      if (fatal !== undefined) throw fatal
    },
  )

  try {
    const address = await app.listen({ host: settings.HOST, port: settings.PORT })
    log.info({ address, auth: settings.AUTH }, 'listening')
  } catch (error) {
    grace.uninstall()
    await deps.close()
    throw new Error(explainListen(error as NodeJS.ErrnoException, settings.HOST, settings.PORT))
  }
  deps.start((error) => {
    fatal = error
    fail(error)
    grace.close()
  })
}

function explainListen(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is already taken: stop that process, or choose another port with PORT (PORT=0 takes any free one).`
    case 'EACCES':
      return `Port ${port} on ${host} may not be used by this user: choose a PORT above 1023.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST=${host} is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all of its addresses.`
    default:
      return `Cannot listen on ${host}:${port}: ${error.message}`
  }
}

/** What a person has to read, without a stack that says nothing to them. */
function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

await main().catch(fail)
