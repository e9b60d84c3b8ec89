import { parseDatabaseAddress, withDatabaseName } from '@muster/domain'
import type postgres from 'postgres'
import { knownMigrations, migrationText, REPLACED_MIGRATIONS, SQUASHED_MIGRATIONS } from './migration-files.ts'
import { ENDS_OF_VANISHED, open } from './open.ts'
import { explainDatabaseError, placeOf, requireKnownMigrations, requireServerVersion, requireTakeover, UnusableDatabaseError } from './unusable-database.ts'

const LOCK_KEY = 7300
const NO_TRANSACTION = /^\s*--\s*no-transaction\b/
const BREAKPOINT = '--> statement-breakpoint'

export interface MigrateOptions {
  /**
   * A login that may create tables and roles. Its own database only serves to create that of `appUrl`, which is migrated, and may be missing.
   */
  adminUrl: string
  /** The address of the processes. Its database and its login are created if they are missing. */
  appUrl: string
  log?: (message: string) => void
  /** Installs what other packages need, after the tables and over the same connection. */
  installQueues?: (database: { sql: postgres.Sql }) => Promise<void>
}

/**
 * Brings the database of `appUrl` to this version's schema. Several runs at once, and repeated ones, are safe.
 * A file and the record that it ran are one transaction, unless its first line is `-- no-transaction`.
 *
 * Drizzle's own migrator wraps all files in one transaction, which excludes statements such as CREATE INDEX CONCURRENTLY.
 *
 * @throws UnusableDatabaseError one sentence that says what is wrong with the server, the login or the database, and what to do
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  try {
    await bringUp(options)
  } catch (error) {
    throw explainDatabaseError(error, options.adminUrl, 'MIGRATE_DATABASE_URL')
  }
}

async function bringUp({ adminUrl, appUrl, installQueues, log = () => {} }: MigrateOptions): Promise<void> {
  const place = placeOf(appUrl)
  if (place.database === '' || place.login === '') {
    throw new UnusableDatabaseError(`DATABASE_URL names no ${place.database === '' ? 'database' : 'login'}: write postgres://user:password@host:5432/muster.`)
  }
  if (place.login === placeOf(adminUrl).login) {
    throw new UnusableDatabaseError(
      `The login ${place.login} of DATABASE_URL would own the tables, and API and worker refuse to work as their owner: set MIGRATE_DATABASE_URL to a login ` +
        'that may create databases and roles, and DATABASE_URL to another one, which `npm run migrate` creates.',
    )
  }
  await createDatabase(adminUrl, place.database)
  const sql = open(withDatabaseName(adminUrl, place.database), {
    max: 1,
    connection: { application_name: 'muster-migrate', lock_timeout: 10_000, ...ENDS_OF_VANISHED },
  })
  try {
    await sql`select pg_advisory_lock(${LOCK_KEY}::bigint)`
    await sql`create schema if not exists muster_migrations`
    await sql`create table if not exists muster_migrations.applied (name text primary key, applied_at timestamptz not null default clock_timestamp())`
    const applied = (await sql<{ name: string }[]>`select name from muster_migrations.applied`).map((row) => row.name)
    const known = await knownMigrations()
    requireKnownMigrations(applied, known, place)
    if (applied.some((name) => REPLACED_MIGRATIONS.includes(name)) && !SQUASHED_MIGRATIONS.every((name) => applied.includes(name))) {
      requireTakeover(applied, place)
      await applyMissing(sql, REPLACED_MIGRATIONS, applied, log)
      // If this process ends before this statement, the next one finds nothing missing and comes here again.
      await sql`insert into muster_migrations.applied ${sql(SQUASHED_MIGRATIONS.map((name) => ({ name })))}`
      applied.push(...SQUASHED_MIGRATIONS)
      log('taken over from an earlier version')
    }
    await applyMissing(sql, known, applied, log)
    await letOwnerSee(sql)
    // Processes compare the applied migrations with those they know.
    await sql`grant usage on schema muster_migrations to muster_app, muster_dispatch`
    await sql`grant select on muster_migrations.applied to muster_app, muster_dispatch`
    await allowLogin(sql, appUrl)
    await installQueues?.({ sql })
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function createDatabase(adminUrl: string, databaseName: string): Promise<void> {
  const { sql, version } = await openServer(adminUrl)
  try {
    requireServerVersion(version, placeOf(adminUrl), 'MIGRATE_DATABASE_URL')
    const [existing] = await sql`select from pg_database where datname = ${databaseName}`
    if (existing === undefined) {
      await sql`create database ${sql(databaseName)}`.catch((error: { code?: string }) => {
        if (error.code !== '42P04' && error.code !== '23505') throw error // another migrate step created it at the same moment
      })
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Connects to the database of the address, or, if it is missing, to one that every server has. */
async function openServer(adminUrl: string, fallbacks = ['postgres', 'template1']): Promise<{ sql: postgres.Sql; version: number }> {
  const sql = open(adminUrl, { max: 1, connect_timeout: 5 })
  try {
    const [server] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`
    return { sql, ...server }
  } catch (error) {
    await sql.end({ timeout: 5 })
    const [next, ...others] = fallbacks
    if ((error as { code?: string }).code !== '3D000' || next === undefined) throw error
    return await openServer(withDatabaseName(adminUrl, next), others)
  }
}

/**
 * Forced row-level security binds the owner of the tables too: an owner that is no superuser would see no row, and a migration that changes rows would
 * change none, without an error. So the owner has a policy of its own, which no process can use: a start is refused to logins that are or may become
 * the owner.
 */
async function letOwnerSee(sql: postgres.Sql): Promise<void> {
  const tables = await sql<{ name: string; owner: string }[]>`
    select c.oid::regclass::text as name, quote_ident(o.rolname) as owner
    from pg_class c join pg_roles o on o.oid = c.relowner
    where c.relnamespace = 'public'::regnamespace and c.relforcerowsecurity and not c.relispartition and not (o.rolsuper or o.rolbypassrls)
      and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'owner' and p.polroles = array[c.relowner])`
  for (const { name, owner } of tables) {
    await sql.unsafe(`drop policy if exists owner on ${name}`)
    await sql.unsafe(`create policy owner on ${name} to ${owner} using (true) with check (true)`)
  }
}

async function applyMissing(sql: postgres.Sql, names: readonly string[], applied: readonly string[], log: (message: string) => void): Promise<void> {
  for (const name of names) {
    if (applied.includes(name)) continue
    log(`migrating: ${name}`)
    await applyMigration(sql, name)
  }
}

async function applyMigration(sql: postgres.Sql, name: string): Promise<void> {
  const text = await migrationText(name)
  const note = (run: postgres.Sql) => run`insert into muster_migrations.applied (name) values (${name})`
  if (NO_TRANSACTION.test(text)) {
    await letOwnerSee(sql)
    for (const statement of text.split(BREAKPOINT)) await sql.unsafe(statement)
    await note(sql)
    return
  }
  await sql.begin(async (transaction) => {
    await letOwnerSee(transaction as unknown as postgres.Sql)
    for (const statement of text.split(BREAKPOINT)) await transaction.unsafe(statement)
    await note(transaction as unknown as postgres.Sql)
  })
}

/** Creates the login of the processes if it is missing, and lets it switch to the two confined roles, but not inherit them. */
async function allowLogin(sql: postgres.Sql, appUrl: string): Promise<void> {
  const { user: login, database, password: given } = parseDatabaseAddress(appUrl)
  const password = given.replaceAll("'", "''")
  const [existing] = await sql`select from pg_roles where rolname = ${login}`
  const attributes = sql.unsafe(`login nosuperuser nobypassrls nocreaterole nocreatedb password '${password}'`)
  try {
    if (existing === undefined) await sql`create role ${sql(login)} ${attributes}`
  } catch (error) {
    if (!['42710', '23505'].includes((error as { code: string }).code)) throw error
  }
  await sql`grant connect on database ${sql(database)} to ${sql(login)}`
  for (const role of ['muster_app', 'muster_dispatch']) await sql`grant ${sql(role)} to ${sql(login)} with inherit false, set true`
}
