import { testDatabase } from '@muster/testing'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '../routes/index.ts'
import { startApi, type TestApi } from '../testing/api.ts'
import { components } from './schemas.ts'

const UNKNOWN = '01990000-0000-7000-8000-000000000000'
/** More values than a body may have. */
const TOO_MANY = 20_001
/** As many as pass. */
const MANY = 19_000
/** No answer about a body says more than this, in bytes, however much is wrong with it. */
const ANSWER_BYTES_MAX = 64 * 1024

let api: TestApi

beforeAll(async () => {
  api = await startApi(await testDatabase(), { AUTH: 'open' })
})
afterAll(() => api.close())

const record = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`k${nth}`, 0]))
const withBody = endpoints(new Registry()).filter(
  ({ body, yieldsAfterMs, takesFiles }) => body !== undefined && yieldsAfterMs === undefined && takesFiles !== true,
)
const rows = withBody.map((endpoint) => ({
  endpoint,
  name: `${endpoint.method} ${endpoint.path}`,
  path: endpoint.path.replaceAll(/\{\w+\}/g, UNKNOWN),
  example: components.get(endpoint.body as never)?.example as Record<string, unknown>,
}))

describe('a body with very many values', () => {
  it.each(rows)('413: $name refuses one with more than 20,000, whatever they are', async ({ endpoint, path, example }) => {
    const bodies = [record(TOO_MANY), { ...example, metadata: record(TOO_MANY) }, { ...example, nested: Array.from({ length: 150 }, () => record(150)) }]
    for (const body of bodies) {
      const answer = await api.call(endpoint.method, path, { body, headers: { 'if-match': '"1"' } })
      expect(answer.body).toMatchObject({ status: 413, code: 'payload_too_large', detail: expect.stringContaining('20,000 fields and list items') })
    }
  })

  it.each(rows)('400: $name names 50 of its unknown fields, and says how many more there are', async ({ endpoint, path }) => {
    const answer = await api.call(endpoint.method, path, { body: record(MANY), headers: { 'if-match': '"1"' } })
    expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed' })
    expect(answer.body.errors).toHaveLength(50)
    expect(answer.body.errors_omitted).toBeGreaterThanOrEqual(MANY - 50)
    expect(answer.text.length).toBeLessThan(ANSWER_BYTES_MAX)
  })

  it.each(rows)('$name answers briefly for lists of many wrong items, in every field', async ({ endpoint, path, example }) => {
    const fields = Object.keys((endpoint.body as unknown as { shape?: object }).shape ?? example)
    for (const field of fields) {
      const body = { ...example, [field]: Array.from({ length: MANY }, () => null) }
      const answer = await api.call(endpoint.method, path, { body, headers: { 'if-match': '"1"' } })
      expect([field, answer.status >= 500 ? answer.text : 'no failure']).toEqual([field, 'no failure'])
      expect(answer.text.length).toBeLessThan(ANSWER_BYTES_MAX)
    }
  })

  it('counts what stands between quotes as one value', async () => {
    const task = '[{"a\\",":1},'.repeat(1_000)
    expect((await api.call('POST', '/subtasks', { body: { task, runner: 'external' } })).status).toBe(202)
  })

  it('413: also to /mcp, where a tool would have taken it', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'check_in', arguments: record(TOO_MANY) } }
    expect((await api.call('POST', '/mcp', { body: call })).body).toMatchObject({ status: 413, code: 'payload_too_large' })
  })

  it('is answered with 50 problems by a tool as well', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_task', arguments: record(MANY) } }
    const headers = { accept: 'application/json, text/event-stream' }
    const answer = await api.call('POST', '/mcp', { body: call, headers })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('errors_omitted')
    expect(answer.text.length).toBeLessThan(ANSWER_BYTES_MAX)
  })

  it('is answered with nothing by the hook of Claude Code', async () => {
    const answer = await api.call('POST', '/hooks/claude-code', { body: record(TOO_MANY) })
    expect([answer.status, answer.text]).toEqual([200, ''])
  })

  it.each([
    ['PUT', '/subagents/many'],
    ['PUT', '/tsgs/many'],
  ] as const)('%s %s answers briefly for front matter of many fields', async (method, path) => {
    const yaml = Object.keys(record(20_000)).map((key) => `${key}: 1`)
    const raw = `---\n${yaml.join('\n')}\n---\n\nText.`
    const answer = await api.call(method, path, { raw, headers: { 'content-type': 'text/markdown' } })
    expect([400, 422]).toContain(answer.status)
    expect(answer.text.length).toBeLessThan(ANSWER_BYTES_MAX)
  })
})
