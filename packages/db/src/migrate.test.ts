import { type TestDatabase, testDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, migrate, requireConfinedLogin } from './index.ts'

let database: TestDatabase
let admin: postgres.Sql
const opened: postgres.Sql[] = []

/** Addresses of a database that does not exist yet, and of a login that does not either. */
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
    expect(applied.length).toBeGreaterThan(2)
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
    const pool = connect(target.appUrl, { role: 'muster_app', connectionsMax: 1, applicationName: 'test' })
    await expect(requireConfinedLogin(pool)).resolves.toBeUndefined()
    await pool.close()
  })

  it('leaves everything as it was when a migration fails', async () => {
    const target = fresh('halfway')
    const sql = open(database.adminUrl, `/${target.name}`)
    await admin`create database ${admin(target.name)}`
    // In the way of a later statement of the same file.
    await sql`create table public.updates (id int)`

    await expect(migrate(target)).rejects.toThrow(/already exists/)
    expect(await sql`select name from muster_migrations.applied`).toHaveLength(1)
    expect((await sql`select to_regclass('public.subtasks') as found`)[0]?.found).toBeNull()

    await sql`drop table public.updates`
    await migrate(target)
    expect((await sql`select to_regclass('public.subtasks') as found`)[0]?.found).not.toBeNull()
  })

  it('says what to do when the address names no database', async () => {
    await expect(migrate({ adminUrl: database.adminUrl, appUrl: 'postgres://muster:x@127.0.0.1:5432' })).rejects.toThrow(/names no database/)
  })
})

describe('requireConfinedLogin', () => {
  it('refuses a login that could look past row-level security', async () => {
    const pool = connect(database.adminUrl, { role: 'muster_app', connectionsMax: 1, applicationName: 'test' })
    await expect(requireConfinedLogin(pool)).rejects.toThrow(/can bypass row-level security/)
    await pool.close()
  })
})
