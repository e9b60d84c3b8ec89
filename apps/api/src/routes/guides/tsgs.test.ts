import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { subtaskSessionId } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import { createTask, linkTsgToTask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainEvents, spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

let api: TestApi
let key: string
beforeAll(async () => {
  api = await startApi(await testDatabase())
  key = await api.key(['tsgs:read', 'tsgs:write'])
})
afterAll(() => api.close())

const SAMPLES = new URL('../../../../../tsgs/', import.meta.url)
const NEW = { title: 'The port is already in use', content: '# What to do\n\nTake another.', patterns: ['EADDRINUSE'] }
const create = (body: object, headers: Record<string, string> = {}) => api.call('POST', '/tsgs', { key, body, headers })
const get = (path: string, headers: Record<string, string> = {}) => api.call('GET', path, { key, headers })
const put = (id: string, raw: string | Buffer, type = 'text/markdown') => api.call('PUT', `/tsgs/${id}`, { key, raw, headers: { 'content-type': type } })
const scan = (body: object, as = key) => api.call('POST', '/tsgs/scan', { key: as, body })
const feedback = (id: string, body: object, as = key) => api.call('POST', `/tsgs/${id}/feedback`, { key: as, body })
const problem = (pointer: string, reason: unknown = expect.any(String)) => ({
  status: 400,
  code: 'validation_failed',
  errors: [expect.objectContaining({ pointer, reason })],
})

describe('POST /tsgs', () => {
  describe('201', () => {
    it('stores the guide with the defaults and says where it is', async () => {
      const answer = await create({ ...NEW, title: '  The port is already in use ' })
      expect(answer.status).toBe(201)
      expect(answer.headers.location).toBe('/tsgs/the-port-is-already-in-use')
      expect(answer.body).toEqual({
        ...NEW,
        id: 'the-port-is-already-in-use',
        tsg_id: 'the-port-is-already-in-use',
        match: 'substring',
        applicability: { technologies: [] },
        severity: 'medium',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      })
      // Two defaults of one row: the clock is read for each.
      expect(Date.parse(answer.body.updated_at) - Date.parse(answer.body.created_at)).toBeLessThan(1_000)
      expect((await get('/tsgs/the-port-is-already-in-use')).body).toEqual(answer.body)
    })

    it('numbers the ids of guides with one title', async () => {
      await create({ ...NEW, title: 'Twins' })
      expect((await create({ ...NEW, title: 'Twins' })).body.tsg_id).toBe('twins-2')
    })

    it('answers a repetition with what it made first', async () => {
      const headers = { 'idempotency-key': 'one guide' }
      const [first, second] = [await create({ ...NEW, title: 'Once' }, headers), await create({ ...NEW, title: 'Once' }, headers)]
      expect(second.headers['idempotent-replayed']).toBe('true')
      expect(second.body).toEqual(first.body)
    })
  })

  describe('400', () => {
    it.each([
      [{ ...NEW, title: ' ' }, '/title', 'must not be empty'],
      [{ ...NEW, title: 'x'.repeat(257) }, '/title', expect.stringContaining('at most 256')],
      [{ ...NEW, content: '' }, '/content', 'must not be empty'],
      [{ ...NEW, content: 'x'.repeat(100_001) }, '/content', expect.stringContaining('at most 100000')],
      [{ ...NEW, content: 'a\0b' }, '/content', expect.stringContaining('U+0000')],
      [{ ...NEW, patterns: [] }, '/patterns', 'must have at least 1 items'],
      [{ ...NEW, patterns: Array(51).fill('x') }, '/patterns', 'must have at most 50 items'],
      [{ ...NEW, patterns: ['x', ''] }, '/patterns/1', 'must not be empty'],
      [{ ...NEW, patterns: ['x'.repeat(501)] }, '/patterns/0', expect.stringContaining('at most 500')],
      [{ ...NEW, patterns: ['('], match: 'regex' }, '/patterns/0', expect.stringContaining('no regular expression of RE2')],
      [{ ...NEW, patterns: ['x*'], match: 'regex' }, '/patterns/0', expect.stringContaining('empty text')],
      [{ ...NEW, match: 'glob' }, '/match', 'must be one of substring, regex'],
      [{ ...NEW, severity: 'P1' }, '/severity', 'must be one of low, medium, high, critical'],
      [{ ...NEW, tsg_id: 'Not An Id' }, '/tsg_id', expect.stringContaining('lower-case')],
      [{ ...NEW, applicability: { technologies: 'node' } }, '/applicability/technologies', 'must be a list'],
      [{ ...NEW, applicability: { os: [], technologies: [] } }, '/applicability/os', expect.stringContaining('not a field')],
    ])('refuses %#', async (body, pointer, reason) => {
      expect((await create(body)).body).toMatchObject(problem(pointer, reason))
    })

    it('takes as much as is allowed', async () => {
      const most = {
        title: 'x'.repeat(256),
        content: '𝄞'.repeat(100_000),
        patterns: Array.from({ length: 50 }, (_, place) => `${10 + place}${'𝄞'.repeat(498)}`),
      }
      expect((await create(most)).status).toBe(201)
    })
  })

  it('409: refuses an id that is taken', async () => {
    await create({ ...NEW, tsg_id: 'taken' })
    expect((await create({ ...NEW, tsg_id: 'taken' })).body).toMatchObject({ status: 409, code: 'conflict', tsg_id: 'taken' })
  })
})

describe('GET /tsgs', () => {
  let mine: string
  const list = async (query: string) => (await api.call('GET', `/tsgs?${query}`, { key: mine })).body
  const ids = async (query: string) => (await list(query)).items.map(({ tsg_id }: { tsg_id: string }) => tsg_id)

  beforeAll(async () => {
    mine = await api.key(['tsgs:read', 'tsgs:write'], await api.stranger())
    for (const body of [
      { ...NEW, tsg_id: 'port', severity: 'high', applicability: { technologies: ['Node'] } },
      { ...NEW, tsg_id: 'disk', title: 'No space left', patterns: ['ENOSPC'] },
      { ...NEW, tsg_id: 'tls', title: 'Expired certificate', patterns: ['CERT_HAS_EXPIRED'], severity: 'high' },
    ])
      expect((await api.call('POST', '/tsgs', { key: mine, body })).status).toBe(201)
  })

  it('200: lists the newest first, without contents, page by page', async () => {
    const first = await list('limit=2')
    expect(first.items.map(({ tsg_id }: { tsg_id: string }) => tsg_id)).toEqual(['tls', 'disk'])
    expect(first.items[0]).not.toHaveProperty('content')
    expect(await list(`limit=2&cursor=${first.next_cursor}`)).toMatchObject({ items: [{ tsg_id: 'port' }], next_cursor: null })
  })

  it('200: searches and filters', async () => {
    expect(await ids('q=eaddrinuse')).toEqual(['port'])
    expect(await ids('q=space%20-certificate')).toEqual(['disk'])
    expect(await ids('severity=high')).toEqual(['tls', 'port'])
    expect(await ids('technology=node&severity=high&q=port')).toEqual(['port'])
    expect(await ids('technology=rust')).toEqual([])
  })

  it('400: refuses what it cannot filter by, and cursors of others', async () => {
    expect(await list('severity=bad')).toMatchObject(problem('?severity'))
    expect(await list('q=')).toMatchObject(problem('?q', 'must not be empty'))
    expect(await list('cursor=nonsense')).toMatchObject({ status: 400, code: 'cursor_invalid' })
  })
})

describe('GET /tsgs/{tsg_id}', () => {
  it('200: counts as read for the session that asks', async () => {
    await create({ ...NEW, tsg_id: 'read' })
    expect((await get('/tsgs/read')).status).toBe(200)
    expect((await get('/tsgs/read?session_id=chat')).status).toBe(200)
    expect((await get('/tsgs/read/usage')).body).toMatchObject({ read: 1 })
  })

  it('200: is Markdown for whoever accepts that', async () => {
    await create({ ...NEW, tsg_id: 'as-markdown' })
    const answer = await get('/tsgs/as-markdown', { accept: 'text/markdown' })
    expect(answer.headers).toMatchObject({ 'content-type': 'text/markdown; charset=utf-8', vary: 'accept' })
    expect(answer.text).toMatch(/^---\ntsg_id: as-markdown\ntitle: The port is already in use\n[\s\S]*\n---\n\n# What to do\n\nTake another.\n$/)
    for (const accept of ['application/json', '*/*', 'text/html'])
      expect((await get('/tsgs/as-markdown', { accept })).headers['content-type']).toContain('application/json')
  })

  it('400: refuses what cannot be an id', async () => {
    expect((await get('/tsgs/Not%20an%20id')).body).toMatchObject(problem('{tsg_id}'))
  })

  it('404: knows nothing of another project, in whichever form', async () => {
    const stranger = await api.stranger()
    const theirs = await api.key(['tsgs:read', 'tsgs:write'], stranger)
    await create({ ...NEW, tsg_id: 'not-yours' })
    for (const accept of ['application/json', 'text/markdown'])
      expect((await api.call('GET', '/tsgs/not-yours', { key: theirs, headers: { accept } })).body).toMatchObject({ status: 404, code: 'not_found' })
  })
})

describe('PUT /tsgs/{tsg_id}', () => {
  const MARKDOWN = '---\ntitle: Imported\nseverity: high\npatterns: [one, two]\n---\n\nText with --- in it.\n\n---\n\nAnd more.\n'

  it('201, 200: is new the first time, and takes the place of what is there the next', async () => {
    const first = await put('imported', MARKDOWN)
    expect(first.status).toBe(201)
    expect(first.headers.location).toBe('/tsgs/imported')
    expect(first.body).toMatchObject({
      tsg_id: 'imported',
      title: 'Imported',
      severity: 'high',
      match: 'substring',
      patterns: ['one', 'two'],
      content: 'Text with --- in it.\n\n---\n\nAnd more.',
    })
    const second = await put('imported', '---\ntsg_id: imported\ntitle: Again\npatterns: [three]\n---\nNew.', 'text/markdown; charset=utf-8')
    expect(second.status).toBe(200)
    expect(second.body).toMatchObject({ title: 'Again', severity: 'medium', patterns: ['three'], content: 'New.', created_at: first.body.created_at })
  })

  it('200: an export put back is the same guide, also in another project', async () => {
    const body = {
      id: 'round-trip',
      title: 'yes: "no" #1',
      content: '---\nnot: front matter\n---\n\n```yaml\na: 1\n```\r\nend',
      patterns: ['- a', '{b}', "it's", '\\d+\\s"x"', 'null', '1.0', 'línea\ndos', 'a\u2028b', '𝄞', '\u0001'],
      match: 'substring',
      applicability: { technologies: ['C#', 'node: 20'] },
      severity: 'critical',
    }
    const { created_at: _, updated_at: __, ...made } = (await create(body)).body
    expect(made).toEqual({ ...body, tsg_id: body.id })
    const { text } = await get('/tsgs/round-trip', { accept: 'text/markdown' })
    const theirs = await api.key(['tsgs:read', 'tsgs:write'], await api.stranger())
    for (const as of [key, theirs]) {
      const answer = await api.call('PUT', '/tsgs/round-trip', { key: as, raw: text, headers: { 'content-type': 'text/markdown' } })
      expect(answer.status).toBe(as === key ? 200 : 201)
      expect(answer.body).toMatchObject(body)
      expect((await api.call('GET', '/tsgs/round-trip', { key: as, headers: { accept: 'text/markdown' } })).text).toBe(text)
    }
  })

  it.each(readdirSync(SAMPLES))('201: takes the sample guide %s', async (file) => {
    const answer = await put(basename(file, '.md'), readFileSync(new URL(file, SAMPLES)))
    expect(answer.status).toBe(201)
  })

  it.each([
    ['no front matter', '', expect.stringContaining('front matter')],
    ['---\ntitle: [\n---\nx', '', expect.stringContaining('not YAML')],
    ['---\npatterns: [x]\n---\nx', '/title', 'is required'],
    ['---\ntitle: x\npatterns: x\n---\nx', '/patterns', 'must be a list'],
    ['---\ntitle: x\npatterns: [x]\n---\n', '/content', 'must not be empty'],
    ['---\ntitle: x\npatterns: [x]\nauthor: me\n---\nx', '/author', expect.stringContaining('not a field')],
    ['---\ntitle: x\npatterns: [x]\ntsg_id: another\n---\nx', '/tsg_id', expect.stringContaining('must be bad')],
    ['---\ntitle: x\nmatch: regex\npatterns: [(]\n---\nx', '/patterns/0', expect.stringContaining('RE2')],
  ])('400: refuses %j', async (markdown, pointer, reason) => {
    expect((await put('bad', markdown)).body).toMatchObject(problem(pointer, reason))
    expect((await get('/tsgs/bad')).status).toBe(404)
  })

  it('400: refuses what is no UTF-8', async () => {
    expect((await put('bad', Buffer.concat([Buffer.from(MARKDOWN), Buffer.from([0xff])]))).body).toMatchObject({
      status: 400,
      detail: 'The body is not valid UTF-8.',
    })
  })

  it('415: takes nothing but Markdown', async () => {
    expect((await put('bad', JSON.stringify(NEW), 'application/json')).body).toMatchObject({ status: 415, detail: expect.stringContaining('text/markdown') })
  })
})

describe('PATCH /tsgs/{tsg_id}', () => {
  it('200: changes what is given', async () => {
    const before = await create({ ...NEW, tsg_id: 'patched', severity: 'low' })
    const after = await api.call('PATCH', '/tsgs/patched', { key, body: { patterns: ['other'], applicability: { technologies: ['deno'] } } })
    expect(after.status).toBe(200)
    expect(after.body).toEqual({ ...before.body, patterns: ['other'], applicability: { technologies: ['deno'] }, updated_at: after.body.updated_at })
  })

  it('400: refuses a pattern that does not fit the way of matching', async () => {
    await create({ ...NEW, tsg_id: 'patched-badly', patterns: ['(x'] })
    expect((await api.call('PATCH', '/tsgs/patched-badly', { key, body: { match: 'regex' } })).body).toMatchObject(problem('/patterns/0'))
    expect((await api.call('PATCH', '/tsgs/patched-badly', { key, body: { tsg_id: 'new' } })).body).toMatchObject(problem('/tsg_id'))
  })

  it('404: knows no such guide', async () => {
    expect((await api.call('PATCH', '/tsgs/unknown', { key, body: { title: 'x' } })).status).toBe(404)
  })
})

describe('DELETE /tsgs/{tsg_id}', () => {
  const remove = (id: string, query = '') => api.call('DELETE', `/tsgs/${id}${query}`, { key })

  it('204, 404: is gone, once', async () => {
    await create({ ...NEW, tsg_id: 'free' })
    expect((await remove('free')).status).toBe(204)
    expect((await remove('free')).status).toBe(404)
  })

  it.each(['?force', '?force=true'])('409: is refused while a task has it, until it is forced by %s', async (force) => {
    const tsgId = `used-${force.length}`
    await create({ ...NEW, tsg_id: tsgId })
    const task = await createTask(api.ctx, { title: 'A task', instructions: 'Do it.', tsgs: [] })
    await linkTsgToTask(api.ctx, task.id, tsgId)
    for (const query of ['', '?force=false']) expect((await remove(tsgId, query)).body).toMatchObject({ status: 409, code: 'tsg_in_use', task_ids: [task.id] })
    expect((await remove(tsgId, force)).status).toBe(204)
  })

  it('400: knows no other way to force it', async () => {
    expect((await remove('free', '?force=please')).body).toMatchObject(problem('?force'))
  })
})

describe('POST /tsgs/scan', () => {
  it('200: brings up the guides that know the error, with how they did', async () => {
    await create({ ...NEW, tsg_id: 'scanned', patterns: ['a very special failure', 'failure'], severity: 'high' })
    await feedback('scanned', { resolved: true })
    const answer = await scan({ error_message: 'There was a failure', context: 'A VERY SPECIAL FAILURE of the disk' })
    expect(answer.status).toBe(200)
    expect(answer.body.items).toEqual([
      { id: 'scanned', tsg_id: 'scanned', title: NEW.title, severity: 'high', matched_pattern: 'a very special failure', success_rate: 1 },
    ])
    expect((await get('/tsgs/scanned/usage')).body).toMatchObject({ surfaced: 1 })
    expect((await scan({ error_message: 'all is well' })).body).toEqual({ items: [] })
  })

  it('200: takes whatever bytes a program has written', async () => {
    const raw = Buffer.concat([Buffer.from('{"error_message":"a very special failure '), Buffer.from([0xff]), Buffer.from('"}')])
    expect((await api.call('POST', '/tsgs/scan', { key, raw })).body.items).toHaveLength(1)
  })

  it('400: needs an error', async () => {
    expect((await scan({})).body).toMatchObject(problem('/error_message', 'is required'))
    expect((await scan({ error_message: 'x'.repeat(100_001) })).body).toMatchObject(problem('/error_message'))
  })
})

describe('POST /tsgs/{tsg_id}/feedback', () => {
  it('200: records it and answers with the figures', async () => {
    await create({ ...NEW, tsg_id: 'helpful' })
    expect((await feedback('helpful', { resolved: false })).body).toEqual({ tsg_id: 'helpful', surfaced: 0, read: 0, resolved: 0, unresolved: 1, rate: 0 })
    const answer = await feedback('helpful', { resolved: true, session_id: 'chat', task_id: '01990000-0000-7000-8000-000000000000' })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ resolved: 1, unresolved: 1, rate: 0.5 })
    expect((await get('/tsgs/helpful/usage')).body).toEqual(answer.body)
    await drainEvents(api)
    const [event] = await api.deps.dispatchDb.sql`select type, subject_kind, subject_name from events where subject_name = 'helpful'`
    expect(event).toEqual({ type: 'tsg.resolved', subject_kind: 'tsg', subject_name: 'helpful' })
  })

  it('400: needs to know whether it helped', async () => {
    expect((await feedback('helpful', {})).body).toMatchObject(problem('/resolved', 'is required'))
    expect((await feedback('helpful', { resolved: 'yes' })).body).toMatchObject(problem('/resolved'))
  })

  it('404: knows no such guide', async () => {
    expect((await feedback('unknown', { resolved: true })).status).toBe(404)
  })
})

describe('the credential of a subtask', () => {
  it('reads, scans and says whether it helped, in its own name, and writes nothing', async () => {
    await create({ ...NEW, tsg_id: 'for-subtasks', patterns: ['wrong within a subtask'] })
    const { id } = await spawnExternal(api.ctx)
    const claim = await api.call('POST', '/subtasks/claim', { key: await api.key(['subtasks:claim']), body: { worker_id: 'w' } })
    const { credential } = claim.body as { credential: string }
    expect((await api.call('GET', '/tsgs/for-subtasks', { key: credential })).status).toBe(200)
    expect((await scan({ error_message: 'wrong within a subtask', session_id: 'of-another' }, credential)).body.items).toHaveLength(1)
    expect((await feedback('for-subtasks', { resolved: true, session_id: 'of-another' }, credential)).body).toMatchObject({ surfaced: 1, read: 1, resolved: 1 })
    const notices = await api.deps.db.sql.begin(async (sql) => {
      await sql`select set_config('muster.project_id', ${api.ctx.actor.projectId}, true)`
      return sql`select session_id from tsg_notices where tsg_id = 'for-subtasks'`
    })
    expect(notices).toEqual([{ session_id: subtaskSessionId(id) }])
    for (const [method, path] of [
      ['POST', '/tsgs'],
      ['PATCH', '/tsgs/for-subtasks'],
      ['DELETE', '/tsgs/for-subtasks'],
      ['PUT', '/tsgs/for-subtasks'],
    ] as const)
      expect((await api.call(method, path, { key: credential, ...(method === 'DELETE' ? {} : { body: NEW }) })).body).toMatchObject({
        status: 403,
        required_scope: 'tsgs:write',
      })
  })
})
