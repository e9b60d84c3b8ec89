import { randomBytes } from 'node:crypto'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'
import { removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import postgres from 'postgres'
import { keep } from './live.ts'

/** The PostgreSQL that everything is measured on. */
export interface BenchServer extends AsyncDisposable {
  /** Version, and the settings that decide what a commit costs. */
  describe(): Promise<Record<string, string>>
  /** A database of the product, as the migrate step leaves it. */
  musterDatabase(): Promise<BenchDatabase>
  /** An empty database, for others to install themselves in. */
  emptyDatabase(): Promise<BenchDatabase>
  /** Transactions that were committed in a database by sessions that have ended. */
  transactions(database: BenchDatabase): Promise<number>
  admin: postgres.Sql
  /** Its first process; none where the server is not of this machine. */
  pids(): Promise<number[]>
  /** Where an embedded server writes its log. */
  logFile: string | null
}

export interface BenchDatabase extends AsyncDisposable {
  name: string
  /** The processes' login, confined by row-level security. */
  appUrl: string
  /** A superuser, or the given login. By the server's socket where it is embedded, as for the processes of `npm start`, and also for peers. */
  adminUrl: string
  admin: postgres.Sql
}

const SHOWN = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'wal_sync_method', 'max_connections']

/**
 * Starts an embedded PostgreSQL in `folder` with the settings of `npm start`, or uses a given one.
 *
 * @param givenUrl a login that may create databases and roles; what is created there is removed at the end
 * @param settings settings of the embedded server on top of its own, for profiles
 */
export async function openServer(folder: string, givenUrl: string | undefined, settings: Record<string, string>): Promise<BenchServer> {
  const server =
    givenUrl === undefined ? await startEmbedded(folder, settings) : { adminUrl: givenUrl, fastestUrl: givenUrl, logFile: null, stop: async () => {} }
  const run = `muster_bench_${randomBytes(4).toString('hex')}`
  const admin = open(server.adminUrl)
  const login = new URL(server.fastestUrl)
  login.username = run
  login.password = randomBytes(24).toString('base64url')
  let made = 0

  const at = (url: URL | string, name: string): string => {
    const changed = new URL(url)
    changed.pathname = `/${name}`
    return changed.href
  }
  const create = async (template: string): Promise<BenchDatabase> => {
    made += 1
    const name = `${run}_${made}`
    await admin`create database ${admin(name)} template ${admin(template)}`
    const sql = open(at(server.adminUrl, name))
    return keep({ name, appUrl: at(login, name), adminUrl: at(server.fastestUrl, name), admin: sql }, async () => {
      await sql.end({ timeout: 1 })
      await admin`drop database if exists ${admin(name)} with (force)`
    })
  }
  const bench = keep(
    {
      admin,
      logFile: server.logFile,
      async pids() {
        if (givenUrl !== undefined) return []
        const [row] = await admin<{ text: string }[]>`select pg_read_file('postmaster.pid', 0, 20) as text`
        return [Number.parseInt(row?.text ?? '', 10)]
      },
      async describe() {
        const rows = await admin<
          { name: string; setting: string }[]
        >`select name, current_setting(name) as setting from pg_settings where name = any(${SHOWN}) order by name`
        return Object.fromEntries(rows.map((row) => [row.name, row.setting]))
      },
      musterDatabase: () => create(`${run}_template`),
      emptyDatabase: () => create('template0'),
      async transactions({ name }: BenchDatabase) {
        // A session hands its counts in when it ends, and its process ends a little after its client.
        for (;;) {
          const [open] =
            await admin`select from pg_stat_activity where datname = ${name} and backend_type = 'client backend' and application_name <> 'muster-bench'`
          if (open === undefined) break
          await sleep(20)
        }
        const [row] = await admin<{ count: string }[]>`select xact_commit as count from pg_stat_database where datname = ${name}`
        return Number(row?.count)
      },
    },
    async () => {
      if (givenUrl !== undefined) {
        await admin`drop database if exists ${admin(`${run}_template`)} with (force)`
        await admin`drop role if exists ${admin(run)}`
      }
      await admin.end({ timeout: 1 })
      await server.stop()
    },
  )
  const templateUrl = at(login, `${run}_template`)
  await migrate({ adminUrl: server.adminUrl, appUrl: templateUrl, installQueues })
  return bench
}

async function startEmbedded(
  folder: string,
  settings: Record<string, string>,
): Promise<{ adminUrl: string; fastestUrl: string; logFile: string; stop: () => Promise<void> }> {
  const dataDir = join(folder, 'postgres')
  await mkdir(dataDir)
  // The server may have to run as another user, who must be able to enter.
  await chmod(folder, 0o755)
  await chmod(dataDir, 0o755)
  const server = await startLocalPostgres({ dataDir, settings })
  const kept = keep({}, async () => {
    await server.stop('fast')
    await removeLocalPostgres(dataDir)
  })
  return {
    adminUrl: server.adminUrl,
    fastestUrl: await server.socketUrlFor('postgres', 'postgres'),
    logFile: server.logFile,
    stop: async () => await kept[Symbol.asyncDispose](),
  }
}

function open(url: string): postgres.Sql {
  return postgres(url, { max: 2, onnotice: () => {}, connection: { application_name: 'muster-bench' } }) as unknown as postgres.Sql
}
