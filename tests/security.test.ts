import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'
import { mainOf, type System, startSystem } from './harness/system.ts'
import type { ClaimedSubtask, Problem } from './harness/wire.ts'

let open: System
let keyed: System

beforeAll(async () => {
  ;[open, keyed] = await Promise.all([startSystem({ workers: 0 }), startSystem({ env: { AUTH: 'keys' } })])
})
afterAll(async () => {
  await Promise.all([open.close(), keyed.close()])
})

/** As a program that sets what `fetch` would not let it set. */
function send(address: string, path: string, headers: Record<string, string>, method = 'GET'): Promise<{ status: number; body: Partial<Problem> }> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, address), { method, headers }, (response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text.startsWith('{') ? (JSON.parse(text) as Partial<Problem>) : {} }))
    })
    sent.on('error', reject)
    sent.end(method === 'GET' ? undefined : '{"task":"Count."}')
  })
}

describe('a server that is open on loopback', () => {
  const port = () => new URL(open.api.address).port
  const json = { 'content-type': 'application/json' }

  it.each([
    ['a name that was made to point here', () => ({ host: `evil.example:${port()}` })],
    ['another address', () => ({ host: '192.0.2.1' })],
    ['a name that only begins like localhost', () => ({ host: `localhost.evil.example:${port()}` })],
    ['a web page', () => ({ origin: 'https://evil.example' })],
    ['a page without an origin of its own', () => ({ origin: 'null' })],
    ['a page of another program on this machine', () => ({ origin: 'http://127.0.0.1:1' })],
    ['a page of another site, by its fetch metadata', () => ({ 'sec-fetch-site': 'cross-site' })],
  ])('takes no call that comes by way of %s', async (_, headers) => {
    for (const method of ['GET', 'POST']) {
      const { status, body } = await send(open.api.address, '/subtasks', { ...json, ...headers() }, method)
      expect([status, body.code]).toEqual([403, 'forbidden'])
    }
    expect(await open.admin`select from subtasks`).toEqual([])
  })

  it.each([
    ['its address', () => ({})],
    ['localhost', () => ({ host: `localhost:${port()}` })],
    ['a page of its own', () => ({ origin: open.api.address, 'sec-fetch-site': 'same-origin' })],
  ])('takes calls by way of %s', async (_, headers) => {
    expect((await send(open.api.address, '/subtasks', { ...json, ...headers() })).status).toBe(200)
  })

  it('holds nobody to be everybody who shows a credential that is none', async () => {
    const { status, body } = await send(open.api.address, '/subtasks', { authorization: 'Bearer mst_key_wrong' })
    expect([status, body.code]).toEqual([401, 'unauthenticated'])
  })
})

describe('a server that asks for keys', () => {
  it('does not look at Host and Origin, which a proxy may have set', async () => {
    const { key } = await keyed.mintKey(['subtasks:read'])
    const headers = { authorization: `Bearer ${key}`, host: 'muster.example', origin: 'https://app.example' }
    expect((await send(keyed.api.address, '/subtasks', headers)).status).toBe(200)
  })

  it('looks at no more keys of an address that has tried more than a hundred wrong ones', async () => {
    const api = await keyed.startApi()
    const statuses: number[] = []
    for (let nth = 0; nth < 110; nth += 1) statuses.push((await api.client.call('GET', '/subtasks', { key: `mst_key_wrong_${nth}` })).status)
    const answer = await api.client.call<Problem>('GET', '/subtasks', { key: 'mst_key_wrong' })

    expect([answer.status, answer.body.code]).toEqual([429, 'rate_limited'])
    expect(new Set(statuses.slice(0, 100))).toEqual(new Set([401]))
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await api.client.call('GET', '/healthz')).status).toBe(200)
  })

  it('refuses a key from the moment that it is revoked', async () => {
    const admin = keyed.client.as((await keyed.mintKey()).key)
    const { id, key } = await admin.ok<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'short-lived', scopes: ['subtasks:read'] } })
    const client = keyed.client.as(key)
    expect((await client.call('GET', '/subtasks')).status).toBe(200)
    expect((await admin.call('DELETE', `/api-keys/${id}`)).status).toBe(204)
    expect((await client.call('GET', '/subtasks')).status).toBe(401)
    const stored = JSON.stringify(await keyed.admin`select to_jsonb(k) from api_keys k`)
    expect(stored).not.toContain(key)
  })

  it('lets a key that is bound to an agent speak for no other', async () => {
    const bound = keyed.client.as((await keyed.mintKey(['subtasks:write'], { agentId: 'docs' })).key)
    expect(await bound.spawn({ task: 'Count.', agent_id: 'somebody-else' })).toMatchObject({ agent_id: 'docs' })
  })
})

describe("a subtask's own credential", () => {
  it('neither spawns nor claims, sees only its own work, and ends with its attempt', async () => {
    const admin = keyed.client.as((await keyed.mintKey()).key)
    const other = await admin.spawn({ task: 'Somebody else is at work.', runner: 'external', agent_id: 'other', parent_session_id: 'parent' })
    const session = { worker_id: 'inside' }
    const calls: [string, string, (object | undefined)?][] = [
      ['GET', '/subtasks/{own}'],
      ['GET', '/subtasks/{own}/steps'],
      ['GET', '/subtasks/{own}/updates'],
      ['GET', '/subtasks/{own}/events'],
      ['GET', '/subtasks'],
      ['POST', '/subtasks', { task: 'Start another.' }],
      ['GET', `/subtasks/${other.id}`],
      ['GET', `/subtasks/${other.id}/events`],
      ['GET', `/subtasks/${other.id}/steps`],
      ['DELETE', `/subtasks/${other.id}`],
      ['DELETE', '/subtasks/{own}'],
      ['POST', '/subtasks/{own}/updates', { content: 'Be kind to yourself.' }],
      ['POST', '/subtasks/claim', session],
      ['POST', '/sessions/parent/inbox/claim', {}],
      ['POST', '/api-keys', { name: 'escape', scopes: ['admin'] }],
      ['GET', '/api-keys'],
      ['GET', `/projects/${keyed.ctx.actor.projectId}`],
    ]
    const { id } = await admin.spawn({ task: 'Try every door.', runner: 'credential', metadata: { calls } })
    const ended = await admin.ended(id)
    const { token, environment } = (await keyed.ledger.written(id, 'token')) as unknown as { token: string; environment: string[] }
    keyed.addSecret(token)
    expect(ended.status).toBe('completed')
    const answers = JSON.parse(ended.result ?? '[]') as { call: string; status: number; body: { code?: string; items?: { id: string }[]; id?: string } }[]

    expect(answers.map(({ call, status, body }) => `${call.replaceAll(other.id, '{other}')} ${status}${body.code ? ` ${body.code}` : ''}`)).toEqual([
      'GET /subtasks/{own} 200',
      'GET /subtasks/{own}/steps 200',
      'GET /subtasks/{own}/updates 200',
      'GET /subtasks/{own}/events 200',
      'GET /subtasks 200',
      'POST /subtasks 403 spawn_blocked',
      'GET /subtasks/{other} 404 not_found',
      'GET /subtasks/{other}/events 404 not_found',
      'GET /subtasks/{other}/steps 404 not_found',
      'DELETE /subtasks/{other} 403 forbidden',
      'DELETE /subtasks/{own} 403 forbidden',
      'POST /subtasks/{own}/updates 403 forbidden',
      'POST /subtasks/claim 403 forbidden',
      'POST /sessions/parent/inbox/claim 404 not_found',
      'POST /api-keys 403 forbidden',
      'GET /api-keys 403 forbidden',
      `GET /projects/${keyed.ctx.actor.projectId} 403 forbidden`,
    ])
    expect(answers[4]?.body.items?.map((item) => item.id)).toEqual([id])
    expect((await keyed.client.as(token).call('GET', `/subtasks/${id}`)).status).toBe(401)
    // What the worker knows besides is none of a program's business; by the guard's mark its processes are found when they have left their group.
    expect(environment.filter((name) => /DATABASE|PASSWORD|MUSTER_(?!URL|TOKEN|SUBTASK_ID|ATTEMPT|SESSION_ID|WORKSPACE|GUARD)/.test(name))).toEqual([])
    await admin.cancel(other.id)
  })

  it('of an outside worker ends when its lease is given back', async () => {
    const admin = keyed.client.as((await keyed.mintKey()).key)
    const { id } = await admin.spawn({ task: 'Work outside.', runner: 'external', agent_id: 'outside' })
    const claimed = (await admin.claim()) as ClaimedSubtask
    const inside = keyed.client.as(claimed.credential)
    expect(await inside.get(id)).toMatchObject({ id, status: 'running' })
    const spawn = await inside.call<Problem>('POST', '/subtasks', { body: { task: 'Start another.' } })
    expect([spawn.status, spawn.body.code, spawn.body.title]).toEqual([403, 'spawn_blocked', 'SpawnBlocked'])
    await admin.release(claimed)
    expect((await inside.call('GET', `/subtasks/${id}`)).status).toBe(401)
    await admin.cancel(id)
  })
})

describe('a configuration that is wrong', () => {
  async function start(app: 'api' | 'worker', env: Record<string, string | undefined>): Promise<{ code: number | null; text: string }> {
    const child = new Child({ name: app, argv: [process.execPath, mainOf(app)], env: open.environment(env) })
    const { code } = await child.exited
    return { code, text: child.text }
  }

  it.each(['0.0.0.0', '::', '192.0.2.1'])('open on %s does not start', async (host) => {
    const { code, text } = await start('api', { AUTH: 'open', HOST: host })
    expect(code).toBe(1)
    expect(text).toContain(`AUTH: open is allowed only on a loopback HOST, and HOST is ${host}`)
  })

  it.each(['api', 'worker'] as const)('is told with every problem at once, without a stack, by the %s', async (app) => {
    const { code, text } = await start(app, {
      PORT: 'seven',
      AUTH: 'none',
      COMMAND_RUNNERS: '{"x": {}}',
      SUBTASK_WORKERS: '0',
      DATABASE_URL: 'mysql://localhost/muster',
    })
    expect(code).toBe(1)
    for (const name of ['PORT', 'AUTH', 'COMMAND_RUNNERS.x.argv', 'SUBTASK_WORKERS', 'DATABASE_URL']) expect(text).toContain(`  - ${name}: `)
    expect(text).toContain('5 problems')
    expect(text).not.toMatch(/\n\s+at /)
  })

  it.each(['api', 'worker'] as const)('without a database is told what to do, by the %s', async (app) => {
    const { code, text } = await start(app, { DATABASE_URL: undefined })
    expect(code).toBe(1)
    expect(text).toContain('DATABASE_URL')
    expect(text).toContain('npm start')
  })

  it.each(['api', 'worker'] as const)('with a login that could bypass row-level security does not work: the %s says so and ends', async (app) => {
    const { code, text } = await start(app, { DATABASE_URL: open.database.adminUrl })
    expect(code).toBe(1)
    expect(text).toContain('row-level security')
    expect(text).not.toContain(new URL(open.database.adminUrl).password)
  })
})
