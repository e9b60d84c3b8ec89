import { runProcess } from '@muster/jobs'
import { announceRetention } from '@muster/usecases'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { createBackground } from './background.ts'
import { createDeps } from './deps.ts'

/** The API process. It listens before its database is usable, and answers 503 until then. */
await runProcess('api', process.env, async (context) => {
  const { settings, log, started } = context
  const deps = createDeps(context)
  started.defer(() => deps.close())
  const background = createBackground(deps)
  started.defer(() => background.stop())
  const app = await buildApp(deps)
  started.defer(() => app.close())
  const address = await listen(app, settings.HOST, settings.PORT)
  log.info({ address, auth: settings.AUTH }, 'listening')
  announceRetention(deps)
  await background.start()
  return { address }
})

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    throw new Error(explainListen(error as NodeJS.ErrnoException, host, port))
  }
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
