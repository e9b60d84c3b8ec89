import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'
import { removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import postgres from 'postgres'
import { DATABASE_FOLDERS, databaseFolder } from './database-folder.ts'

/** The one PostgreSQL of a test run, with the template that every test file copies. */
export interface TestServer {
  /** A superuser's address: assertions look past row-level security, which binds even the owner of the tables. */
  adminUrl: string
  /** The processes' login, in the template database. */
  templateUrl: string
  /** Removes everything that the run has made. */
  close(): Promise<void>
}

const FOLDER = /^muster-tests-(\d+)-/

/**
 * Starts PostgreSQL in a folder of its own, or takes the server of `TEST_DATABASE_URL` (a superuser's address), and makes the
 * template database in it. All names carry a random part, so that several runs may share one server.
 */
export async function startTestServer(givenUrl: string | undefined): Promise<TestServer> {
  const server = givenUrl === undefined || givenUrl === '' ? await startOwnServer() : { adminUrl: givenUrl, stop: async () => {} }
  const run = randomBytes(4).toString('hex')
  const login = `muster_test_${run}`
  const template = new URL(server.adminUrl)
  template.username = login
  template.password = randomBytes(24).toString('base64url')
  template.pathname = `/${login}_template`
  try {
    await migrate({ adminUrl: server.adminUrl, appUrl: template.href, installQueues })
    await asAdmin(server.adminUrl, (sql) => sql`alter database ${sql(`${login}_template`)} with allow_connections false`)
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    adminUrl: server.adminUrl,
    templateUrl: template.href,
    async close() {
      // A server of our own is removed whole; on a given server nothing may be left behind.
      if (givenUrl !== undefined && givenUrl !== '') await asAdmin(server.adminUrl, (sql) => dropAll(sql, login))
      await server.stop()
    },
  }
}

async function startOwnServer(): Promise<{ adminUrl: string; stop: () => Promise<void> }> {
  await removeAbandoned()
  const dataDir = await mkdtemp(join(databaseFolder(), `muster-tests-${process.pid}-`))
  // The server may have to run as another user, who must be able to enter.
  await chmod(dataDir, 0o755)
  const server = await startLocalPostgres({
    dataDir,
    // Nothing here has to outlive a power cut. Commits still reach the kernel, so killing the server loses nothing either.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '400', autovacuum_naptime: '5s' },
  })
  return {
    adminUrl: server.adminUrl,
    async stop() {
      await server.stop('immediate')
      await removeLocalPostgres(dataDir)
    },
  }
}

/** Ends the servers of test runs that were killed before they could, and removes their files. */
async function removeAbandoned(): Promise<void> {
  for (const folder of DATABASE_FOLDERS) {
    for (const name of await readdir(folder).catch(() => [])) {
      const pid = Number(FOLDER.exec(name)?.[1] ?? 0)
      if (pid > 0 && !isAlive(pid)) await removeLocalPostgres(join(folder, name)).catch(() => {})
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

async function dropAll(sql: postgres.Sql, login: string): Promise<void> {
  const databases = await sql<{ name: string }[]>`select datname as name from pg_database where starts_with(datname, ${`${login}_`})`
  for (const { name } of databases) await sql`drop database if exists ${sql(name)} with (force)`
  await sql`drop role if exists ${sql(login)}`
}

async function asAdmin(adminUrl: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
