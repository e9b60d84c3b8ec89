import type { TestProject } from 'vitest/node'
import { startTestServer, type TestServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresAdminUrl: string
    postgresTemplateUrl: string
  }
}

interface SharedServer {
  started: Promise<TestServer>
  users: number
}

/** Where the projects of one run share their server: each of them loads this module anew, but in the same process. */
const shared = globalThis as { musterTestServer?: SharedServer | undefined }

/**
 * One PostgreSQL for the whole run, whichever projects take part. It ends with the last of them; when the run is cut short, it
 * ends with the process, and what even that leaves behind is removed by the next run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.musterTestServer ??= { started: startTestServer(process.env.TEST_DATABASE_URL), users: 0 }
  const server = shared.musterTestServer
  server.users += 1
  const { adminUrl, templateUrl } = await server.started
  project.provide('postgresAdminUrl', adminUrl)
  project.provide('postgresTemplateUrl', templateUrl)
  return async () => {
    server.users -= 1
    if (server.users > 0) return
    shared.musterTestServer = undefined
    await (await server.started).close()
  }
}
