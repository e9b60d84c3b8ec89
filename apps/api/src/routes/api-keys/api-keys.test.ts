import { testDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../testing/api.ts'

describe('/api-keys', () => {
  let api: TestApi
  let key: string
  let admin: postgres.Sql

  beforeAll(async () => {
    const database = await testDatabase()
    admin = postgres(database.adminUrl, { max: 1 })
    api = await startApi(database)
    key = await api.key(['admin'])
  })
  afterAll(async () => {
    await admin.end()
    await api.close()
  })

  const create = (body: object, headers: Record<string, string> = {}) => api.call('POST', '/api-keys', { key, body, headers })

  it('POST 201: shows the key, once', async () => {
    const answer = await create({ name: 'reader', scopes: ['subtasks:read', 'subtasks:read'] })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ name: 'reader', scopes: ['subtasks:read'], agent_id: null, expires_at: null, revoked_at: null })
    expect(answer.body.key.startsWith(answer.body.key_prefix)).toBe(true)
    expect((await api.call('GET', '/subtasks', { key: answer.body.key })).status).toBe(200)
    const list = await api.call('GET', '/api-keys', { key })
    expect(list.text).not.toContain(answer.body.key)
    expect(list.body.items[0].id).toBe(answer.body.id)
  })

  it('POST 201: repeats the answer without the key', async () => {
    const headers = { 'idempotency-key': 'key-1' }
    const first = await create({ name: 'once', scopes: ['admin'] }, headers)
    const second = await create({ name: 'once', scopes: ['admin'] }, headers)
    expect(second.body).toEqual({ ...first.body, key: null })
  })

  it('POST 400: names scopes and times that are none', async () => {
    const answer = await create({ name: '', scopes: ['everything'], expires_at: 'tomorrow' })
    expect(answer.body.errors.map((each: { pointer: string }) => each.pointer)).toEqual(['/name', '/scopes/0', '/expires_at'])
  })

  it('POST 400: refuses a time that is over, by the clock of the database', async () => {
    const answer = await create({ name: 'old', scopes: ['admin'], expires_at: '2020-01-01T00:00:00+01:00' })
    expect(answer.body).toMatchObject({
      status: 400,
      code: 'validation_failed',
      errors: [{ pointer: '/expires_at', reason: expect.stringContaining('must be in the future'), value: '2019-12-31T23:00:00.000Z' }],
    })
    const list = await api.call('GET', '/api-keys', { key })
    expect(list.body.items.map(({ name }: { name: string }) => name)).not.toContain('old')
  })

  it('401: an expired key opens nothing', async () => {
    const { body } = await create({ name: 'brief', scopes: ['admin'], expires_at: '2999-01-01T00:00:00+01:00' })
    expect(body.expires_at).toBe('2998-12-31T23:00:00.000Z')
    await admin`update api_keys set expires_at = now() - interval '1 second' where id = ${body.id}`
    expect((await api.call('GET', '/subtasks', { key: body.key })).status).toBe(401)
  })

  it('DELETE 204: revokes at once, and again', async () => {
    const { body } = await create({ name: 'short', scopes: ['admin'] })
    for (const _ of [1, 2]) expect((await api.call('DELETE', `/api-keys/${body.id}`, { key })).status).toBe(204)
    const refused = await api.call('GET', '/subtasks', { key: body.key })
    expect(refused.status).toBe(401)
    expect(refused.headers['www-authenticate']).toContain('Bearer')
  })

  it('DELETE 404: knows no key of another project', async () => {
    const { body } = await create({ name: 'ours', scopes: ['subtasks:read'] })
    const strange = await api.key(['admin'], await api.stranger())
    expect((await api.call('DELETE', `/api-keys/${body.id}`, { key: strange })).status).toBe(404)
    expect((await api.call('GET', '/subtasks', { key: body.key })).status).toBe(200)
  })
})
