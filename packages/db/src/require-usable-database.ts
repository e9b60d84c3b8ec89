import postgres from 'postgres'
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
