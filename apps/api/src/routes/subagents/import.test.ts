import { gzipSync } from 'node:zlib'
import { testDatabase } from '@muster/testing'
import { zipSync } from 'fflate'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SubagentsApi, startSubagentsApi } from '../../testing/subagents.ts'

const text = (front: string) => `---\n${front}\n---\n\nDo it.\n`

/** A collection as people publish them: folders, prefixes, dots, and texts that are something else. */
const COLLECTION: Record<string, string> = {
  'kit/README.md': '# Kit',
  'kit/agents/reviewer.md': text('name: review-kit:reviewer\ndescription: Reviews\ntools: Read, Grep'),
  'kit/agents/shell.md': text('name: powershell-5.1-expert\ndescription: Shells'),
  'kit/agents/plain.md': text('description: Goes by its file'),
  'kit/agents/broken.md': text('name: broken\nmaxTurns: many'),
  'kit/agents/twin.md': text('name: plain\ndescription: The same name again'),
  'kit/agents/teller.md': text('name: teller\ndescription: Tells\ncallback: {url: https://example.com/done}'),
  'kit/agents/inward.md': text('name: inward\ndescription: Tells\ncallback: {url: "http://10.0.0.1/"}'),
  'kit/skills/SKILL.md': text('name: skill\ndescription: A skill'),
  'kit/commands/review.md': text('description: A command'),
  'kit/docs/guide.md': '# Guide',
  'kit/logo.png': 'PNG',
  '__MACOSX/kit/agents/._reviewer.md': 'resource fork',
}
const EXPECTED = [
  ['kit/README.md', 'ignored', null, null],
  ['kit/agents/broken.md', 'refused', 'broken', null],
  ['kit/agents/inward.md', 'refused', 'inward', null],
  ['kit/agents/plain.md', 'imported', 'plain', null],
  ['kit/agents/reviewer.md', 'renamed', 'review-kit-reviewer', 'review-kit:reviewer'],
  ['kit/agents/shell.md', 'renamed', 'powershell-5-1-expert', 'powershell-5.1-expert'],
  ['kit/agents/teller.md', 'imported', 'teller', null],
  ['kit/agents/twin.md', 'refused', 'plain', null],
  ['kit/commands/review.md', 'ignored', null, null],
  ['kit/docs/guide.md', 'ignored', null, null],
  ['kit/skills/SKILL.md', 'ignored', null, null],
]

const bytesOf = Object.fromEntries(Object.entries(COLLECTION).map(([path, content]) => [path, Buffer.from(content)]))
const tar = async () =>
  Buffer.from(await packTar(Object.entries(bytesOf).map(([name, body]) => ({ header: { name, size: body.length, type: 'file' as const }, body }))))
const zip = () => Buffer.from(zipSync(bytesOf))

async function form(): Promise<{ type: string; body: Buffer }> {
  const data = new FormData()
  for (const [path, content] of Object.entries(COLLECTION)) data.append('file', new Blob([content]), path)
  const request = new Response(data)
  return { type: request.headers.get('content-type') ?? '', body: Buffer.from(await request.arrayBuffer()) }
}

describe('POST /subagents/import', () => {
  let door: SubagentsApi

  beforeAll(async () => {
    door = await startSubagentsApi(await testDatabase())
  })
  afterAll(() => door.close())

  const send = (type: string, raw: Buffer, headers: Record<string, string> = {}) =>
    door.api.call('POST', '/subagents/import', { key: door.key, raw, headers: { 'content-type': type, ...headers } })
  type Row = Record<'path' | 'outcome' | 'name' | 'title', string | null>
  const rows = (body: { items: Row[] }) => body.items.map(({ path, outcome, name, title }) => [path, outcome, name, title]).sort()

  it.each<[string, () => Promise<{ type: string; body: Buffer }>]>([
    ['a tar', async () => ({ type: 'application/x-tar', body: await tar() })],
    ['a gzipped tar', async () => ({ type: 'application/gzip', body: gzipSync(await tar()) })],
    ['a zip', async () => ({ type: 'application/zip', body: zip() })],
    ['a form', form],
  ])('200: %s is imported in one step, with a row for each Markdown file', async (_, make) => {
    const { type, body } = await make()
    const answer = await send(type, body)
    expect(answer.status).toBe(200)
    expect(rows(answer.body)).toEqual(EXPECTED)
    expect(answer.body).toMatchObject({ imported: 4, renamed: 2, refused: 3, ignored: 4 })
    const of = (path: string) => answer.body.items.find((row: Row) => row.path === path)
    expect(of('kit/agents/broken.md').errors).toMatchObject([{ field: 'description' }, { field: 'max_turns' }])
    expect(of('kit/agents/twin.md').errors).toMatchObject([{ reason: expect.stringContaining('which kit/agents/plain.md has already') }])
    expect(of('kit/agents/inward.md').errors).toMatchObject([{ reason: expect.stringContaining('10.0.0.1 is not a public address') }])
    expect(of('kit/agents/teller.md').warnings).toContainEqual(expect.objectContaining({ reason: 'sends the ends of its runs to example.com' }))
    expect((await door.get('/subagents/review-kit-reviewer')).body).toMatchObject({ title: 'review-kit:reviewer', tools: ['Read', 'Grep'], version: 1 })
  })

  it('200: keeps the version of what has not changed, and makes the next of what has', async () => {
    await send('application/zip', zip())
    const changed = { ...bytesOf, 'kit/agents/plain.md': Buffer.from(text('description: Changed')) }
    const { items } = (await send('application/zip', Buffer.from(zipSync(changed)))).body
    expect(
      items.filter((row: { version: number | null }) => row.version !== null).map((row: { name: string; version: number }) => [row.name, row.version]),
    ).toEqual([
      ['review-kit-reviewer', 1],
      ['powershell-5-1-expert', 1],
      ['plain', 2],
      ['teller', 1],
    ])
  })

  it('repeats the answer for the same key and archive, and refuses another archive', async () => {
    const headers = { 'idempotency-key': 'import-1' }
    const first = await send('application/zip', zip(), headers)
    const again = await send('application/zip', zip(), headers)
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([first.body, 'true'])
    expect((await send('application/x-tar', await tar(), headers)).body.code).toBe('idempotency_mismatch')
  })

  it('two imports of one collection at once both succeed', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, async () => send('application/x-tar', await tar())))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
  })

  it.each([
    ['a zip that is none', 'application/zip', Buffer.from('not a zip'), 'cannot be read as application/zip'],
    ['a tar that is none', 'application/x-tar', Buffer.from('not a tar'.repeat(100)), 'cannot be read as application/x-tar'],
    ['gzip that is none', 'application/gzip', Buffer.from('not gzip'), 'cannot be read as application/gzip'],
    ['a form without a boundary', 'multipart/form-data', Buffer.from('x'), 'cannot be read as multipart/form-data'],
    ['an archive without Markdown', 'application/zip', Buffer.from(zipSync({ 'a.txt': Buffer.from('x') })), 'No Markdown file was sent'],
    ['nothing', 'application/zip', Buffer.alloc(0), 'cannot be read as application/zip'],
  ])('400: refuses %s', async (_, type, body, detail) => {
    const answer = await send(type, body)
    expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed', detail: expect.stringContaining(detail) })
  })

  it('413: unpacks no archive to more than 32 MiB', async () => {
    const large = Buffer.alloc(33_554_433)
    expect((await send('application/zip', Buffer.from(zipSync({ 'a.md': large })))).body).toMatchObject({ status: 413, code: 'payload_too_large' })
    expect((await send('application/gzip', gzipSync(large))).body).toMatchObject({ status: 413, code: 'payload_too_large' })
  })

  it('413: counts what a zip unpacks to, whatever size its directory states', async () => {
    const body = Buffer.from(zipSync({ 'a.md': Buffer.alloc(34_000_000, 'x') }))
    body.writeUInt32LE(10, body.indexOf('PK\x01\x02') + 24)
    expect((await send('application/zip', body)).body).toMatchObject({ status: 413, code: 'payload_too_large' })
  })

  it('415: reads no other body', async () => {
    expect((await send('application/json', Buffer.from('{}'))).body).toMatchObject({ status: 415, code: 'unsupported_media_type' })
    expect((await door.api.call('POST', '/subtasks', { key: door.key, raw: zip(), headers: { 'content-type': 'application/zip' } })).status).toBe(415)
  })
})
