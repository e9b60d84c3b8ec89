import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'

const MIGRATIONS = fileURLToPath(new URL('../../../drizzle/', import.meta.url))
const LOCK_KEY = 7300
const NO_TRANSACTION = /^\s*--\s*no-transaction\b/
const BREAKPOINT = '--> statement-breakpoint'

export interface MigrateOptions {
  /** A role that may create tables and roles. Its database part is ignored: the database of `appUrl` is migrated. */
  adminUrl: string
  /** What the processes will connect with. Its database and its login are created when they are missing. */
  appUrl: string
  log?: (message: string) => void
}

/**
 * Brings the database of `appUrl` to this version's schema. Safe to run at once from several places and again at any time.
 * A file runs in one transaction together with the note that it ran, unless its first line is `-- no-transaction`.
 *
 * Drizzle's own migrator wraps all files in one transaction, which rules out what cannot run in one (CREATE INDEX CONCURRENTLY).
 */
export async function migrate({ adminUrl, appUrl, log = () => {} }: MigrateOptions): Promise<void> {
  const app = new URL(appUrl)
  const databaseName = decodeURIComponent(app.pathname.slice(1))
  if (databaseName === '') throw new Error('DATABASE_URL names no database; write postgres://user:password@host:5432/muster')
  const admin = await createDatabase(adminUrl, databaseName)
  const sql = postgres(withDatabase(adminUrl, databaseName), {
    max: 1,
    onnotice: () => {},
    connection: { application_name: 'muster-migrate', lock_timeout: 10_000 },
  })
  try {
    await sql`select pg_advisory_lock(${LOCK_KEY}::bigint)`
    await sql`create schema if not exists muster_migrations`
    await sql`create table if not exists muster_migrations.applied (name text primary key, applied_at timestamptz not null default clock_timestamp())`
    for (const name of await pendingMigrations(sql)) {
      log(`migrating: ${name}`)
      await applyMigration(sql, name)
    }
    await allowLogin(sql, app, admin)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function createDatabase(adminUrl: string, databaseName: string): Promise<string> {
  const adminDatabase = decodeURIComponent(new URL(adminUrl).pathname.slice(1))
  const sql = postgres(adminDatabase === databaseName ? adminUrl : withDatabase(adminUrl, adminDatabase || 'postgres'), { max: 1, onnotice: () => {} })
  try {
    const [server] = await sql<{ version: number; login: string }[]>`select current_setting('server_version_num')::int as version, session_user as login`
    if (server === undefined || server.version < 160_000) throw new Error(`PostgreSQL 16 or newer is needed; this server is ${server?.version}`)
    const [existing] = await sql`select from pg_database where datname = ${databaseName}`
    if (existing === undefined) {
      await sql`create database ${sql(databaseName)}`.catch((error: { code?: string }) => {
        if (error.code !== '42P04' && error.code !== '23505') throw error // somebody else created it at the same moment
      })
    }
    return server.login
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function pendingMigrations(sql: postgres.Sql): Promise<string[]> {
  const journal = JSON.parse(await readFile(`${MIGRATIONS}meta/_journal.json`, 'utf8')) as { entries: { tag: string }[] }
  const applied = new Set((await sql<{ name: string }[]>`select name from muster_migrations.applied`).map((row) => row.name))
  return journal.entries.map((entry) => entry.tag).filter((name) => !applied.has(name))
}

async function applyMigration(sql: postgres.Sql, name: string): Promise<void> {
  const text = await readFile(`${MIGRATIONS}${name}.sql`, 'utf8')
  const note = (run: postgres.Sql) => run`insert into muster_migrations.applied (name) values (${name})`
  if (NO_TRANSACTION.test(text)) {
    for (const statement of text.split(BREAKPOINT)) await sql.unsafe(statement)
    await note(sql)
    return
  }
  await sql.begin(async (transaction) => {
    for (const statement of text.split(BREAKPOINT)) await transaction.unsafe(statement)
    await note(transaction as unknown as postgres.Sql)
  })
}

/** Creates the processes' login, if it is not the migrating one, and lets it work as the two confined roles, but not inherit them. */
async function allowLogin(sql: postgres.Sql, app: URL, admin: string): Promise<void> {
  const login = decodeURIComponent(app.username)
  if (login !== admin) {
    const password = decodeURIComponent(app.password).replaceAll("'", "''")
    const [existing] = await sql`select from pg_roles where rolname = ${login}`
    const attributes = sql.unsafe(`login nosuperuser nobypassrls nocreaterole nocreatedb password '${password}'`)
    try {
      if (existing === undefined) await sql`create role ${sql(login)} ${attributes}`
    } catch (error) {
      if (!['42710', '23505'].includes((error as { code: string }).code)) throw error
    }
    await sql`grant connect on database ${sql(decodeURIComponent(app.pathname.slice(1)))} to ${sql(login)}`
  }
  for (const role of ['muster_app', 'muster_dispatch']) await sql`grant ${sql(role)} to ${sql(login)} with inherit false, set true`
}

function withDatabase(url: string, databaseName: string): string {
  const changed = new URL(url)
  changed.pathname = `/${encodeURIComponent(databaseName)}`
  return changed.href
}
