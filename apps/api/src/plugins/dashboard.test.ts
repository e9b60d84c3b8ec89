import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { advanceClock, resetClock, testDatabase } from '@muster/testing'
import { createApiKey, listApiKeys, revokeApiKey } from '@muster/usecases'
import Fastify from 'fastify'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'
import { addDashboard } from './dashboard.ts'

let api: TestApi
let admin: postgres.Sql

beforeAll(async () => {
  const database = await testDatabase()
  admin = postgres(database.adminUrl.replace(/\/[^/]*$/, `/${database.name}`), { max: 1, onnotice: () => {} })
  api = await startApi(database, { AUTH: 'keys' })
})
afterEach(() => resetClock(admin))
afterAll(async () => {
  await admin.end()
  await api.close()
})

const HOST = { host: 'muster.example' }

async function signIn(scopes: Parameters<TestApi['key']>[0] = ['subtasks:read', 'subtasks:write'], given?: string) {
  const key = given ?? (await api.key(scopes))
  const answer = await api.app.inject({ method: 'POST', url: '/ui/session', headers: HOST, payload: { key } })
  const [cookie] = answer.cookies as { name: string; value: string }[]
  return { key, answer, cookie: `${cookie?.name}=${cookie?.value}`, csrf: answer.json().csrf_token as string }
}

const read = (cookie: string, headers: Record<string, string> = {}) => api.app.inject({ url: '/subtasks', headers: { ...HOST, cookie, ...headers } })
const write = (cookie: string, headers: Record<string, string>) =>
  api.app.inject({ method: 'POST', url: '/subtasks', headers: { ...HOST, cookie, ...headers }, payload: { task: 'x', runner: 'external' } })

describe('the sign-in of a browser', () => {
  it('exchanges a key for a cookie that no page can read and no other site can send', async () => {
    const { answer, key } = await signIn()
    expect(answer.statusCode).toBe(200)
    expect(answer.cookies).toMatchObject([{ name: '__Host-muster_session', httpOnly: true, sameSite: 'Strict', secure: true, path: '/' }])
    expect(answer.json()).toMatchObject({ mode: 'keys', signed_in: true, scopes: ['subtasks:read', 'subtasks:write'] })
    expect(answer.body + JSON.stringify(answer.headers)).not.toContain(key)
  })

  it('needs no HTTPS on this machine', async () => {
    const answer = await api.app.inject({
      method: 'POST',
      url: '/ui/session',
      headers: { host: '127.0.0.1:7300' },
      payload: { key: await api.key(['subtasks:read']) },
    })
    expect(answer.cookies).toMatchObject([{ name: 'muster_session', httpOnly: true, sameSite: 'Strict' }])
    expect(answer.cookies[0]?.secure).toBeUndefined()
  })

  it('is not taken from a cookie that a sibling domain can plant', async () => {
    const { cookie } = await signIn()
    expect((await read(cookie.replace('__Host-', ''))).statusCode).toBe(401)
  })

  it('ends when the same browser signs in again, and stays when the other key is refused', async () => {
    const { cookie } = await signIn()
    const again = (key: string) => api.app.inject({ method: 'POST', url: '/ui/session', headers: { ...HOST, cookie }, payload: { key } })
    expect((await again('mst_key_wrong')).statusCode).toBe(401)
    expect((await read(cookie)).statusCode).toBe(200)
    const [next] = (await again(await api.key(['subtasks:read']))).cookies as { name: string; value: string }[]
    expect((await read(cookie)).json()).toMatchObject({ status: 401, code: 'unauthenticated' })
    expect((await read(`${next?.name}=${next?.value}`)).statusCode).toBe(200)
  })

  it('leaves the earlier one alone, and no new one, when that cannot be ended', async () => {
    const { cookie, key } = await signIn()
    const count = async () => (await admin`select count(*)::int as count from browser_sessions`)[0]?.count
    const before = await count()
    await admin.unsafe(`
      create function refuse_deletion() returns trigger language plpgsql as $$ begin raise exception 'no session ends now'; end $$;
      create trigger refuse_deletion before delete on browser_sessions for each row execute function refuse_deletion()`)
    const again = await api.app.inject({ method: 'POST', url: '/ui/session', headers: { ...HOST, cookie }, payload: { key } })
    await admin.unsafe('drop trigger refuse_deletion on browser_sessions; drop function refuse_deletion()')
    expect([again.statusCode, again.cookies]).toEqual([500, []])
    expect(api.takeErrors()).toEqual([expect.stringContaining('no session ends now')])
    expect(await count()).toBe(before)
    expect((await read(cookie)).statusCode).toBe(200)
  })

  it.each(['nonsense', `mst_key_${'A'.repeat(43)}`, 'mst_sub_x'])('401: refuses %j', async (key) => {
    const answer = await api.app.inject({ method: 'POST', url: '/ui/session', payload: { key } })
    expect(answer.json()).toMatchObject({ status: 401, code: 'unauthenticated' })
    expect(answer.cookies).toEqual([])
  })

  it('400: names what is wrong with the body', async () => {
    const answer = await api.app.inject({ method: 'POST', url: '/ui/session', payload: { token: 'x' } })
    expect(answer.json()).toMatchObject({ status: 400, code: 'validation_failed' })
  })

  it('opens what the key opens, and nothing else', async () => {
    const { cookie } = await signIn(['subtasks:read'])
    expect((await read(cookie)).statusCode).toBe(200)
    expect((await api.app.inject({ url: '/schedules', headers: { ...HOST, cookie } })).json()).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('lets a write through only with the token that only its own pages can read', async () => {
    const { cookie, csrf } = await signIn()
    expect((await write(cookie, {})).json()).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await write(cookie, { 'x-csrf-token': 'f'.repeat(64) })).json()).toMatchObject({ status: 403 })
    expect((await write(cookie, { 'x-csrf-token': csrf })).statusCode).toBe(202)
    const other = await signIn()
    expect((await write(cookie, { 'x-csrf-token': other.csrf })).statusCode).toBe(403)
  })

  it.each([
    ['of another origin', { origin: 'https://evil.example' }],
    ['of a sandboxed frame', { origin: 'null' }],
    ['of a sibling site', { 'sec-fetch-site': 'same-site' }],
  ])('403: refuses a request from a page %s', async (_, headers) => {
    const { cookie } = await signIn()
    expect((await read(cookie, headers)).json()).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('takes its own origin behind a proxy that ends TLS', async () => {
    const { cookie } = await signIn()
    expect((await read(cookie, { origin: 'https://muster.example', 'sec-fetch-site': 'same-origin' })).statusCode).toBe(200)
  })

  it('ends at once when its key is revoked', async () => {
    const { cookie } = await signIn()
    const [newest] = (await listApiKeys(api.ctx, { limit: 1 })).items
    await revokeApiKey(api.ctx, newest?.id ?? '')
    expect((await read(cookie)).json()).toMatchObject({ status: 401, detail: expect.stringContaining('revoked') })
    const session = await api.app.inject({ url: '/ui/session', headers: { ...HOST, cookie } })
    expect(session.json()).toMatchObject({ signed_in: false, reason: expect.stringContaining('revoked') })
    expect(session.cookies[0]).toMatchObject({ name: '__Host-muster_session', value: '' })
  })

  it('ends when its key expires', async () => {
    const { secret } = await createApiKey(api.ctx, { name: 'short', scopes: ['subtasks:read'], expiresAt: new Date(Date.now() + 3_600_000) })
    const { cookie, answer } = await signIn([], secret)
    expect(Date.parse(answer.json().expires_at)).toBeLessThanOrEqual(Date.now() + 3_600_000)
    expect((await read(cookie)).statusCode).toBe(200)
    await advanceClock(admin, '61 minutes')
    expect((await read(cookie)).json()).toMatchObject({ status: 401, code: 'unauthenticated' })
    const session = await api.app.inject({ url: '/ui/session', headers: { ...HOST, cookie } })
    expect(session.json()).toMatchObject({ mode: 'keys', signed_in: false })
    expect(session.cookies[0]).toMatchObject({ name: '__Host-muster_session', value: '' })
  })

  it('ends after a week', async () => {
    const { cookie } = await signIn()
    await advanceClock(admin, '8 days')
    expect((await read(cookie)).statusCode).toBe(401)
  })

  it('ends when the browser signs out', async () => {
    const { cookie, csrf } = await signIn()
    expect((await api.app.inject({ method: 'DELETE', url: '/ui/session', headers: { ...HOST, cookie } })).statusCode).toBe(403)
    expect((await api.app.inject({ method: 'DELETE', url: '/ui/session', headers: { ...HOST, cookie, 'x-csrf-token': csrf } })).statusCode).toBe(204)
    expect((await read(cookie)).statusCode).toBe(401)
    expect((await api.app.inject({ method: 'DELETE', url: '/ui/session', headers: { ...HOST, cookie } })).statusCode).toBe(204)
  })

  it('gets a new token after a while; the previous one stays valid for a minute, and of two requests at once one gets it', async () => {
    const { cookie, csrf } = await signIn()
    const renew = () => api.app.inject({ url: '/ui/session', headers: { ...HOST, cookie } })
    expect((await renew()).cookies).toEqual([])
    await advanceClock(admin, '16 minutes')
    const answers = await Promise.all([renew(), renew()])
    const cookies = answers.flatMap((answer) => answer.cookies as { value: string }[])
    expect(cookies).toHaveLength(1)
    const next = `__Host-muster_session=${cookies[0]?.value}`
    expect(answers.map((answer) => answer.json().csrf_token)).toEqual([csrf, csrf])
    expect((await read(cookie)).statusCode).toBe(200)
    expect((await write(next, { 'x-csrf-token': csrf })).statusCode).toBe(202)
    await advanceClock(admin, '18 minutes')
    expect((await read(cookie)).statusCode).toBe(401)
    expect((await read(next)).statusCode).toBe(200)
  })

  it('stores no token', async () => {
    const { cookie } = await signIn()
    const [row] = await admin`select string_agg(row_to_json(s)::text, '') as everything from browser_sessions s`
    expect(row?.everything).not.toContain(cookie.slice('__Host-muster_session=mst_web_'.length))
  })
})

describe('the pages of the dashboard', () => {
  let built: string

  beforeAll(async () => {
    built = `${await mkdtemp(join(tmpdir(), 'muster-built-'))}/`
    await mkdir(`${built}assets`)
    await writeFile(`${built}index.html`, '<title>Muster</title>')
    await writeFile(`${built}assets/app-1a2b.js`, 'export {}')
  })
  afterAll(() => rm(built, { recursive: true }))

  async function pages() {
    const app = Fastify()
    await app.register(import('@fastify/cookie'))
    await app.register(import('@fastify/rate-limit'))
    app.register((scope, _options, done) => {
      addDashboard(scope, api.deps, built)
      done()
    })
    return app
  }

  it('are found from /', async () => {
    const answer = await api.app.inject('/')
    expect(answer.statusCode).toBe(302)
    expect(answer.headers.location).toBe('/ui/')
  })

  it('are one page at every path, which is never older than the server, and files that never change', async () => {
    const app = await pages()
    for (const path of ['/ui/', '/ui/subtasks/0198c9b1-4c01-7000-8000-000000000001?tab=steps']) {
      const page = await app.inject(path)
      expect(page.body).toBe('<title>Muster</title>')
      expect(page.headers['cache-control']).toBe('no-cache')
    }
    const file = await app.inject('/ui/assets/app-1a2b.js')
    expect(file.headers['content-type']).toContain('javascript')
    expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect((await app.inject('/ui/assets/none.js')).statusCode).toBe(404)
    expect((await app.inject('/ui/assets/../../package.json')).body).not.toContain('"name"')
    expect((await app.inject('/ui/assets/%2e%2e/%2e%2e/package.json')).body).not.toContain('"name"')
  })

  it('run no script but their own', async () => {
    const csp = String((await (await pages()).inject('/ui/')).headers['content-security-policy'])
    expect(csp).toContain("default-src 'none'")
    expect(csp).toContain("script-src 'self';")
    expect(csp).toContain("style-src 'self';")
    expect(csp).toContain("require-trusted-types-for 'script'")
    expect(csp).not.toContain('unsafe')
    expect(csp).toContain("frame-ancestors 'none'")
  })
})
