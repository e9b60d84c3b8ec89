import { chmod, mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'
import { type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import { databaseFolder, type SmallDisk, type TestDatabase } from '@muster/testing'

/** A PostgreSQL of a test's own, which it may stop, kill and start again. */
export interface OwnPostgres {
  server: LocalPostgres
  database: TestDatabase
}

/** Write-ahead log within a small disk: room for a few segments, which are kept and used again. */
const SMALL_LOG = { min_wal_size: '96MB', max_wal_size: '128MB' }

/**
 * Starts it, with a migrated database. `database.drop` ends it and removes its files.
 *
 * @param disk holds all its files, in 320 MB or more
 */
export async function startOwnPostgres(disk?: SmallDisk): Promise<OwnPostgres> {
  const dataDir = disk === undefined ? await mkdtemp(join(databaseFolder(), `muster-tests-${process.pid}-`)) : join(disk.path, 'postgres')
  if (disk !== undefined) await mkdir(dataDir)
  // The server may have to run as another user, who must be able to enter.
  await chmod(dataDir, 0o755)
  // Commits reach the kernel, which outlives the server; only a power cut would show the difference.
  const server = await startLocalPostgres({ dataDir, settings: { fsync: 'off', ...(disk === undefined ? {} : SMALL_LOG) } })
  const appUrl = await server.urlFor('muster', 'muster')
  await migrate({ adminUrl: server.adminUrl, appUrl, installQueues })
  const adminUrl = new URL(server.adminUrl)
  adminUrl.pathname = '/muster'
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
