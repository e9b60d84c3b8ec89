import { testDatabase } from '@muster/testing'
import { beatWorker } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

let api: TestApi
let key: string

beforeAll(async () => {
  api = await startApi(await testDatabase())
  key = await api.key(['admin'])
})
afterAll(() => api.close())

const beat = (id: string, isDrained = false) =>
  beatWorker(api.deps.dispatchDb.sql, { id, runners: ['own', 'ai'], capacity: 7, version: '0.1.0', host: 'box', pid: 42 }, isDrained)

async function registered(): Promise<string> {
  const id = api.deps.newId()
  await beat(id)
  return id
}

const drain = (id: string, body?: object) => api.call('POST', `/workers/${id}/drain`, { key, ...(body === undefined ? {} : { body }) })
const worker = async (id: string) => (await api.call('GET', '/workers', { key })).body.items.find((each: { id: string }) => each.id === id)

describe('GET /workers', () => {
  it('200: shows what each worker is, where it runs and how much it holds', async () => {
    const id = await registered()
    const { id: held } = await spawnExternal(api.ctx)
    await api.call('POST', '/subtasks/claim', { key, body: { worker_id: id, wait_seconds: 0 } })
    expect(await worker(id)).toMatchObject({
      state: 'active',
      version: '0.1.0',
      host: 'box',
      pid: 42,
      runners: ['own', 'ai'],
      capacity: 7,
      running: 1,
      drain: null,
    })
    expect((await api.call('GET', `/subtasks/${held}`, { key })).body.status).toBe('running')
  })

  it('200: shows one whose heartbeat has stopped as lost', async () => {
    const id = await registered()
    await api.deps.dispatchDb.sql`update muster_system.workers set seen_at = muster_now() - interval '6 seconds' where id = ${id}`
    expect(await worker(id)).toMatchObject({ state: 'lost' })
  })

  it('200: shows one of an earlier version, which does not say where it runs', async () => {
    const id = api.deps.newId()
    await api.deps.dispatchDb.sql`insert into muster_system.workers (id, runners, slots) values (${id}, '{own}', 1)`
    expect(await worker(id)).toMatchObject({ state: 'active', version: null, host: null, pid: null })
  })

  it('200: gives pages, the latest first', async () => {
    const ids = [await registered(), await registered()]
    const first = await api.call('GET', '/workers?limit=1', { key })
    const second = await api.call('GET', `/workers?limit=1&cursor=${first.body.next_cursor}`, { key })
    expect([first, second].map(({ body }) => body.items[0].id)).toEqual(ids.reverse())
  })

  it('403: shows the workers, which serve all projects, to no administrator of another project', async () => {
    const answer = await api.call('GET', '/workers', { key: await api.key(['admin'], await api.stranger()) })
    expect(answer.body).toMatchObject({ status: 403, code: 'forbidden', detail: expect.stringContaining('default project') })
  })
})

describe('POST /workers/{id}/drain', () => {
  it('202: the worker learns of it with its next heartbeat, and shows drained when it says so', async () => {
    const id = await registered()
    const { status, body } = await drain(id)
    expect([status, body]).toEqual([202, { worker_id: id, runs: 'finish', requested_at: expect.any(String) }])
    expect(await worker(id)).toMatchObject({ state: 'draining', drain: { runs: 'finish', drained_at: null } })
    expect(await beat(id)).toMatchObject({ drain: 'finish' })
    await beat(id, true)
    const { drain: drained, state } = await worker(id)
    expect([state, drained.drained_at]).toEqual(['drained', expect.any(String)])
    // The time of the first heartbeat that said so stays.
    await beat(id, true)
    expect((await worker(id)).drain).toEqual(drained)
  })

  it('202: changes nothing when repeated, turns from finish to release, and not back', async () => {
    const id = await registered()
    const first = (await drain(id)).body
    expect((await drain(id)).body).toEqual(first)
    expect((await drain(id, { runs: 'release' })).body).toEqual({ ...first, runs: 'release' })
    expect((await drain(id, { runs: 'finish' })).body).toEqual({ ...first, runs: 'release' })
  })

  it('400: refuses another way to drain', async () => {
    expect((await drain(await registered(), { runs: 'kill' })).body).toMatchObject({ status: 400, code: 'validation_failed' })
  })
})
