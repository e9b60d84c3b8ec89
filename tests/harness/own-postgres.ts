import { chmod, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'
import { type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import type { SmallDisk, TestDatabase } from '@muster/testing'
import type postgres from 'postgres'

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
  const dataDir = disk === undefined ? await mkdtemp(join(tmpdir(), `muster-tests-${process.pid}-`)) : join(disk.path, 'postgres')
  if (disk !== undefined) await mkdir(dataDir)
  // The server may have to run as another user, who must be able to enter.
  await chmod(dataDir, 0o755)
  // Commits reach the kernel, which outlives the server; only a power cut would show the difference.
  const server = await startLocalPostgres({ dataDir, settings: { fsync: 'off', ...(disk === undefined ? {} : SMALL_LOG) } })
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

const SEGMENTS_IN_RESERVE = 4

/**
 * Has the server keep segments of its log for later, so that it can go on writing its log for a while when the disk is full: without room for its log
 * it ends itself.
 */
export async function reserveLog(admin: postgres.Sql): Promise<void> {
  for (let segment = 0; segment < SEGMENTS_IN_RESERVE; segment += 1) {
    await admin`select pg_logical_emit_message(false, 'reserve', 'a switch of segments needs something in the old one')`
    await admin`select pg_switch_wal()`
  }
  await admin`checkpoint`
}
