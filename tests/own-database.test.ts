import { chmod, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'
import { freePort, type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import { startScriptedPostgres } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'

const FILES = {
  start: 'scripts/start.ts',
  key: 'scripts/key.ts',
  migrate: 'scripts/migrate.ts',
  api: 'apps/api/src/main.ts',
  worker: 'apps/worker/src/main.ts',
}
type Program = keyof typeof FILES

let folder: string
let server: LocalPostgres
/** A database of this version, and its login. */
let appUrl: string
const children: Child[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster own database '))
  await chmod(folder, 0o755)
  server = await startLocalPostgres({ dataDir: join(folder, 'server'), settings: { fsync: 'off' } })
  appUrl = await server.urlFor('muster', 'muster')
})

afterAll(async () => {
  for (const child of children) child.killGroup()
  await server.stop('immediate')
  await removeLocalPostgres(server.dataDir)
  await rm(folder, { recursive: true, force: true })
})

function run(program: Program, env: Record<string, string>, options: string[] = []): Child {
  const argv = [process.execPath, fileURLToPath(new URL(`../${FILES[program]}`, import.meta.url)), ...(program === 'key' ? ['list'] : []), ...options]
  const child = new Child({
    name: program,
    argv,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: '0',
      DATA_DIR: join(folder, 'data'),
      ...env,
    },
  })
  children.push(child)
  return child
}

/** What a program says when it refuses to go on: its last line that is no log line, or the last log line where all are; and that it failed, without a stack. */
async function refusal(program: Program, env: Record<string, string>): Promise<string> {
  const child = run(program, env)
  expect({ ...(await child.exited), text: child.text }).toMatchObject({ code: 1 })
  expect(child.text).not.toMatch(/^ +at .*:\d+:\d+\)?$/m)
  const last = child.lines.findLast(({ fields }) => fields.msg === undefined) ?? child.lines.at(-1)
  return String(last?.fields.msg ?? last?.raw)
}

function changed(url: string, parts: Partial<Pick<URL, 'username' | 'password' | 'port' | 'pathname' | 'hostname'>>): string {
  return Object.assign(new URL(url), parts).href
}

/** What the programs that work with a database of this version say; they run at once. */
async function refusals(env: Record<string, string>): Promise<string[]> {
  return await Promise.all((['start', 'key', 'api', 'worker'] as const).map((program) => refusal(program, { DATA_DIR: join(folder, program), ...env })))
}

describe('before the first migration', () => {
  it('start and key say that it is missing, and how to run it', async () => {
    const bare = changed(server.adminUrl, { username: 'guest', password: 'guest', pathname: '/postgres' })
    await onServer("create role guest login password 'guest'")
    for (const program of ['start', 'key'] as const) {
      expect(await refusal(program, { DATABASE_URL: bare })).toBe(
        `The database postgres at 127.0.0.1:${server.port} has not been migrated to this version: run \`npm run migrate\`.`,
      )
    }
  })

  it('API and worker wait for it, and serve once it has run', async () => {
    await onServer(`create database muster`)
    await onServer(`create role muster login password '${decodeURIComponent(new URL(appUrl).password)}'`)
    const env = { DATABASE_URL: appUrl, AUTH: 'open' }
    const [api, worker] = [run('api', env), run('worker', env)]
    for (const child of [api, worker]) {
      await child.line(({ fields }) => /has not been migrated to this version: run `npm run migrate`/.test(String(fields.msg)))
    }

    const migrated = run('migrate', { DATABASE_URL: appUrl, MIGRATE_DATABASE_URL: server.adminUrl })
    expect(await migrated.exited).toMatchObject({ code: 0 })
    expect(migrated.text).toContain('The database is at this version.')

    await worker.line('ready')
    await Promise.all([api.end('SIGTERM'), worker.end('SIGTERM')])
  })

  it('migrate creates the database, also when MIGRATE_DATABASE_URL names the missing one', async () => {
    const other = await server.urlFor('other', 'other')
    const migrated = run('migrate', { DATABASE_URL: other, MIGRATE_DATABASE_URL: changed(server.adminUrl, { pathname: '/other' }) })
    expect({ ...(await migrated.exited), text: migrated.text }).toMatchObject({ code: 0 })
    expect(await run('key', { DATABASE_URL: other }).exited).toMatchObject({ code: 0 })
  })

  it('migrate needs a login beside that of the processes', async () => {
    expect(await refusal('migrate', { DATABASE_URL: appUrl })).toMatch(
      /^The login muster of DATABASE_URL would own the tables.*: set MIGRATE_DATABASE_URL to a login/,
    )
  })
})

describe('a database that cannot be used is named with what to do', () => {
  beforeAll(async () => {
    await migrate({ adminUrl: server.adminUrl, appUrl, installQueues })
  })

  it('nothing listens there', async () => {
    const port = String(await freePort())
    for (const program of ['start', 'key'] as const) {
      expect(await refusal(program, { DATABASE_URL: changed(appUrl, { port }) })).toBe(
        `No PostgreSQL listens at 127.0.0.1:${port} (DATABASE_URL): start it there, or correct DATABASE_URL.`,
      )
    }
    expect(await refusal('migrate', { DATABASE_URL: appUrl, MIGRATE_DATABASE_URL: changed(server.adminUrl, { port }) })).toBe(
      `No PostgreSQL listens at 127.0.0.1:${port} (MIGRATE_DATABASE_URL): start it there, or correct MIGRATE_DATABASE_URL.`,
    )
    // These may have been started before their database, so they wait, and say for what.
    for (const program of ['api', 'worker'] as const) {
      const waiting = run(program, { DATABASE_URL: changed(appUrl, { port }), AUTH: 'open' })
      await waiting.line(({ fields }) =>
        String(fields.msg).endsWith(`No PostgreSQL listens at 127.0.0.1:${port} (DATABASE_URL): start it there, or correct DATABASE_URL.`),
      )
      expect(await waiting.end('SIGTERM')).toMatchObject({ code: 0 })
    }
  })

  it('the host is unknown', async () => {
    const url = changed(appUrl, { hostname: 'nowhere.invalid' })
    for (const program of ['start', 'key'] as const) {
      expect(await refusal(program, { DATABASE_URL: url })).toBe(`The host of nowhere.invalid:${server.port} (DATABASE_URL) is unknown: correct DATABASE_URL.`)
    }
  })

  it('the password is wrong', async () => {
    const sentence = `PostgreSQL at 127.0.0.1:${server.port} refuses the login muster: the password in DATABASE_URL is wrong, or the login does not exist (\`npm run migrate\` creates that of DATABASE_URL).`
    expect(await refusals({ DATABASE_URL: changed(appUrl, { password: 'wrong' }) })).toEqual(Array(4).fill(sentence))
  })

  it('the database does not exist', async () => {
    const sentence = `The database mustre does not exist at 127.0.0.1:${server.port}: create it with \`npm run migrate\`, or correct DATABASE_URL.`
    expect(await refusals({ DATABASE_URL: changed(appUrl, { pathname: '/mustre' }) })).toEqual(Array(4).fill(sentence))
  })

  it('the server is PostgreSQL 15', async () => {
    const old = await startScriptedPostgres({ version: 150_004 })
    const sentence = `PostgreSQL at ${new URL(old.url).host} (DATABASE_URL) is version 15, and Muster needs 16 or newer: upgrade that server, or use another one.`
    expect(await refusals({ DATABASE_URL: old.url })).toEqual(Array(4).fill(sentence))
    await old.close()
  })

  it('the login could look past row-level security', async () => {
    const sentence = expect.stringMatching(/^DATABASE_URL logs in as postgres, which can bypass row-level security: move that address to MIGRATE_DATABASE_URL/)
    expect(await refusals({ DATABASE_URL: changed(server.adminUrl, { pathname: '/muster' }) })).toEqual(Array(4).fill(sentence))
  })

  it('a newer version has migrated it', async () => {
    await onServer("insert into muster_migrations.applied (name) values ('9999_tomorrow')", 'muster')
    const sentence = `The database muster at 127.0.0.1:${server.port} was migrated by a newer version of Muster (migration 9999_tomorrow): start that version or a newer one.`
    expect(await refusals({ DATABASE_URL: appUrl })).toEqual(Array(4).fill(sentence))
    expect(await refusal('migrate', { DATABASE_URL: appUrl, MIGRATE_DATABASE_URL: server.adminUrl })).toBe(sentence)
    await onServer("delete from muster_migrations.applied where name = '9999_tomorrow'", 'muster')
  })
})

describe('a data folder that cannot be used is named with what to do', () => {
  it('npm run key makes no second database in a folder without one', async () => {
    const wrong = join(folder, 'wrong')
    expect(await refusal('key', { DATA_DIR: wrong })).toBe(
      `The data folder ${wrong} holds no database: set DATA_DIR to the folder that npm start prints as "Data", or run npm start first.`,
    )
    expect(await readdir(folder)).not.toContain('wrong')
  })

  it.each(['start', 'migrate', 'worker'] as const)('%s: a file is in the way', async (program) => {
    await writeFile(join(folder, 'file'), '')
    for (const path of [join(folder, 'file'), join(folder, 'file', 'below')]) {
      expect(await refusal(program, { DATA_DIR: path, ...(program === 'worker' ? { DATABASE_URL: appUrl } : {}) })).toMatch(
        new RegExp(`^The data folder ${path}\\S* cannot be used .*DATA_DIR`),
      )
    }
  })

  // Node's own recursive mkdir never comes back from there.
  it.each(['start', 'migrate', 'worker'] as const)('%s: the system makes no folder there', async (program) => {
    expect(await refusal(program, { DATA_DIR: '/proc/muster/data', ...(program === 'worker' ? { DATABASE_URL: appUrl } : {}) })).toMatch(
      /^The data folder \/proc\/muster\/data\S* cannot be used .*DATA_DIR/,
    )
  })

  it('start: the disk is full', async () => {
    const full = await mkdtemp(join(folder, 'full'))
    await symlink('/dev/full', join(full, 'run.json.new'))
    expect(await refusal('start', { DATA_DIR: full })).toBe(`The disk of ${full} is full: make room on it, or choose another folder with DATA_DIR.`)
  })
})

async function onServer(statement: string, database = 'postgres'): Promise<void> {
  const sql = postgres(changed(server.adminUrl, { pathname: `/${database}` }), { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
