import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { type Database, isDatabaseUnavailable } from './client.ts'
import { knownMigrations } from './migration-files.ts'
import {
  explainDatabaseError,
  placeOf,
  requireKnownMigrations,
  requireServerVersion,
  UnmigratedDatabaseError,
  UnusableDatabaseError,
} from './unusable-database.ts'

interface Login {
  version: number
  login: string
  is_unconfined: boolean
  is_owner: boolean
  may_work: boolean
}

/**
 * Checks that API and worker can work with the database of `DATABASE_URL`: the server answers and is new enough, the login is confined by
 * row-level security, and the migrations are exactly those of this version.
 *
 * @param options.needsQueues whether pg-boss has to be there as well, which the migrate step installs last
 * @throws UnusableDatabaseError one sentence with what to do; its cause may be an outage (`isDatabaseUnavailable`)
 * @throws UnmigratedDatabaseError when `npm run migrate` is missing
 */
export async function requireUsableDatabase(url: string, { needsQueues = false } = {}): Promise<void> {
  const place = placeOf(url)
  // Without a role: that of a pool does not exist before the first migration, and PostgreSQL would refuse the connection.
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {}, connection: { application_name: 'muster-check', statement_timeout: 5_000 } })
  try {
    const [server] = await sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`
    requireServerVersion(server?.version ?? 0, place, 'DATABASE_URL')
    // Roles and tables are looked up in catalogs, because a function that takes a name fails if there is none.
    const [found] = await sql<Login[]>`
      select session_user as login,
        (select rolsuper or rolbypassrls from pg_roles where rolname = session_user) as is_unconfined,
        exists (select from pg_class where relnamespace = 'public'::regnamespace and relname = 'subtasks' and pg_has_role(session_user, relowner, 'MEMBER')) as is_owner,
        (select count(*) = 2 and bool_and(pg_has_role(session_user, oid, 'SET')) from pg_roles where rolname in ('muster_app', 'muster_dispatch')) as may_work`
    if (found?.is_unconfined !== false) throw notConfined(found?.login ?? place.login, 'can bypass row-level security')
    if (found.is_owner) throw notConfined(found.login, 'owns the tables and so can switch row-level security off')
    if (!found.may_work) throw new UnmigratedDatabaseError(place)
    const [applied, known] = await Promise.all([appliedMigrations(sql), knownMigrations()])
    requireKnownMigrations(applied, known, place)
    if (known.some((name) => !applied.includes(name)) || (needsQueues && !(await hasQueues(sql)))) throw new UnmigratedDatabaseError(place)
  } catch (error) {
    throw explainDatabaseError(error, url, 'DATABASE_URL')
  } finally {
    await sql.end({ timeout: 5 })
  }
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

interface WhenUsableOptions {
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
export async function whenUsable<T>(url: string, { signal, log }: WhenUsableOptions, work: () => Promise<T>): Promise<T | undefined> {
  let reason: string | undefined
  while (!signal.aborted) {
    try {
      await requireUsableDatabase(url, { needsQueues: true })
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
export async function missingFromDatabase({ sql }: Pick<Database, 'sql'>): Promise<string | null> {
  try {
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
  } catch (error) {
    if ((error as { code?: unknown }).code === NO_SUCH_ROLE) return NOT_MIGRATED
    throw error
  }
}
