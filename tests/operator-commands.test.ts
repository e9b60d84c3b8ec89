import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claimOne, completed, drainOutbox, type Harness, settleOne, spawn, startHarness, type TestDatabase, testDatabase } from '@muster/testing'
import { createWebhook, listAuditEntries } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'

/*
 * The commands of an operator, as programs of their own, on the database of API and worker.
 */
const key = (name: string) => `${name}:${randomBytes(32).toString('base64')}`
const [ONE, TWO, THREE] = [key('one'), key('two'), key('three')]

let database: TestDatabase
let harness: Harness
let folder: string

beforeAll(async () => {
  database = await testDatabase()
  harness = await startHarness({ database, settings: { SECRETS_KEYS: ONE } })
  folder = await mkdtemp(join(tmpdir(), 'muster-operator-'))
})
afterAll(async () => {
  await harness.close()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** Runs a script to its end, and answers its exit code and what it printed. */
async function run(
  script: 'key' | 'rotate-secrets' | 'storage',
  argv: string[] = [],
  env: Record<string, string> = {},
): Promise<{ code: number | null; text: string }> {
  const child = new Child({
    name: script,
    argv: [process.execPath, fileURLToPath(new URL(`../scripts/${script}.ts`, import.meta.url)), ...argv],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: folder, DATABASE_URL: database.appUrl, MIGRATE_DATABASE_URL: database.adminUrl, ...env },
  })
  const { code } = await child.exited
  return { code, text: child.text }
}

/** What commands have left in the audit log of a project, the latest first. */
async function operations(projectId = harness.ctx.actor.projectId): Promise<string[]> {
  const { items } = await listAuditEntries({ ...harness.ctx, actor: { ...harness.ctx.actor, projectId } }, { door: 'script', limit: 100 })
  return items.map(({ origin }) => origin.operation)
}

describe('npm run key', () => {
  it('makes a project with its first key, and revokes a key; all of it is in the audit log of the project', async () => {
    const made = await run('key', ['create', '--name', 'first', '--scopes', 'subtasks:read', '--new-project', 'Mine'])
    const projectId = /^project (\S+)$/m.exec(made.text)?.[1] ?? ''
    const keyId = /^([0-9a-f-]{36}) {2}first/m.exec(made.text)?.[1] ?? ''
    expect(await run('key', ['revoke', keyId, '--project', projectId])).toMatchObject({ code: 0 })
    expect(await operations(projectId)).toEqual(['key revoke', 'key create', 'key create'])
  })
})

describe('npm run rotate-secrets', () => {
  it('encrypts all secrets with the first key, after which the one before may go', async () => {
    const rest = { events: ['*'], description: null, subject: null, agentId: null, sessionId: null, isOrdered: false }
    await createWebhook(harness.ctx, { url: 'https://example.com/hook', ...rest })
    expect(await run('rotate-secrets', [], { SECRETS_KEYS: `${TWO},${ONE}` })).toMatchObject({ code: 0, text: expect.stringContaining('Encrypted 1 again') })
    expect(await run('rotate-secrets', [], { SECRETS_KEYS: `${THREE},${ONE}` })).toMatchObject({ code: 1, text: expect.stringContaining('two') })
    expect(await run('rotate-secrets', [], { SECRETS_KEYS: TWO })).toMatchObject({ code: 0, text: expect.stringContaining('All secrets are encrypted') })
    // The second key alone can read what it has encrypted.
    expect(await run('rotate-secrets', [], { SECRETS_KEYS: `${THREE},${TWO}` })).toMatchObject({ code: 0, text: expect.stringContaining('Encrypted 1 again') })
    expect(await operations()).toEqual(['rotate-secrets', 'rotate-secrets'])
  })
})

describe('npm run storage', () => {
  const rows = async () => (await harness.admin<{ count: number }[]>`select count(*)::int as count from subtasks where parent_session_id = 'boss'`)[0]?.count

  it('exports a session, erases it, and brings it back; the audit log has what changed something', async () => {
    await spawn(harness.ctx, { parentSessionId: 'boss' })
    await settleOne(harness.ctx, await claimOne(harness.ctx), completed('Done.'))
    await drainOutbox(harness.deps)
    const archive = join(folder, 'boss')
    const exported = await run('storage', ['export', '--session', 'boss', '--to', archive])
    expect(exported.code).toBe(0)
    expect(JSON.parse(exported.text)).toMatchObject({ exported: { subtasks: 1 }, to: archive })
    expect(await run('storage', ['erase', '--session', 'boss'])).toMatchObject({ code: 1, text: expect.stringContaining('--yes') })
    expect(await rows()).toBe(1)
    const erased = await run('storage', ['erase', '--session', 'boss', '--yes'])
    expect(JSON.parse(erased.text)).toMatchObject({ erased: { subtasks: 1 }, remains: expect.any(Array) })
    expect(await rows()).toBe(0)
    expect(await run('storage', ['import', '--from', archive])).toMatchObject({ code: 0 })
    expect(await rows()).toBe(1)
    expect((await operations()).slice(0, 2)).toEqual(['storage import', 'storage erase'])
  })

  it('does the same with a whole project', async () => {
    const other = await harness.projectCtx('Another')
    await spawn(other, { parentSessionId: 'boss of another' })
    await settleOne(other, await claimOne(other), completed('Done.'))
    await drainOutbox(harness.deps)
    const { projectId } = other.actor
    const count = async () => (await harness.admin`select from subtasks where project_id = ${projectId}`).length
    const archive = join(folder, 'whole')
    expect(await run('storage', ['export', '--project', projectId, '--to', archive])).toMatchObject({ code: 0 })
    expect(await run('storage', ['erase', '--project', projectId, '--yes'])).toMatchObject({ code: 0 })
    expect(await count()).toBe(0)
    expect(await run('storage', ['import', '--from', archive])).toMatchObject({ code: 0 })
    expect(await count()).toBe(1)
    expect(await operations(projectId)).toEqual(['storage import', 'storage erase'])
  })

  it('says what is wrong with its options, and does nothing', async () => {
    for (const [argv, said] of [
      [['export', '--session', 'boss'], '--to is missing'],
      [['erase', '--session', 'a', '--agent', 'b', '--yes'], 'exclude each other'],
      [['erase', '--project', 'mine', '--yes'], '--project is the id of a project'],
      [['drop'], 'There is no drop'],
    ] as const)
      expect(await run('storage', [...argv])).toMatchObject({ code: 1, text: expect.stringContaining(said) })
    expect(await rows()).toBe(1)
  })
})
