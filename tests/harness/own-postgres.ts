import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'
import { type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import type { TestDatabase } from '@muster/testing'

/** A PostgreSQL of a test's own, which it may stop, kill and start again. */
export interface OwnPostgres {
  server: LocalPostgres
  database: TestDatabase
}

/** Starts it, with a migrated database. `database.drop` ends it and removes its files. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), `muster-tests-${process.pid}-`))
  // The server may have to run as another user, who must be able to enter.
  await chmod(dataDir, 0o755)
  // Commits reach the kernel, which outlives the server; only a power cut would show the difference.
  const server = await startLocalPostgres({ dataDir, settings: { fsync: 'off' } })
  const appUrl = await server.urlFor('muster', 'muster')
  await migrate({ adminUrl: server.adminUrl, appUrl })
  const adminUrl = new URL(server.adminUrl)
  adminUrl.pathname = '/muster'
  await installQueues(adminUrl.href)
  return {
    server,
    database: {
      appUrl,
      adminUrl: adminUrl.href,
      name: 'muster',
      async drop() {
        await server.stop('immediate')
        await removeLocalPostgres(dataDir)
      },
    },
  }
}
