import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definition, type SubagentsApi, startSubagentsApi, TRAVERSALS } from '../../testing/subagents.ts'

let door: SubagentsApi
const { get, put, remove, write } = {
  get: (...args: Parameters<SubagentsApi['get']>) => door.get(...args),
  put: (...args: Parameters<SubagentsApi['put']>) => door.put(...args),
  remove: (...args: Parameters<SubagentsApi['remove']>) => door.remove(...args),
  write: (...args: Parameters<SubagentsApi['write']>) => door.write(...args),
}

beforeAll(async () => {
  door = await startSubagentsApi(await testDatabase(), { SECRETS_KEYS: `one:${Buffer.alloc(32, 1).toString('base64')}` })
})
afterAll(() => door.close())

const notFound = (name: string) => ({ status: 404, code: 'subagent_not_found', title: 'SubagentNotFound', subagent_type: name })
const SAMPLES = new URL('../../../../../subagents/', import.meta.url)
const sample = (name: string) => readFileSync(new URL(`${name}.md`, SAMPLES), 'utf8')

describe('PUT /subagents/{name}', () => {
  it('201: is new the first time, and says where it is', async () => {
    const answer = await put('fresh', definition('Do it.', 'tools: Read, Grep\nmodel: Haiku\nmaxTurns: 5\ncolor: red\ntarget_latency_ms: 500'))
    expect(answer.status).toBe(201)
    expect(answer.headers.location).toBe('/subagents/fresh')
    expect(answer.body).toEqual({
      name: 'fresh',
      title: null,
      description: 'A test',
      model: 'haiku',
      tools: ['Read', 'Grep'],
      disallowed_tools: [],
      ask: [],
      instructions: expect.stringContaining('Do it.'),
      definition_path: null,
      version: 1,
      source: 'api',
      target_latency_ms: 500,
      max_turns: 5,
      background: false,
      mcp_servers: [],
      skills: [],
      callback_url: null,
      unknown_keys: ['color'],
      warnings: expect.any(Array),
    })
    const { warnings: _, ...stored } = answer.body
    expect((await get('/subagents/fresh')).body).toMatchObject(stored)
  })

  it('200: takes the place of what was put, as its next version; the same words are the same version', async () => {
    await put('again', definition('One.'))
    expect(await put('again', definition('Two.'))).toMatchObject({ status: 200, body: { version: 2, instructions: expect.stringContaining('Two.') } })
    expect(await put('again', definition('Two.'))).toMatchObject({ status: 200, body: { version: 2 } })
  })

  it('201: with a callback, whose secret no answer shows, as JSON or as Markdown', async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const made = await put('reporter', definition('x', `callback: {url: https://example.com/done, secret: ${secret}}`))
    expect(made).toMatchObject({ status: 201, body: { callback_url: 'https://example.com/done', warnings: [] } })
    const shown = [made, await get('/subagents/reporter'), await get('/subagents/reporter', { accept: 'text/markdown' }), await get('/subagents')]
    expect(shown[2]?.text).toContain('https://example.com/done')
    for (const { text } of shown) expect(text).not.toContain(secret)
  })

  it('201: takes the samples, in both forms', async () => {
    expect((await put('memory-specialist', sample('memory-specialist'))).body).toMatchObject({ model: 'haiku', target_latency_ms: 500 })
    expect((await put('dream-agent', sample('dream-agent'))).body).toMatchObject({ model: 'sonnet', tools: ['Read', 'learn_fact'] })
  })

  it('201: says what its author may not have meant', async () => {
    expect((await put('typo', definition('x', 'tools: Raed'))).body.warnings).toEqual([
      { line: 3, field: expect.stringContaining('tools'), pointer: expect.stringContaining('/tools'), reason: expect.stringContaining('Raed') },
    ])
  })

  it('422: names everything that is wrong, with its line', async () => {
    const answer = await put('wrong', '---\ndescription: x\nmodel: two words\nmaxTurns: many\ntools: "Read("\n---\n\nx')
    expect(answer.body).toMatchObject({ status: 422, code: 'subagent_invalid', title: 'SubagentInvalid' })
    expect(answer.body.errors.map(({ line, field }: { line: number; field: string }) => [line, field.split('.')[0]])).toEqual([
      [3, 'model'],
      [4, 'max_turns'],
      [5, 'tools'],
    ])
    expect((await get('/subagents/wrong')).status).toBe(404)
  })

  it('422: refuses a name in the text that is another', async () => {
    expect((await put('mine', '---\nname: yours\ndescription: x\n---\n\nx')).body).toMatchObject({
      code: 'subagent_invalid',
      errors: [{ pointer: '/name', line: 2, reason: expect.stringContaining('must be mine') }],
    })
  })

  it.each([...TRAVERSALS, 'x'.repeat(65)])('422: refuses the name %s', async (name) => {
    expect((await put(name, definition('x'))).body).toMatchObject({ code: 'subagent_invalid', errors: [expect.objectContaining({ pointer: '/name' })] })
  })

  it('422, 400: refuses a text that says nothing, and what is no UTF-8', async () => {
    expect((await put('empty', '')).body).toMatchObject({ status: 422, code: 'subagent_invalid' })
    expect(
      (await door.api.call('PUT', '/subagents/latin', { key: door.key, raw: Buffer.from([0xe9]), headers: { 'content-type': 'text/markdown' } })).body,
    ).toMatchObject({
      status: 400,
      code: 'validation_failed',
    })
  })

  it('413, 415: refuses what is too large, and what is not Markdown', async () => {
    expect((await put('large', definition('x'.repeat(1_048_576)))).body).toMatchObject({ status: 413, code: 'payload_too_large' })
    expect((await put('json', '{}', { headers: { 'content-type': 'application/json' } })).body).toMatchObject({ status: 415, code: 'unsupported_media_type' })
  })
})

describe('GET /subagents/{name}', () => {
  it('200: reads a file, and reads it again when it has changed', async () => {
    await write('by-file', definition('Before.'))
    const before = await get('/subagents/by-file')
    expect(before).toMatchObject({ status: 200, body: { source: 'file', definition_path: join(door.folder, 'by-file.md'), version: 1 } })
    await write('by-file', definition('Afters.'))
    expect((await get('/subagents/by-file')).body.instructions).toContain('Afters.')
  })

  it('200: prefers what was put, then the file, then what Muster brings', async () => {
    const source = async () => (await get('/subagents/Explore')).body.source
    expect(await source()).toBe('builtin')
    await write('Explore', definition('By file.'))
    expect(await source()).toBe('file')
    await put('Explore', definition('Put.'))
    expect(await source()).toBe('api')
    await remove('Explore')
    expect(await source()).toBe('file')
  })

  it('200: is Markdown for whoever accepts that, and can be put as it came', async () => {
    await write('round-trip', sample('identity-guardian'))
    const { text, headers, status } = await get('/subagents/round-trip', { accept: 'text/markdown' })
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'text/markdown; charset=utf-8', vary: 'accept, accept-encoding' })
    const { runner: _runner, warnings: _warnings, ...before } = (await get('/subagents/round-trip')).body
    const { warnings: _, ...after } = (await put('round-trip', text)).body
    expect(after).toEqual({ ...before, source: 'api', definition_path: null })
  })

  it('404: knows nothing under other names, nor of what other projects have put', async () => {
    expect((await get('/subagents/nobody')).body).toMatchObject(notFound('nobody'))
    await put('ours', definition('x'))
    const theirs = await door.api.key(['subagents:read'], await door.api.stranger())
    for (const accept of ['application/json', 'text/markdown'])
      expect((await door.api.call('GET', '/subagents/ours', { key: theirs, headers: { accept } })).body).toMatchObject(notFound('ours'))
  })

  it.each(TRAVERSALS)('404: makes no path of %s', async (name) => {
    await writeFile(join(door.folder, '..', 'secret.md'), definition('Secret'))
    expect((await get(`/subagents/${name}`)).body).toMatchObject({ status: 404, code: 'subagent_not_found' })
  })

  it('422: says what is wrong with a file that cannot be used', async () => {
    await write('broken', '---\ndescription: x\nmodel: two words\n---\n\nx')
    expect((await get('/subagents/broken')).body).toMatchObject({
      status: 422,
      code: 'subagent_invalid',
      errors: [expect.objectContaining({ line: 3, pointer: '/model' })],
    })
  })
})

describe('GET /subagents', () => {
  let own: SubagentsApi
  const names = (reply: { body: { items: { name: string; source: string }[] } }) => reply.body.items.map((item) => `${item.name} ${item.source}`)

  beforeAll(async () => {
    own = await startSubagentsApi(await testDatabase())
    await own.put('b-put', definition('x'))
    await own.put('c-both', definition('x'))
    await own.put('d-gone', definition('x'))
    await own.remove('d-gone')
    await own.write('a-file', definition('x'))
    await own.write('c-both', definition('y'))
    await own.write('e-broken', '---\n')
    await own.write('general-purpose', definition('y'))
    await own.write('README', definition('no name'))
  })
  afterAll(() => own.close())

  it('200: lists each name once, from wherever it counts, without instructions', async () => {
    const all = await own.get('/subagents')
    expect(names(all)).toEqual(['Explore builtin', 'Plan builtin', 'a-file file', 'b-put api', 'c-both api', 'general-purpose file'])
    expect(all.body.items[0]).not.toHaveProperty('instructions')
    expect(all.body.next_cursor).toBeNull()
  })

  it('200: names the files that cannot be used, unless something was put in their place', async () => {
    expect((await own.get('/subagents')).body.broken).toEqual([
      { name: 'e-broken', errors: [{ line: 1, field: 'definition', pointer: '', reason: expect.stringContaining('does not end') }] },
    ])
    await own.put('e-broken', definition('x'))
    const mended = await own.get('/subagents')
    expect(mended.body.broken).toEqual([])
    expect(names(mended)).toContain('e-broken api')
    await own.remove('e-broken')
  })

  it('200: goes from page to page through all of them', async () => {
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const reply = await own.get(`/subagents?limit=1${cursor}`)
      seen.push(...names(reply))
      if (reply.body.next_cursor === null) break
      cursor = `&cursor=${reply.body.next_cursor}`
    }
    expect(seen).toEqual(names(await own.get('/subagents')))
  })

  it('200: shows another project its own and what the folders have', async () => {
    const theirs = await own.api.key(['subagents:read'], await own.api.stranger())
    expect(names(await own.api.call('GET', '/subagents', { key: theirs }))).toEqual([
      'Explore builtin',
      'Plan builtin',
      'a-file file',
      'c-both file',
      'general-purpose file',
    ])
  })

  it('400: refuses cursors of others', async () => {
    expect((await own.get('/subagents?cursor=%2e%2e')).body).toMatchObject({ status: 400, code: 'cursor_invalid' })
  })
})

describe('DELETE /subagents/{name}', () => {
  it('204: takes back what was put, once', async () => {
    await put('brief', definition('x'))
    expect((await remove('brief')).status).toBe(204)
    expect((await get('/subagents/brief')).body).toMatchObject(notFound('brief'))
    expect((await remove('brief')).body).toMatchObject(notFound('brief'))
    expect(await put('brief', definition('x'))).toMatchObject({ status: 201, body: { version: 2 } })
  })

  it('404: leaves files, built-ins and what other projects have put', async () => {
    await write('a-file', definition('x'))
    await put('theirs', definition('x'))
    const stranger = await door.api.key(['subagents:write'], await door.api.stranger())
    for (const name of ['a-file', 'Plan', 'nobody', ...TRAVERSALS]) expect((await remove(name)).body).toMatchObject({ status: 404, code: 'subagent_not_found' })
    expect((await remove('theirs', { key: stranger })).body).toMatchObject(notFound('theirs'))
    expect((await get('/subagents/theirs')).status).toBe(200)
  })
})
