import { randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { testDatabase } from '@muster/testing'
import { listAuditEntries } from '@muster/usecases'
import postgres from 'postgres'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { components } from '../../http/schemas.ts'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'
import { putTsgEndpoint } from '../guides/put.ts'
import { endpoints } from '../index.ts'

let api: TestApi
let key: string
let admin: postgres.Sql

beforeAll(async () => {
  const database = await testDatabase()
  api = await startApi(database, { SUBTASK_MAX_PENDING: '1000', SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` })
  key = await api.key(['admin'])
  admin = postgres(database.adminUrl, { max: 1 })
})
afterAll(async () => {
  await admin.end()
  await api.close()
})

const made = async (path: string, body: object) => (await api.call('POST', path, { key, body })).body
const task = async () => (await made('/tasks', { title: 'Count', instructions: 'Count the files.' })).id as string
const guide = async (): Promise<string> =>
  (await made('/tsgs', { tsg_id: `guide-${randomUUID()}`, title: 'A guide', content: 'Restart it.', patterns: ['EADDRINUSE'] })).tsg_id
const webhook = async () => (await made('/webhooks', { url: 'https://example.com/', events: ['*'] })).id as string
const definition = '---\ndescription: Counts files.\n---\n\nCount them.'
const putDefinition = () => api.call('PUT', '/subagents/counter', { key, raw: definition, headers: { 'content-type': 'text/markdown' } })

interface Prepared {
  path: string
  body?: object
  raw?: string
  headers?: Record<string, string>
}

/** What each write that is no POST needs. Those are in `idempotency.test.ts`, with the same assertion. */
const prepare: Record<string, () => Promise<Prepared>> = {
  reviseTask: async () => ({ path: `/tasks/${await task()}`, body: { title: 'Count all' }, headers: { 'if-match': '"1"' } }),
  cancelSubtask: async () => ({ path: `/subtasks/${(await spawnExternal(api.ctx)).id}` }),
  linkTsg: async () => ({ path: `/tasks/${await task()}/tsgs/${await guide()}` }),
  unlinkTsg: async () => ({ path: `/tasks/${await task()}/tsgs/${await guide()}` }),
  reviseSchedule: async () => ({
    path: `/schedules/${(await made('/schedules', { task: 'x', every: '1 hour', runner: 'external' })).id}`,
    body: { every: '2 hours' },
  }),
  deactivateSchedule: async () => ({ path: `/schedules/${(await made('/schedules', { task: 'x', every: '1 hour', runner: 'external' })).id}` }),
  putSubagent: async () => ({ path: '/subagents/writer', raw: definition, headers: { 'content-type': 'text/markdown' } }),
  deleteSubagent: async () => {
    await putDefinition()
    return { path: '/subagents/counter' }
  },
  putTsg: async () => ({
    path: `/tsgs/put-${randomUUID()}`,
    raw: components.get(putTsgEndpoint.markdown as z.ZodType)?.example as string,
    headers: { 'content-type': 'text/markdown' },
  }),
  updateTsg: async () => ({ path: `/tsgs/${await guide()}`, body: { title: 'Another title' } }),
  deleteTsg: async () => ({ path: `/tsgs/${await guide()}` }),
  deleteFact: async () => ({ path: `/memory/facts/${(await made('/memory/facts', { content: 'x' })).id}` }),
  forgetEpisode: async () => {
    const { id } = await spawnExternal(api.ctx)
    await api.call('DELETE', `/subtasks/${id}`, { key })
    return { path: `/memory/episodes/${id}` }
  },
  updateProject: async () => ({ path: `/projects/${api.ctx.actor.projectId}`, body: { settings: { limits: { pending_per_agent: 500 } } } }),
  updateWebhook: async () => ({ path: `/webhooks/${await webhook()}`, body: { description: 'x' } }),
  deleteWebhook: async () => ({ path: `/webhooks/${await webhook()}` }),
  revokeApiKey: async () => ({ path: `/api-keys/${(await made('/api-keys', { name: 'short', scopes: ['subtasks:read'] })).id}` }),
}

const writes = endpoints(new Registry()).filter(({ method }) => !['GET', 'POST'].includes(method))

describe('a write', () => {
  it.each(writes.map((endpoint) => ({ endpoint, name: `${endpoint.method} ${endpoint.path}` })))('$name leaves one entry', async ({ endpoint }) => {
    const prepared = await prepare[endpoint.operationId]?.()
    if (prepared === undefined)
      throw new Error(`${endpoint.operationId} has no row: say in \`prepare\` what has to be there, or in the endpoint why it is \`unaudited\`.`)
    const { path, ...options } = prepared
    const answer = await api.call(endpoint.method as 'PUT', path, { key, ...options })
    expect(answer.status, answer.text).toBeLessThan(300)
    const { items } = await listAuditEntries(api.ctx, { operation: endpoint.operationId, limit: 200 })
    const own = items.filter(({ origin }) => origin.requestId === answer.headers['x-request-id'])
    expect(own).toHaveLength(1)
    for (const id of Object.values(own[0]?.origin.ids ?? {})) expect(`${path} ${answer.text}`).toContain(id)
  })

  it('says who, from where, on what and which fields, and no value', async () => {
    const { id } = (await api.call('POST', '/api-keys', { key, from: '10.1.2.3', body: { name: 'a-very-secret-name', scopes: ['tsgs:read'] } })).body
    const { items } = (await api.call('GET', `/audit?operation=createApiKey&subject=${id}`, { key })).body
    expect(items).toMatchObject([
      {
        actor: { kind: 'key', id: expect.any(String) },
        door: 'http',
        address: '10.1.2.3',
        operation: 'createApiKey',
        ids: { api_key_id: id },
        fields: ['name', 'scopes'],
      },
    ])
    const stored = JSON.stringify(await admin`select * from audit_log`)
    expect(stored).not.toContain('a-very-secret-name')
    expect(stored).not.toContain('mst_')
  })

  it('leaves an entry for each of many spawns that share a transaction', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => api.call('POST', '/subtasks', { key, body: { task: 'x', runner: 'external' } })))
    const ids = new Set(answers.map(({ body }) => body.id))
    const { items } = await listAuditEntries(api.ctx, { operation: 'createSubtask', limit: 100 })
    expect(items.filter(({ origin }) => ids.has(origin.ids.id ?? ''))).toHaveLength(30)
  })

  it('that is refused leaves none', async () => {
    const before = (await listAuditEntries(api.ctx, { limit: 1 })).items[0]?.seq
    expect((await api.call('POST', '/tasks', { key, body: { title: '' } })).status).toBe(400)
    expect((await api.call('DELETE', `/api-keys/${randomUUID()}`, { key })).status).toBe(404)
    expect((await listAuditEntries(api.ctx, { limit: 1 })).items[0]?.seq).toBe(before)
  })

  it('of a project that names nothing leaves none, with If-Match or without', async () => {
    const path = `/projects/${api.ctx.actor.projectId}`
    const before = (await listAuditEntries(api.ctx, { limit: 1 })).items[0]?.seq
    const { etag } = (await api.call('GET', path, { key })).headers
    for (const headers of [{}, { 'if-match': String(etag) }, { 'content-type': 'application/merge-patch+json' }])
      expect((await api.call('PATCH', path, { key, raw: '{}', headers })).status).toBe(200)
    expect((await listAuditEntries(api.ctx, { limit: 1 })).items[0]?.seq).toBe(before)
  })

  it('of a tool says which one', async () => {
    const input = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'learn_fact', arguments: { content: 'The port is 7300.' } } }
    const answer = await api.call('POST', '/mcp', {
      key,
      body: input,
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    })
    expect(answer.status, answer.text).toBe(200)
    const { items } = (await api.call('GET', '/audit?door=mcp', { key })).body
    expect(items).toMatchObject([{ operation: 'learn_fact', fields: ['content'] }])
  })
})

describe('GET /audit', () => {
  it('200: gives pages by cursor, the latest first, and finds by actor and time', async () => {
    const first = (await api.call('GET', '/audit?limit=2', { key })).body
    const second = (await api.call('GET', `/audit?limit=2&cursor=${first.next_cursor}`, { key })).body
    const seqs = [...first.items, ...second.items].map(({ seq }: { seq: number }) => seq)
    expect(seqs).toEqual([...new Set(seqs)].sort((one, other) => other - one))
    const { items } = (await api.call('GET', `/audit?actor=${randomUUID()}`, { key })).body
    expect(items).toEqual([])
    expect((await api.call('GET', '/audit?since=2999-01-01T00:00:00Z', { key })).body.items).toEqual([])
    expect((await api.call('GET', '/audit?until=2000-01-01T00:00:00Z', { key })).body.items).toEqual([])
  })

  it('200: shows nothing of another project', async () => {
    const other = await api.key(['admin'], await api.stranger())
    expect((await api.call('GET', '/audit', { key: other })).body.items).toEqual([])
  })
})

describe('GET /audit/export', () => {
  it('200: streams all entries, the oldest first', async () => {
    const { body } = await api.call('GET', '/audit/export', { key })
    const [{ count }] = (await admin`select count(*)::int as count from audit_log`) as unknown as [{ count: number }]
    const seqs = body.map(({ seq }: { seq: number }) => seq)
    expect(seqs).toHaveLength(count)
    expect(seqs).toEqual([...seqs].sort((one: number, other: number) => one - other))
  })
})

describe('the audit log', () => {
  it('can be changed by no role of a process', async () => {
    for (const role of ['muster_app', 'muster_dispatch']) {
      for (const statement of ['update audit_log set operation = $$x$$', 'delete from audit_log', 'truncate audit_log']) {
        const tried = admin.begin(async (sql) => {
          await sql.unsafe(`set local role ${role}`)
          await sql.unsafe(statement)
        })
        await expect(tried).rejects.toMatchObject({ code: '42501' })
      }
    }
  })

  it('loses only what is older than 30 days, whatever a process asks for', async () => {
    const [{ seq }] =
      (await admin`update audit_log set at = at - interval '31 days' where seq = (select min(seq) from audit_log) returning seq`) as unknown as [
        { seq: number },
      ]
    const [before] = await admin`select count(*)::int as count from audit_log`
    const deleted = await admin.begin(async (sql) => {
      await sql`set local role muster_dispatch`
      return await sql`select muster_delete_audit(0, 100) as deleted`
    })
    expect(deleted).toEqual([{ deleted: 1 }])
    expect(await admin`select seq from audit_log where seq = ${seq}`).toEqual([])
    expect(await admin`select count(*)::int as count from audit_log`).toEqual([{ count: before?.count - 1 }])
  })
})

describe('docs/operations.md', () => {
  it('names every operation whose writes leave no entry', async () => {
    const text = await readFile(new URL('../../../../../docs/operations.md', import.meta.url), 'utf8')
    const section = text.slice(text.indexOf('## Audit log'))
    const ids = endpoints(new Registry()).flatMap(({ operationId, unaudited }) => (unaudited === undefined ? [] : [operationId]))
    expect(ids.length).toBeGreaterThan(0)
    expect(ids.filter((id) => !section.includes(`\`${id}\``))).toEqual([])
  })
})
