import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'

const ORIGIN = 'https://app.example.com'
const PREFLIGHT = { origin: ORIGIN, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'authorization,if-match' }

const apis: TestApi[] = []
const start = async (origins?: string) => {
  const api = await startApi(await testDatabase(), origins === undefined ? {} : { CORS_ORIGINS: origins })
  apis.push(api)
  return { api, key: await api.key(['admin']) }
}
afterAll(() => Promise.all(apis.map((api) => api.close())))

const corsHeaders = (headers: Record<string, unknown>) => Object.keys(headers).filter((name) => name.startsWith('access-control-'))

describe('calls from pages of other origins', () => {
  it('are not permitted by a server without CORS_ORIGINS', async () => {
    const { api, key } = await start()
    expect((await api.app.inject({ method: 'OPTIONS', url: '/tasks', headers: PREFLIGHT })).statusCode).toBe(405)
    expect(corsHeaders((await api.call('GET', '/tasks', { key, headers: { origin: ORIGIN } })).headers)).toEqual([])
  })

  describe('with an origin that is named', () => {
    let named: Awaited<ReturnType<typeof start>>
    beforeAll(async () => {
      named = await start(`https://other.example.com, ${ORIGIN}`)
    })

    it('may send a key and read what the answer says beside its body', async () => {
      const preflight = await named.api.app.inject({ method: 'OPTIONS', url: '/tasks/1', headers: PREFLIGHT })
      expect(preflight.statusCode).toBe(204)
      expect(preflight.headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, 'access-control-allow-methods': expect.stringContaining('PATCH') })
      expect(preflight.headers['access-control-allow-headers']).toMatch(/Authorization.*If-Match/)
      const { headers } = await named.api.call('GET', '/tasks', { key: named.key, headers: { origin: ORIGIN } })
      expect(headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: expect.stringContaining('Origin') })
      expect(headers['access-control-expose-headers']).toMatch(/ETag.*Link.*Retry-After/)
    })

    it('can read why they are refused', async () => {
      const refused = await named.api.call('GET', '/tasks', { headers: { origin: ORIGIN } })
      expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, ORIGIN])
      expect((await named.api.call('GET', '/tasks/none', { key: named.key, headers: { origin: ORIGIN } })).headers).toHaveProperty(
        'access-control-allow-origin',
      )
    })

    it('are not permitted from another one', async () => {
      const { headers } = await named.api.call('GET', '/tasks', { key: named.key, headers: { origin: 'https://evil.example.com' } })
      expect(headers['access-control-allow-origin']).toBeUndefined()
    })

    it.each(['/ui/session', '/ui/', '/openapi.json'])('get no permission for %s', async (url) => {
      expect(corsHeaders((await named.api.app.inject({ url, headers: { origin: ORIGIN } })).headers)).toEqual([])
    })
  })

  it.each([ORIGIN, '*'])('never count the cookie of the dashboard, with CORS_ORIGINS=%s', async (origins) => {
    const { api, key } = await start(origins)
    const host = { host: 'muster.example.com' }
    const signIn = await api.app.inject({ method: 'POST', url: '/ui/session', headers: host, payload: { key } })
    const [cookie] = signIn.cookies as { name: string; value: string }[]
    const headers = { ...host, cookie: `${cookie?.name}=${cookie?.value}`, 'x-csrf-token': signIn.json().csrf_token as string }
    expect((await api.app.inject({ url: '/tasks', headers })).statusCode).toBe(200)
    const foreign = { ...headers, origin: ORIGIN }
    const answers = [
      await api.app.inject({ url: '/tasks', headers: foreign }),
      await api.app.inject({ method: 'POST', url: '/tasks', headers: foreign, payload: { title: 'x', instructions: 'x' } }),
      await api.app.inject({ method: 'OPTIONS', url: '/tasks', headers: { ...PREFLIGHT, ...headers, origin: ORIGIN } }),
    ]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([403, 403, 204])
    for (const answer of answers) {
      expect(answer.headers['access-control-allow-origin']).toBe(origins)
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
      expect(String(answer.headers['access-control-allow-headers'] ?? '')).not.toMatch(/csrf|cookie/i)
    }
  })
})
