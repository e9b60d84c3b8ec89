import { startScriptedPostgres, type TestDatabase, testDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate, requireUsableDatabase } from './index.ts'

let database: TestDatabase
let admin: postgres.Sql
const opened: postgres.Sql[] = []

/** Addresses of a database and of a login that do not exist yet. */
function fresh(suffix: string): { adminUrl: string; appUrl: string; name: string; login: string } {
  const [name, login] = [`${database.name}_${suffix}`, `${database.name}_${suffix}_login`]
  const app = new URL(database.appUrl)
  app.pathname = `/${name}`
  app.username = login
  app.password = encodeURIComponent("it's; 100% \\ secret")
  return { adminUrl: database.adminUrl, appUrl: app.href, name, login }
}

function open(url: string, name = new URL(url).pathname): postgres.Sql {
  const opening = new URL(url)
  opening.pathname = name
  const sql = postgres(opening.href, { max: 1, onnotice: () => {} })
  opened.push(sql)
  return sql
}

beforeAll(async () => {
  database = await testDatabase()
  admin = open(database.adminUrl)
})

afterAll(async () => {
  const databases = await admin<{ name: string }[]>`select datname as name from pg_database where starts_with(datname, ${`${database.name}_`})`
  const logins = await admin<{ name: string }[]>`select rolname as name from pg_roles where starts_with(rolname, ${`${database.name}_`})`
  for (const { name } of databases) await admin`drop database ${admin(name)} with (force)`
  // Roles that one of them granted are dropped first.
  for (const { name } of logins) await admin`drop owned by ${admin(name)}`
  for (const { name } of logins) await admin`drop role ${admin(name)}`
  await Promise.all(opened.map((sql) => sql.end({ timeout: 5 })))
  await database.drop()
})

describe('migrate', () => {
  it('makes database, login and schema, also when several do it at once, and changes nothing the next time', async () => {
    const target = fresh('together')
    await Promise.all([migrate(target), migrate(target), migrate(target)])

    const sql = open(database.adminUrl, `/${target.name}`)
    const applied = await sql`select name, applied_at from muster_migrations.applied order by name`
    expect(applied.length).toBeGreaterThan(1)
    const said: string[] = []
    await migrate({ ...target, log: (message) => said.push(message) })
    expect(said).toEqual([])
    expect(await sql`select name, applied_at from muster_migrations.applied order by name`).toEqual(applied)
    expect(await sql`select id from projects`).toHaveLength(1)
  })

  it('gives the login no more than the two confined roles, on request', async () => {
    const target = fresh('login')
    await migrate(target)

    const [login] = await open(target.appUrl)`
      select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin from pg_roles where rolname = current_user`
    expect(login).toEqual({ rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false, rolcanlogin: true })
    const roles = await admin`
      select roleid::regrole::text as role, admin_option, inherit_option, set_option from pg_auth_members where member = ${target.login}::regrole order by 1`
    const confined = { admin_option: false, inherit_option: false, set_option: true }
    expect(roles).toEqual([
      { role: 'muster_app', ...confined },
      { role: 'muster_dispatch', ...confined },
    ])
    await expect(requireUsableDatabase(target.appUrl)).resolves.toBeUndefined()
  })

  it('leaves everything as it was when a migration fails', async () => {
    const target = fresh('halfway')
    const sql = open(database.adminUrl, `/${target.name}`)
    await admin`create database ${admin(target.name)}`
    // Makes a later statement of the second file fail.
    await sql`create function public.muster_relay(most integer) returns integer language sql return most`

    await expect(migrate(target)).rejects.toThrow(/already exists/)
    expect(await sql`select name from muster_migrations.applied`).toHaveLength(1)
    expect((await sql`select to_regproc('public.muster_find_api_key') as found`)[0]?.found).toBeNull()

    await sql`drop function public.muster_relay`
    await migrate(target)
    expect((await sql`select to_regproc('public.muster_find_api_key') as found`)[0]?.found).not.toBeNull()
  })

  it('says what to do when the address names no database', async () => {
    await expect(migrate({ adminUrl: database.adminUrl, appUrl: 'postgres://muster:x@127.0.0.1:5432' })).rejects.toThrow(/names no database/)
  })

  it('creates the database also when the address of the migrating login names it', async () => {
    const target = fresh('same')
    const adminUrl = new URL(target.adminUrl)
    adminUrl.pathname = `/${target.name}`

    await migrate({ adminUrl: adminUrl.href, appUrl: target.appUrl })

    await expect(requireUsableDatabase(target.appUrl)).resolves.toBeUndefined()
  })

  it('refuses a database of a newer version, and changes nothing in it', async () => {
    const target = fresh('newer')
    await migrate(target)
    const sql = open(database.adminUrl, `/${target.name}`)
    await sql`insert into muster_migrations.applied (name) values ('9999_tomorrow')`
    await sql`delete from muster_migrations.applied where name = '0001_security_and_functions'`

    const refusal = new RegExp(`The database ${target.name} at .* was migrated by a newer version of Muster \\(migration 9999_tomorrow\\): start that version`)
    await expect(migrate(target)).rejects.toThrow(refusal)
    await expect(requireUsableDatabase(target.appUrl)).rejects.toThrow(refusal)
    expect(await sql`select from muster_migrations.applied where name = '0001_security_and_functions'`).toEqual([])
  })

  it('refuses to make the login of the processes the owner of the tables', async () => {
    const { adminUrl } = fresh('owner')
    await expect(migrate({ adminUrl, appUrl: adminUrl })).rejects.toThrow(/would own the tables.*: set MIGRATE_DATABASE_URL/)
  })

  it('says that the server is too old', async () => {
    const old = await startScriptedPostgres({ version: 150_004 })
    const sentence =
      /^PostgreSQL at 127\.0\.0\.1:\d+ \((MIGRATE_)?DATABASE_URL\) is version 15, and Muster needs 16 or newer: upgrade that server, or use another one\.$/
    await expect(migrate({ adminUrl: old.url.replace('muster:', 'admin:'), appUrl: old.url })).rejects.toThrow(sentence)
    await expect(requireUsableDatabase(old.url)).rejects.toThrow(sentence)
    await old.close()
  })

  it('says that the disk of the server is full', async () => {
    const full = await startScriptedPostgres({ version: 180_000, error: { code: '53100', message: 'could not extend file "base/5/1259"' } })
    const migrating = migrate({ adminUrl: full.url.replace('muster:', 'admin:'), appUrl: full.url })
    await expect(migrating).rejects.toThrow(/^The disk of PostgreSQL at 127\.0\.0\.1:\d+ is full: make room on it, then try again\.$/)
    await full.close()
  })
})

describe('migrate as a login without superuser', () => {
  /** A login that may only create databases and roles, as providers of PostgreSQL offer it. */
  async function owner(suffix: string): Promise<ReturnType<typeof fresh>> {
    const target = fresh(suffix)
    const name = `${target.name}_owner`
    await admin`create role ${admin(name)} login createdb createrole password 'owner'`
    // On a server of its own it would create these roles. Here, tests share them.
    await admin`grant muster_app, muster_dispatch, muster_definer to ${admin(name)} with admin option`
    const adminUrl = new URL(target.adminUrl)
    adminUrl.username = name
    adminUrl.password = 'owner'
    return { ...target, adminUrl: adminUrl.href }
  }

  it('changes the rows that it is to change, although row-level security is forced for the owner', async () => {
    const target = await owner('rows')
    await migrate(target)

    const asOwner = open(target.adminUrl, `/${target.name}`)
    expect((await asOwner`update projects set name = 'changed'`).count).toBe(1)
  })

  it('does so in a database that an earlier version migrated', async () => {
    const target = await owner('earlier')
    await migrate(target)
    const asOwner = open(target.adminUrl, `/${target.name}`)
    await asOwner`drop policy owner on projects`
    expect((await asOwner`update projects set name = 'changed'`).count).toBe(0)

    await migrate(target)

    expect((await asOwner`update projects set name = 'changed'`).count).toBe(1)
  })

  it('shows the owner the rows of every table, and the processes no more than before', async () => {
    const target = await owner('policies')
    await migrate(target)

    const sql = open(database.adminUrl, `/${target.name}`)
    const without = await sql`
      select relname from pg_class c where relnamespace = 'public'::regnamespace and relforcerowsecurity and not relispartition
        and not exists (select from pg_policy where polrelid = c.oid and polname = 'owner')`
    expect(without).toEqual([])
    const processes = open(target.appUrl)
    for (const role of ['muster_app', 'muster_dispatch']) {
      await processes.begin(async (transaction) => {
        await transaction.unsafe(`set local role ${role}`)
        expect(await transaction`select from subtasks`).toEqual([])
      })
    }
    await expect(processes.unsafe(`set role ${target.name}_owner`)).rejects.toThrow(/permission denied/)
    await expect(requireUsableDatabase(target.appUrl)).resolves.toBeUndefined()
  })

  it('is refused with what it lacks when it may not create a database', async () => {
    const target = await owner('unable')
    await admin`alter role ${admin(`${target.name}_owner`)} nocreatedb`
    await expect(migrate(target)).rejects.toThrow(
      new RegExp(
        `The login ${target.name}_owner of MIGRATE_DATABASE_URL lacks a right at .* \\(permission denied to create database\\): .npm run migrate. needs a login that`,
      ),
    )
  })
})

describe('requireUsableDatabase', () => {
  it('waits for the queues as well where they are needed: the migrate step installs them after the tables', async () => {
    const target = fresh('queueless')
    await migrate(target)
    await expect(requireUsableDatabase(target.appUrl, { needsQueues: true })).rejects.toThrow('has not been migrated to this version')
    await expect(requireUsableDatabase(database.appUrl, { needsQueues: true })).resolves.toBeUndefined()
  })

  it('refuses a login that could look past row-level security', async () => {
    await expect(requireUsableDatabase(database.adminUrl)).rejects.toThrow(
      /DATABASE_URL logs in as \w+, which can bypass row-level security: move that address to MIGRATE_DATABASE_URL/,
    )
  })

  it('refuses a login that owns the tables and could switch row-level security off', async () => {
    const target = fresh('owned')
    await migrate(target)
    await open(database.adminUrl, `/${target.name}`)`alter table subtasks owner to ${admin(target.login)}`
    await expect(requireUsableDatabase(target.appUrl)).rejects.toThrow(/owns the tables and so can switch row-level security off/)
  })

  it('says that a migration is missing', async () => {
    const target = fresh('older')
    await migrate(target)
    await open(database.adminUrl, `/${target.name}`)`delete from muster_migrations.applied where name = '0001_security_and_functions'`
    await expect(requireUsableDatabase(target.appUrl)).rejects.toThrow(`has not been migrated to this version: run \`npm run migrate\`.`)
  })
})
