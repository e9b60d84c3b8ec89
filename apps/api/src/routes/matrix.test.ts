import { SCOPES } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sealCursor } from '../http/cursor.ts'
import { components } from '../http/schemas.ts'
import { startApi, type TestApi } from '../testing/api.ts'
import { endpoints } from './index.ts'

const FORM = '--part\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n---\ndescription: A test\n---\n\r\n--part--\r\n'

/** What every endpoint refuses in the same way. A new one joins by itself. */
const guarded = endpoints(new Registry()).filter(({ access, isPublicOnLoopback }) => access !== 'public' && isPublicOnLoopback !== true)
const UNKNOWN = '01990000-0000-7000-8000-000000000000'
const rows = guarded.map((endpoint, place) => ({
  name: `${endpoint.method} ${endpoint.path}`,
  endpoint,
  path: endpoint.path.replaceAll(/\{\w+\}/g, UNKNOWN),
  // Each from an address of its own: one that tries too many wrong keys is not heard any more.
  from: `10.0.0.${place}`,
}))

describe('every endpoint that needs a key', () => {
  let api: TestApi
  let admin: string
  let strange: string

  beforeAll(async () => {
    api = await startApi(await testDatabase())
    admin = await api.key(['admin'])
    strange = await api.key(['admin'], await api.stranger())
  })
  afterAll(() => api.close())

  const body = ({ body: json, markdown, takesFiles }: (typeof guarded)[number]) => {
    if (takesFiles === true) return { raw: FORM, headers: { 'content-type': 'multipart/form-data; boundary=part' } }
    if (json !== undefined) return { body: components.get(json)?.example }
    return markdown === undefined ? {} : { raw: components.get(markdown)?.example as string, headers: { 'content-type': 'text/markdown' } }
  }

  it.each(rows)('401: $name needs a key', async ({ endpoint, path, from }) => {
    for (const key of [undefined, 'mst_key_wrong', 'something else']) {
      const answer = await api.call(endpoint.method, path, { key, from, ...body(endpoint) })
      expect(answer.status).toBe(401)
      expect(answer.body.code).toBe('unauthenticated')
      expect(answer.headers['www-authenticate']).toContain('Bearer')
    }
  })

  it.each(rows)('403: $name needs its scope, before anything of the request is looked at', async ({ endpoint, path }) => {
    const key = await api.key(SCOPES.filter((scope) => scope !== endpoint.access && scope !== 'admin'))
    const answer = await api.call(endpoint.method, path, { key, raw: '{' })
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({ code: 'forbidden', required_scope: endpoint.access })
  })

  /** A session, and a guide or a sub-agent that is put, are there as soon as they are named; a fact that is deleted is gone, whether it was there or not. */
  const isNamedByCaller = ({ method, path, operationId }: (typeof guarded)[number]) =>
    operationId === 'deleteFact' ||
    (path.startsWith('/sessions/') && !path.startsWith('/sessions/{id}/injections/{claim_id}')) ||
    (method === 'PUT' && (path === '/tsgs/{tsg_id}' || path === '/subagents/{name}'))

  it.each(rows.filter(({ endpoint }) => /\{(?:(?:tsg_)?id|name)\}/.test(endpoint.path) && !isNamedByCaller(endpoint)))(
    '404: $name knows nothing by an unknown id, in whichever project',
    async ({ endpoint, path }) => {
      for (const key of [admin, strange])
        expect((await api.call(endpoint.method, path, { key, ...body(endpoint) })).body).toMatchObject({
          status: 404,
          code: path.startsWith('/subagents/') ? 'subagent_not_found' : 'not_found',
        })
    },
  )

  /** One that must not fail answers with nothing, as its own tests say. */
  const telling = rows.filter(({ endpoint }) => endpoint.yieldsAfterMs === undefined)

  it.each(telling.filter(({ endpoint }) => endpoint.body !== undefined && endpoint.takesFiles !== true))(
    '400: $name refuses a body that it cannot read',
    async ({ endpoint, path }) => {
      for (const raw of ['{', '"text"', '[1]', '{"no_such_field": 1}']) {
        const answer = await api.call(endpoint.method, path, { key: admin, raw })
        expect(answer.status).toBe(400)
        expect(answer.body.code).toBe('validation_failed')
      }
    },
  )

  it.each(telling)('400: $name refuses a parameter that it does not know', async ({ endpoint, path }) => {
    const answer = await api.call(endpoint.method, `${path}?no_such_parameter=1`, { key: admin, ...body(endpoint) })
    expect(answer.status).toBe(400)
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer: '?no_such_parameter' }))
  })

  const lists = rows.filter(({ endpoint: { query } }) => query instanceof z.ZodObject && 'cursor' in query.shape)

  it.each(lists)('400: $name refuses a cursor that it has not given out', async ({ path }) => {
    for (const cursor of [UNKNOWN, '1', sealCursor({ operationId: 'another', params: null, query: {} }, UNKNOWN)]) {
      const parameters = new URLSearchParams({ cursor })
      const answer = await api.call('GET', `${path}?${parameters}`, { key: admin })
      expect(answer.body).toMatchObject({ status: 400, code: 'cursor_invalid', detail: expect.stringContaining('start again without a cursor') })
    }
  })

  it('declares each operation once', () => {
    const ids = guarded.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
