import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { migrate, requireUsableDatabase } from '@muster/db'
import { advanceClock, invariants, type TestDatabase, testDatabase, waitUntilBlocked } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'
import { startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const FIXTURE = gunzipSync(readFileSync(path('fixtures/at-0025.sql.gz'))).toString()
const migrationsIn = (folder: string) =>
  readdirSync(path(folder))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.replace('.sql', ''))
    .sort()
/** Of a new database, from the squashed ones on. */
const CURRENT = migrationsIn('../drizzle')
const TAKEOVER = migrationsIn('../drizzle/takeover')

/** A new database of this version. One that was taken over has to be like it. */
let fresh: TestDatabase
let freshCatalog: string[]
let server: postgres.Sql
const databases: TestDatabase[] = []

beforeAll(async () => {
  fresh = await testDatabase()
  server = postgres(fresh.adminUrl, { max: 1, onnotice: () => {} })
  freshCatalog = await withAdmin(fresh, catalog)
})

afterAll(async () => {
  for (const database of databases) await database.drop()
  await server.end({ timeout: 5 })
  await fresh.drop()
})

async function withAdmin<Result>({ adminUrl }: Pick<TestDatabase, 'adminUrl'>, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(adminUrl, { max: 2, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** A database of an earlier version, with what was in it when all processes were killed. */
async function earlierDatabase(newest = '0025_turns_of_assignments', owner: { username?: string; password?: string } = {}): Promise<TestDatabase> {
  const name = `${fresh.name}_${databases.length}`
  const at = (url: string, login = {}) => Object.assign(new URL(url), { pathname: `/${name}`, ...login }).href
  const database: TestDatabase = {
    name,
    adminUrl: at(fresh.adminUrl, owner),
    appUrl: at(fresh.appUrl),
    drop: async () => void (await server`drop database if exists ${server(name)} with (force)`),
  }
  await server`create database ${server(name)} owner ${server(owner.username ?? decodeURIComponent(new URL(fresh.adminUrl).username))}`
  databases.push(database)
  await withAdmin(database, async (sql) => {
    await sql.unsafe(FIXTURE)
    for (const file of TAKEOVER.filter((each) => each <= newest)) {
      await sql.unsafe(readFileSync(path(`../drizzle/takeover/${file}.sql`), 'utf8'))
      await sql`insert into muster_migrations.applied (name) values (${file})`
    }
  })
  return database
}

const appliedIn = (database: TestDatabase) =>
  withAdmin(database, async (sql) => (await sql<{ name: string }[]>`select name from muster_migrations.applied order by name`).map(({ name }) => name))

const sorted = (acl: string) => `(select string_agg(item::text, ', ' order by item::text) from unnest(${acl}) as item)`
const CATALOG = `
  with spaces as (select * from pg_namespace where nspname in ('public', 'muster_system', 'muster_migrations')),
  relations as (
    select c.*, c.oid::regclass::text as label from pg_class c where relnamespace in (select oid from spaces) and relname !~ '^(events|steps)_[0-9]{6}'
  )
  select concat_ws(' | ', kind, label, detail) as line from (
    select 'schema' as kind, nspname::text as label, concat_ws(' ', nspowner::regrole, ${sorted('nspacl')}) as detail from spaces
    union all
    select 'relation', label, concat_ws(' ', relkind, relowner::regrole, relpersistence, relrowsecurity, relforcerowsecurity, relreplident, reloptions,
      ${sorted(`coalesce(relacl, acldefault(case relkind when 'S' then 's'::"char" else 'r' end, relowner))`)}, pg_get_partkeydef(oid),
      pg_get_expr(relpartbound, oid), case relkind when 'v' then pg_get_viewdef(oid) end)
    from relations
    union all
    select 'column', label || ' ' || row_number() over (partition by attrelid order by attnum), concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull,
      attidentity, attgenerated, attstattarget, attoptions, attstorage, attcompression, attcollation::regcollation, ${sorted('attacl')}, pg_get_expr(adbin, adrelid))
    from pg_attribute join relations on relations.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped
    union all
    select 'constraint', conrelid::regclass || ' ' || conname, concat_ws(' ', contype, convalidated, pg_get_constraintdef(oid))
    from pg_constraint where conrelid in (select oid from relations) and contype <> 'n'
    union all
    select 'index', indexrelid::regclass::text, concat_ws(' ', indisvalid, indisreplident, pg_get_indexdef(indexrelid))
    from pg_index where indrelid in (select oid from relations)
    union all
    select 'policy', polrelid::regclass || ' ' || polname, concat_ws(' ', polcmd, polpermissive, polroles::regrole[], pg_get_expr(polqual, polrelid),
      pg_get_expr(polwithcheck, polrelid))
    from pg_policy where polrelid in (select oid from relations) and polname <> 'owner'
    union all
    select 'function', oid::regprocedure::text, concat_ws(' ', proowner::regrole, ${sorted("coalesce(proacl, acldefault('f', proowner))")}, pg_get_functiondef(oid))
    from pg_proc where pronamespace in (select oid from spaces)
    union all
    select 'trigger', tgrelid::regclass || ' ' || tgname, pg_get_triggerdef(oid) from pg_trigger where tgrelid in (select oid from relations) and not tgisinternal
    union all
    select 'sequence', seqrelid::regclass::text, concat_ws(' ', seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle)
    from pg_sequence where seqrelid in (select oid from relations)
    union all
    select 'statistics', stxrelid::regclass::text, pg_get_statisticsobjdef(oid) from pg_statistic_ext where stxrelid in (select oid from relations)
    union all
    select 'type', oid::regtype::text, typtype::text from pg_type where typnamespace in (select oid from spaces) and typtype in ('d', 'e', 'r')
    union all
    select 'extension', extname::text, extnamespace::regnamespace::text from pg_extension
    union all
    select 'comment', pg_describe_object(classoid, objoid, objsubid), description from pg_description where objoid in (select oid from relations)
    union all
    select 'default privileges', defaclrole::regrole::text, defaclacl::text from pg_default_acl
  ) as everything
  order by 1`

/**
 * The schema as the catalogs of PostgreSQL have it, as lines of text. Left out are the partitions of days and ranges, which depend on the day, the order of
 * grants, the names of NOT NULL constraints, which pg_dump does not keep, and the policies that only an owner without superuser gets. The owner has the same name in all of them.
 */
async function catalog(sql: postgres.Sql): Promise<string[]> {
  const [lines, [role]] = await sql.begin(async (transaction) => [
    await transaction
      .unsafe<{ line: string }[]>(`set local search_path = pg_catalog; ${CATALOG}`)
      .then((answers) => (answers as unknown as { line: string }[][])[1] ?? []),
    await transaction<[{ owner: string }]>`select relowner::regrole::text as owner from pg_class where oid = 'public.projects'::regclass`,
  ])
  return lines.map(({ line }) => line.replaceAll(new RegExp(`\\b${role.owner}\\b`, 'g'), 'OWNER'))
}

describe('a database of an earlier version', () => {
  it.each(['0025_turns_of_assignments', ...TAKEOVER])('at %s becomes what a new one is, and its data stay whole', async (newest) => {
    const database = await earlierDatabase(newest)
    await expect(requireUsableDatabase(database.appUrl)).rejects.toThrow('has not been migrated to this version: run `npm run migrate`.')

    await migrate(database)

    expect(await withAdmin(database, catalog)).toEqual(freshCatalog)
    expect(await withAdmin(database, invariants)).toEqual([])
    await expect(requireUsableDatabase(database.appUrl)).resolves.toBeUndefined()
    const log: string[] = []
    await migrate({ ...database, log: (line) => log.push(line) })
    expect(log).toEqual([])
  })

  it('keeps the names that running processes of that version look for, and has one that keeps others of it from starting', async () => {
    const database = await earlierDatabase()
    const before = await appliedIn(database)
    await migrate(database)
    expect(await appliedIn(database)).toEqual([...before, ...TAKEOVER, ...CURRENT].sort())
  })

  it('is taken over once when several do it at once', async () => {
    const database = await earlierDatabase()
    await Promise.all([migrate(database), migrate(database), migrate(database)])
    expect(await withAdmin(database, catalog)).toEqual(freshCatalog)
  })

  it.each([
    ['in the middle of a migration', '0025_turns_of_assignments', 'lock table facts in access share mode', '0029_write_checks'],
    [
      'when only the record is missing',
      '0031_memory_renewal_beside_the_log',
      'lock table muster_migrations.applied in share mode',
      '0031_memory_renewal_beside_the_log',
    ],
  ])('goes on where it was when migrating was killed %s', async (_, newest, lock, reached) => {
    const database = await earlierDatabase(newest)
    await withAdmin(database, async (sql) => {
      const holder = await sql.reserve()
      await holder`begin`
      await holder.unsafe(lock)
      const killed = expect(migrate(database)).rejects.toThrow()
      await waitUntilBlocked(sql, 1)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'muster-migrate'`
      await killed
      await holder`rollback`
      holder.release()
    })
    const applied = await appliedIn(database)
    expect(applied.at(-1)).toBe(reached)
    expect(applied).not.toContain(CURRENT[0])

    await migrate(database)

    expect(await withAdmin(database, catalog)).toEqual(freshCatalog)
    expect(await withAdmin(database, invariants)).toEqual([])
  })

  it('is taken over by an owner without superuser', async () => {
    const owner = { username: `${fresh.name}_owner`, password: 'owner' }
    await server`create role ${server(owner.username)} login superuser createdb createrole password 'owner'`
    await server`grant muster_app, muster_dispatch, muster_definer to ${server(owner.username)} with admin option`
    const database = await earlierDatabase(undefined, owner)
    await server`alter role ${server(owner.username)} nosuperuser`

    await migrate({ ...database, appUrl: Object.assign(new URL(database.appUrl), { username: `${fresh.name}_login` }).href })

    expect(await withAdmin(database, catalog)).toEqual(freshCatalog)
    await database.drop()
    await server`drop owned by ${server(owner.username)}`
    await server`drop role ${server(`${fresh.name}_login`)}, ${server(owner.username)}`
  })

  it('is refused when it is older than the migrations that are kept, and stays as it was', async () => {
    const database = await earlierDatabase()
    await withAdmin(database, (sql) => sql`delete from muster_migrations.applied where name > '0019_subagents_security'`)
    const before = await withAdmin(database, catalog)

    await expect(migrate(database)).rejects.toThrow(
      new RegExp(
        `^The database ${database.name} at .* ends at migration 0019_subagents_security, and this version takes over databases from 0025_turns_of_assignments on: ` +
          'first run `npm run migrate` of a version that has drizzle/0025_turns_of_assignments\\.sql, then that of this version\\.$',
      ),
    )
    expect(await withAdmin(database, catalog)).toEqual(before)
  })
})

describe('work that an earlier version left', () => {
  it('goes on to its end', async () => {
    const database = await earlierDatabase()
    const migrated = new Child({
      name: 'migrate',
      argv: [process.execPath, path('../scripts/migrate.ts')],
      env: { PATH: process.env.PATH, DATABASE_URL: database.appUrl, MIGRATE_DATABASE_URL: database.adminUrl, DATA_DIR: path('../node_modules/.none') },
    })
    expect({ ...(await migrated.exited), text: migrated.text }).toMatchObject({ code: 0, text: expect.stringContaining('taken over from an earlier version') })
    const before = await withAdmin(database, (sql) => sql<{ id: string; agent_id: string; status: string }[]>`select id, agent_id, status from subtasks`)
    expect(new Set(before.map(({ status }) => status))).toEqual(new Set(['pending', 'running', 'completed', 'failed', 'cancelled']))

    // A worker runs again what the killed one held. An outside worker goes on with the lease that it holds.
    const system = await startSystem({ database, env: { SUBTASK_WORKERS: '12' } })
    const held = before.find(({ agent_id }) => agent_id === 'outside')?.id
    const lease_token = /(?<=lease token .*: )\S+/.exec(FIXTURE)?.[0]
    const completed = await system.client.ok<Subtask>('POST', `/subtasks/${held}/complete`, { body: { lease_token, result: 'There are 3 files.' } })
    expect(completed).toMatchObject({ status: 'completed', attempt: 1 })
    for (let claimed = await system.client.claim(); claimed !== null; claimed = await system.client.claim()) await system.client.complete(claimed)
    await until('all runs have ended, and the revision rounds that follow them', async () => {
      const open = await system.admin<{ id: string }[]>`select id from subtasks where status in ('pending', 'running')`
      for (const { id } of open) system.ledger.release(id)
      return open.length === 0
    })
    for (const { id, status } of before)
      if (status === 'pending' || status === 'running') expect(await system.client.get(id)).toMatchObject({ status: 'completed' })
    expect(await system.invariants()).toEqual([])

    // What waited is delivered, what was learnt is found, and a schedule fires.
    const awaited = await system.admin<{ id: string }[]>`select id from subtasks where parent_session_id = 'boss' order by id`
    expect((await system.client.inbox('boss')).map(({ subtask_id }) => subtask_id).sort()).toEqual(awaited.map(({ id }) => id))
    expect((await system.client.inject('coder')).items.map(({ text }) => text)).toEqual([
      expect.stringContaining('Mind the lexer.'),
      expect.stringContaining('Troubleshooting Guide'),
    ])
    await until('memory has read the log, and finds a fact and an episode by a part of a path', async () => {
      const { items } = await system.client.ok<{ items: { kind: string }[] }>('GET', '/memory/search?q=parser')
      return items.some(({ kind }) => kind === 'fact') && items.some(({ kind }) => kind === 'episode')
    })
    await advanceClock(system.admin, '2 minutes')
    await system.admin`select pg_notify('muster_schedule', '')`
    await until('the schedule of that time has fired, and its run has ended', async () => {
      const ended = await system.admin`select from subtasks where agent_id = 'soon' and status = 'completed'`
      return ended.length === 1
    })
    await system.close()
  })
})
