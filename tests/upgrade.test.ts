import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestDatabase, testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrateDatabase } from '../scripts/migrate-database.ts'
import { Child } from './harness/child.ts'
import { layEarlierVersion } from './harness/earlier-version.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

/** API and worker of the earlier version. */
interface Earlier {
  api: Child
  worker: Child
  address: string
}

let folder: string
let database: TestDatabase
let system: System
let earlier: Earlier

beforeAll(async () => {
  ;({ folder } = await layEarlierVersion())
  database = await testDatabase()
  // The earlier version makes the database, as it was before the update.
  await database.drop()
  const env = { PATH: process.env.PATH, DATABASE_URL: database.appUrl, MIGRATE_DATABASE_URL: database.adminUrl }
  const migrate = new Child({ name: 'the earlier migrate', argv: [process.execPath, join(folder, 'scripts/migrate.ts')], env, cwd: folder })
  if ((await migrate.exited).code !== 0) throw new Error(`The earlier version could not make its database:\n${migrate.text}`)
  system = await startSystem({ database, apis: 0, workers: 0 })
  earlier = await startEarlier()
})
afterAll(async () => {
  for (const child of [earlier?.api, earlier?.worker]) child?.killGroup()
  await system?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

async function startEarlier(): Promise<Earlier> {
  const start = (app: string, env: Record<string, string> = {}) =>
    new Child({ name: `the earlier ${app}`, argv: [process.execPath, join(folder, `apps/${app}/src/main.ts`)], env: system.environment(env), cwd: folder })
  const api = start('api')
  const address = (await api.line('listening')).fields.address as string
  await until('the earlier API is ready', async () => (await fetch(new URL('/readyz', address))).ok)
  const worker = start('worker', { PUBLIC_URL: address })
  await worker.line('ready')
  return { api, worker, address }
}

/** A call of the earlier API. Its answers are not held against the reference of this version. */
async function ask<Body>(path: string, body?: object): Promise<Body> {
  const sent = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await fetch(new URL(path, earlier.address), sent)
  if (!answer.ok) throw new Error(`The earlier API answered ${path} with ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Body
}

describe('an update while work is in progress', () => {
  it('runs both versions of API and worker over the new schema, and each subtask ends once', async () => {
    const held = await ask<Subtask>('/subtasks', { task: 'Hold on.', runner: 'hold', parent_session_id: 'update' })
    await system.ledger.written(held.id, 'start', 1)

    await migrateDatabase({ adminUrl: database.adminUrl, appUrl: database.appUrl })
    const alone = await ask<Subtask>('/subtasks', { task: 'Act.', runner: 'act', parent_session_id: 'update' })
    expect(await ask<Subtask>(`/subtasks/${alone.id}?wait_seconds=30`)).toMatchObject({ status: 'completed' })

    await system.startApi()
    await system.startWorker()
    const { client } = system
    // Two are running at once, so that both workers take some.
    const ids = [held.id, alone.id]
    for (let round = 0; round < 4; round += 1) {
      const both = await Promise.all([
        ask<Subtask>('/subtasks', { task: 'Act.', runner: 'act', parent_session_id: 'update' }),
        client.spawn({ task: 'Act.', runner: 'act', parent_session_id: 'update', priority: 'high' }),
      ])
      for (const { id } of both)
        expect([await ask<Subtask>(`/subtasks/${id}?wait_seconds=30`), await client.ended(id)]).toMatchObject([{ status: 'completed' }, { attempt: 1 }])
      ids.push(...both.map(({ id }) => id))
    }
    const { update_id } = await client.steer(held.id, 'From the new API to the earlier worker.')
    expect(await system.ledger.written(held.id, 'update', 1)).toMatchObject({ update_id })

    // The earlier worker gives its subtask back, and the new one runs it to its end.
    for (const child of [earlier.worker, earlier.api]) expect(await child.end('SIGTERM')).toMatchObject({ code: 0 })
    await system.ledger.written(held.id, 'start', 2)
    system.ledger.release(held.id)
    expect(await client.ended(held.id)).toMatchObject({ status: 'completed', attempt: 2 })
    expect((await client.inbox('update')).map(({ subtask_id }) => subtask_id).sort()).toEqual(ids.sort())
    expect(await client.inbox('update')).toEqual([])

    const errors = [earlier.api, earlier.worker].flatMap(({ lines }) => lines.filter(({ fields }) => Number(fields.level ?? 0) >= 50))
    expect(errors.map(({ raw }) => raw)).toEqual([])
  })
})
