import { randomBytes } from 'node:crypto'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Reply, startApi, type TestApi } from '../testing/api.ts'

let api: TestApi
let key: string

beforeAll(async () => {
  api = await startApi(await testDatabase(), { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` })
  key = await api.key(['admin'])
})
afterAll(() => api.close())

const MARKDOWN = { 'content-type': 'text/markdown' }
const GUIDE = { title: 'A guide', content: 'Restart it.', patterns: ['EADDRINUSE'] }
const definition = (name: string, text: string) => `---\nname: ${name}\ndescription: Reviews.\n---\n${text}`
let made = 0
const newName = (noun: string) => {
  made += 1
  return `${noun}-${made}`
}

/** What each has to be: made anew, changed in one way or another, read, and deleted where it can be. */
const RESOURCES = {
  schedule: {
    make: async () => `/schedules/${(await api.call('POST', '/schedules', { key, body: { task: 'x', every: '2 hours' } })).body.id}`,
    change: (path: string, text: string, headers: Record<string, string>) => api.call('PATCH', path, { key, body: { task: text }, headers }),
    shown: (body: Reply['body']) => body.task,
    deletes: true,
  },
  guide: {
    make: async () => `/tsgs/${(await api.call('POST', '/tsgs', { key, body: { ...GUIDE, id: newName('guide') } })).body.id}`,
    change: (path: string, text: string, headers: Record<string, string>) => api.call('PATCH', path, { key, body: { content: text }, headers }),
    shown: (body: Reply['body']) => body.content,
    deletes: true,
  },
  'sub-agent': {
    async make() {
      const name = newName('agent')
      await api.call('PUT', `/subagents/${name}`, { key, raw: definition(name, 'First.'), headers: MARKDOWN })
      return `/subagents/${name}`
    },
    change: (path: string, text: string, headers: Record<string, string>) =>
      api.call('PUT', path, { key, raw: definition(path.split('/').at(-1) ?? '', text), headers: { ...MARKDOWN, ...headers } }),
    shown: (body: Reply['body']) => body.instructions,
    deletes: true,
  },
  project: {
    make: async () => `/projects/${DEFAULT_PROJECT_ID}`,
    change: (path: string, text: string, headers: Record<string, string>) => api.call('PATCH', path, { key, body: { name: text }, headers }),
    shown: (body: Reply['body']) => body.name,
    deletes: false,
  },
}

describe.each(Object.entries(RESOURCES))('a %s', (_noun, { make, change, shown, deletes }) => {
  const get = (path: string, headers: Record<string, string> = {}) => api.call('GET', path, { key, headers })
  const tagOf = (reply: Reply) => String(reply.headers.etag)

  it('is not sent again while its ETag is the same', async () => {
    const path = await make()
    const first = await get(path)
    const again = await get(path, { 'if-none-match': tagOf(first) })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', first.headers.etag])
    const changed = await change(path, 'Changed once.', {})
    expect(tagOf(changed)).not.toBe(tagOf(first))
    const after = await get(path, { 'if-none-match': tagOf(first) })
    expect([after.status, tagOf(after)]).toEqual([200, tagOf(changed)])
  })

  it('is changed from the state that If-Match names, and from no other', async () => {
    const path = await make()
    const tag = tagOf(await get(path))
    const changed = await change(path, 'From the first.', { 'if-match': tag })
    expect(changed.status).toBeLessThan(300)
    const stale = await change(path, 'Also from the first.', { 'if-match': tag })
    expect(stale.body).toMatchObject({ status: 412, code: 'revision_stale', detail: expect.stringContaining(tagOf(changed)) })
    expect(shown((await get(path)).body)).toBe('From the first.')
    for (const header of [`"other", W/${tagOf(changed)}`, '*']) {
      expect((await change(path, `With ${header}.`, { 'if-match': header })).status).toBe(200)
    }
    expect((await change(path, 'Without.', {})).status).toBe(200)
  })

  it('takes one of ten changes at once from one state', async () => {
    const path = await make()
    const tag = tagOf(await get(path))
    const answers = await Promise.all(Array.from({ length: 10 }, (_, place) => change(path, `Change ${place}.`, { 'if-match': tag })))
    const taken = answers.filter(({ status }) => status === 200)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)])
    const now = await get(path)
    expect([tagOf(now), shown(now.body)]).toEqual([tagOf(taken[0] as Reply), shown(taken[0]?.body)])
  })

  if (!deletes) return
  it('is deleted only in the state that If-Match names', async () => {
    const path = await make()
    const tag = tagOf(await get(path))
    await change(path, 'Changed meanwhile.', {})
    const remove = (headers: Record<string, string>) => api.call('DELETE', path, { key, headers })
    expect((await remove({ 'if-match': tag })).status).toBe(412)
    expect((await remove({ 'if-match': tagOf(await get(path)) })).status).toBeLessThan(300)
  })
})

it('a project has another ETag after a change that is not shown', async () => {
  const path = `/projects/${DEFAULT_PROJECT_ID}`
  const settings = (token: string) => ({ settings: { telegram: { bot_token: token, chat_id: '1', on: ['question'] } } })
  const first = await api.call('PATCH', path, { key, body: settings('123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA') })
  const second = await api.call('PATCH', path, { key, body: settings('123456:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB') })
  expect(second.body).toEqual(first.body)
  expect(second.headers.etag).not.toBe(first.headers.etag)
  const third = await api.call('PATCH', path, { key, body: { settings: {} }, headers: { 'if-match': String(first.headers.etag) } })
  expect(third.status).toBe(412)
})

it('a change of a project that names nothing answers with it, and only in the state that If-Match names', async () => {
  const path = `/projects/${DEFAULT_PROJECT_ID}`
  const now = await api.call('GET', path, { key })
  const same = await api.call('PATCH', path, { key, body: {}, headers: { 'if-match': String(now.headers.etag) } })
  expect([same.status, same.body, same.headers.etag]).toEqual([200, now.body, now.headers.etag])
  expect((await api.call('PATCH', path, { key, body: {}, headers: { 'if-match': '"other"' } })).status).toBe(412)
})

it('a guide and a sub-agent in Markdown have tags of their own, which If-Match takes as well', async () => {
  for (const noun of ['guide', 'sub-agent'] as const) {
    const path = await RESOURCES[noun].make()
    const json = await api.call('GET', path, { key })
    const markdown = await api.call('GET', path, { key, headers: { accept: 'text/markdown' } })
    expect(markdown.headers.etag).not.toBe(json.headers.etag)
    const other = await api.call('GET', path, { key, headers: { accept: 'text/markdown', 'if-none-match': String(json.headers.etag) } })
    expect(other.status).toBe(200)
    expect((await RESOURCES[noun].change(path, 'From Markdown.', { 'if-match': String(markdown.headers.etag) })).status).toBe(200)
  }
})

it('a PUT with If-Match creates nothing', async () => {
  const guide = await api.call('PUT', '/tsgs/none-yet', { key, raw: '---\ntitle: T\npatterns: [x]\n---\nText.', headers: { ...MARKDOWN, 'if-match': '*' } })
  const agent = await api.call('PUT', '/subagents/none-yet', { key, raw: definition('none-yet', 'x'), headers: { ...MARKDOWN, 'if-match': '"a"' } })
  expect([guide.status, agent.status]).toEqual([412, 412])
  expect((await api.call('GET', '/subagents/none-yet', { key })).status).toBe(404)
})
