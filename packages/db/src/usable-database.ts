import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { type Database, isDatabaseUnavailable, transaction } from './client.ts'
import { knownMigrations } from './migration-files.ts'
import { open } from './open.ts'
import {
  explainDatabaseError,
  placeOf,
  requireKnownMigrations,
  requireServerVersion,
  requireSession,
  UnmigratedDatabaseError,
  UnusableDatabaseError,
} from './unusable-database.ts'

interface Login {
  version: number
  login: string
  is_unconfined: boolean
  is_owner: boolean
  may_work: boolean
  has_settings: boolean
}

interface UsableOptions {
  /** Whether pg-boss has to be there as well, which the migrate step installs last. */
  needsQueues?: boolean
  /** The address of a pooler before the same database, if there is one. */
  pooledUrl?: string | undefined
}

/**
 * Checks that API and worker can work with a database: the server answers and is new enough, the login is confined by row-level security, and the
 * migrations are exactly those of this version.
 *
 * @param url the address of PostgreSQL itself: `DATABASE_DIRECT_URL` where `DATABASE_URL` is that of a pooler
 * @throws UnusableDatabaseError one sentence with what to do; its cause may be an outage (`isDatabaseUnavailable`)
 * @throws UnmigratedDatabaseError when `npm run migrate` is missing
 */
export async function requireUsableDatabase(url: string, { needsQueues = false, pooledUrl }: UsableOptions = {}): Promise<void> {
  const place = placeOf(url)
  const variable = pooledUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL'
  // Without a role: that of a pool does not exist before the first migration, and PostgreSQL would refuse the connection.
  const sql = open(url, { max: 1, connect_timeout: 5, connection: { application_name: 'muster-check', statement_timeout: 5_000 } })
  try {
    const [server] = await sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`
    requireServerVersion(server?.version ?? 0, place, variable)
    // Roles and tables are looked up in catalogs, because a function that takes a name fails if there is none.
    const [found] = await sql<Login[]>`
      select session_user as login, current_setting('statement_timeout') = '5s' as has_settings,
        (select rolsuper or rolbypassrls from pg_roles where rolname = session_user) as is_unconfined,
        exists (select from pg_class where relnamespace = 'public'::regnamespace and relname = 'subtasks' and pg_has_role(session_user, relowner, 'MEMBER')) as is_owner,
        (select count(*) = 2 and bool_and(pg_has_role(session_user, oid, 'SET')) from pg_roles where rolname in ('muster_app', 'muster_dispatch')) as may_work`
    requireSession(found?.has_settings === true, url, variable)
    if (found?.is_unconfined !== false) throw notConfined(found?.login ?? place.login, 'can bypass row-level security')
    if (found.is_owner) throw notConfined(found.login, 'owns the tables and so can switch row-level security off')
    if (!found.may_work) throw new UnmigratedDatabaseError(place)
    const [applied, known] = await Promise.all([appliedMigrations(sql), knownMigrations()])
    requireKnownMigrations(applied, known, place)
    if (known.some((name) => !applied.includes(name)) || (needsQueues && !(await hasQueues(sql)))) throw new UnmigratedDatabaseError(place)
    if (pooledUrl !== undefined) await requireSameDatabase(sql, pooledUrl)
  } catch (error) {
    throw explainDatabaseError(error, url, variable)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** @throws UnusableDatabaseError if the pooler does not answer, refuses the login, or leads to another database */
async function requireSameDatabase(direct: postgres.Sql, pooledUrl: string): Promise<void> {
  const pooled = open(pooledUrl, { max: 1, connect_timeout: 5, prepare: false, connection: { application_name: 'muster-check' } })
  // The name, and the time of the first migration, which are the same on its standbys.
  const origin = (sql: postgres.Sql) =>
    sql.begin(async (transaction) => {
      await transaction`set local role muster_app`
      const [found] = await transaction<[{ origin: string }]>`select current_database() || min(applied_at) as origin from muster_migrations.applied`
      return found.origin
    })
  try {
    if ((await origin(pooled)) === (await origin(direct))) return
  } catch (error) {
    throw explainDatabaseError(error, pooledUrl, 'DATABASE_URL', true)
  } finally {
    await pooled.end({ timeout: 5 })
  }
  throw new UnusableDatabaseError('DATABASE_URL and DATABASE_DIRECT_URL lead to different databases: write the same one in both.')
}

/** The applied migrations; none if the migrate step has not run, or an old one did not grant the right to read them. */
async function appliedMigrations(sql: postgres.Sql): Promise<string[]> {
  const [visible] = await sql<{ is_readable: boolean }[]>`
    select coalesce((
      select has_schema_privilege('muster_app', n.oid, 'USAGE') and has_table_privilege('muster_app', c.oid, 'SELECT')
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'muster_migrations' and c.relname = 'applied'
    ), false) as is_readable`
  if (visible?.is_readable !== true) return []
  return await sql.begin(async (transaction) => {
    await transaction`set local role muster_app`
    return (await transaction<{ name: string }[]>`select name from muster_migrations.applied`).map((row) => row.name)
  })
}

/** Whether the migrate step has ended with its last part: pg-boss, and the rights to its tables. The tables of Muster come before. */
async function hasQueues(sql: postgres.Sql): Promise<boolean> {
  const [found] = await sql<{ has_queues: boolean }[]>`
    select coalesce((
      select has_table_privilege('muster_dispatch', c.oid, 'DELETE')
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'pgboss' and c.relname = 'job'
    ), false) as has_queues`
  return found?.has_queues === true
}

function notConfined(login: string, why: string): UnusableDatabaseError {
  return new UnusableDatabaseError(
    `DATABASE_URL logs in as ${login}, which ${why}: move that address to MIGRATE_DATABASE_URL, give DATABASE_URL ` +
      'a login of its own (for example postgres://muster:<password>@host:5432/muster) and run `npm run migrate`, which creates it.',
  )
}

const RETRY_MS = 500

interface WhenUsableOptions extends Pick<UsableOptions, 'pooledUrl'> {
  /** Ends the wait. A check that has begun goes on for a few seconds at most, and so does the work. */
  signal: AbortSignal
  /** Receives each reason to wait once. */
  log: { warn(fields: object, message: string): void }
}

/**
 * Runs `work` once the database is usable. Tries again while the database is away or not migrated, also if it goes away during `work`, which must leave
 * nothing behind then.
 *
 * @returns what `work` returns, or undefined after `signal`
 * @throws UnusableDatabaseError and other errors that a wait does not end
 */
export async function whenUsable<T>(url: string, { signal, log, pooledUrl }: WhenUsableOptions, work: () => Promise<T>): Promise<T | undefined> {
  let reason: string | undefined
  while (!signal.aborted) {
    try {
      await requireUsableDatabase(url, { needsQueues: true, pooledUrl })
      return await work()
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !(error instanceof UnmigratedDatabaseError)) throw error
      const { message } = error as Error
      if (message !== reason) log.warn({}, `waiting for the database: ${message}`)
      reason = message
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}

const NOT_MIGRATED = 'The database has not been migrated to this version: run `npm run migrate`.'
/** The role of a pool does not exist before the first migration, and PostgreSQL refuses the connection then. */
const NO_SUCH_ROLE = '22023'

/**
 * What the schema of the database lacks for this version, and what to do, in a sentence; null if nothing is missing. A newer version may migrate it while
 * this process runs, because each version runs on the schema of the next one. Only a start is refused then (`requireUsableDatabase`).
 *
 * @throws the error of a database that does not answer
 */
export async function missingFromDatabase(database: Database): Promise<string | null> {
  try {
    return await transaction(database, null, ({ sql }) => findMissing(sql))
  } catch (error) {
    if ((error as { code?: unknown }).code === NO_SUCH_ROLE) return NOT_MIGRATED
    throw error
  }
}

async function findMissing(sql: postgres.Sql): Promise<string | null> {
  const [found] = await sql<{ is_readable: boolean; has_queues: boolean }[]>`
      select exists (select from pg_namespace where nspname = 'pgboss') as has_queues, coalesce((
        select has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT')
        from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'muster_migrations' and c.relname = 'applied'
      ), false) as is_readable`
  if (found?.is_readable !== true || !found.has_queues) return NOT_MIGRATED
  const applied = (await sql<{ name: string }[]>`select name from muster_migrations.applied`).map((row) => row.name)
  const known = await knownMigrations()
  const missing = known.find((name) => !applied.includes(name))
  return missing === undefined ? null : `The database has not been migrated to this version, it lacks ${missing}: run \`npm run migrate\`.`
}
