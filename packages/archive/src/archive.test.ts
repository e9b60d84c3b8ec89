import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Archive, ArchiveEntry } from '@muster/domain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createArchive, folderStore, s3Store } from './index.ts'

const ROWS = [
  { table: 'events', line: '{"seq": 9007199254740993, "data": {"text": "ünï 😀\\nline"}}' },
  { table: 'steps', line: '{"seq": 1}' },
]

async function entriesOf(archive: Archive): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = []
  for await (const entry of archive.entries()) entries.push(entry)
  return entries
}

/** What Muster needs of the protocol, with the checks of a real store: a signature, the checksum of an upload, and pages of a list. */
class ScriptedS3 {
  readonly files = new Map<string, Buffer>()
  /** Statuses to answer with, before anything else. */
  failures: number[] = []
  requests = 0
  readonly #server: Server

  constructor() {
    this.#server = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const body = Buffer.concat(parts)
      this.requests += 1
      const answer = (status: number, content: Buffer | string = '') => void response.writeHead(status).end(content)
      const failure = this.failures.shift()
      if (failure !== undefined) return answer(failure, '<Error><Code>SlowDown</Code></Error>')
      if (!/^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/here\/s3\/aws4_request/.test(request.headers.authorization ?? '')) {
        return answer(403, '<Error><Code>AccessDenied</Code></Error>')
      }
      const url = new URL(request.url ?? '', 'http://s3')
      const name = decodeURIComponent(url.pathname).replace(/^\/bucket\/?/, '')
      if (request.method === 'PUT') {
        const checksum = createHash('sha256').update(body).digest('base64')
        if (request.headers['x-amz-checksum-sha256'] !== checksum) return answer(400, '<Error><Code>BadDigest</Code></Error>')
        this.files.set(name, body)
        return answer(200)
      }
      if (name !== '') return this.files.has(name) ? answer(200, this.files.get(name)) : answer(404, '<Error><Code>NoSuchKey</Code></Error>')
      const names = [...this.files.keys()].filter((each) => each.startsWith(url.searchParams.get('prefix') ?? '')).sort()
      const from = Number(url.searchParams.get('continuation-token') ?? 0)
      const keys = names.slice(from, from + 2).map((key) => `<Contents><Key>${key.replaceAll('&', '&amp;')}</Key></Contents>`)
      const next = from + 2 < names.length ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : ''
      return answer(200, `<ListBucketResult>${keys.join('')}${next}</ListBucketResult>`)
    })
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

describe('an archive in a folder', () => {
  let folder: string
  let archive: Archive

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-archive-'))
    archive = createArchive(folderStore(folder))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('gives the rows back as they were, with numbers that JavaScript cannot hold', async () => {
    const entry = await archive.write('events/part/1', ROWS)
    expect(entry).toMatchObject({ rows: 2, tables: { events: 1, steps: 1 } })
    expect(await entriesOf(archive)).toEqual([entry])
    expect(await archive.read(entry)).toEqual([
      { table: 'events', line: ROWS[0]?.line },
      { table: 'steps', line: '{"seq": 1}' },
    ])
  })

  it('is the same after the same rows were written twice', async () => {
    const first = await archive.write('events/part/1', ROWS)
    expect(await archive.write('events/part/1', ROWS)).toEqual(first)
    expect(await entriesOf(archive)).toEqual([first])
  })

  it('does not show a file whose manifest was never written, or that was never finished', async () => {
    await archive.write('events/part/1', ROWS)
    await rm(join(folder, 'events/part/1.manifest.json'))
    await writeFile(join(folder, 'events/part/2.jsonl.zst.abc.unfinished'), 'half')
    expect(await entriesOf(archive)).toEqual([])
  })

  it('refuses a file that is not what was written', async () => {
    const entry = await archive.write('events/part/1', ROWS)
    const content = await readFile(join(folder, entry.name))
    content[content.length - 1] = (content.at(-1) ?? 0) ^ 1
    await writeFile(join(folder, entry.name), content)
    await expect(archive.read(entry)).rejects.toThrow('its checksum differs')
    await rm(join(folder, entry.name))
    await expect(archive.read(entry)).rejects.toThrow('and not the file')
  })

  it('has no names outside of its folder', async () => {
    await expect(folderStore(folder).put('../escape', Buffer.from(''))).rejects.toThrow('not a name within the archive')
  })
})

describe('an archive in a store that speaks S3', () => {
  let server: ScriptedS3
  let archive: Archive
  let endpoint: string
  const access = { region: 'here', accessKeyId: 'key', secretAccessKey: 'secret', bucket: 'bucket', prefix: 'a/b/' }

  beforeEach(async () => {
    server = new ScriptedS3()
    endpoint = await server.start()
    archive = createArchive(s3Store({ ...access, endpoint }))
  })
  afterEach(() => server.stop())

  it('gives the rows back, and lists every file over several pages', async () => {
    const written = []
    for (const part of ['1', '2', '3 & 4']) written.push(await archive.write(`events/${part}`, ROWS))
    expect(await entriesOf(archive)).toEqual(written)
    expect((await archive.read(written[2] as ArchiveEntry)).length).toBe(2)
    expect([...server.files.keys()].every((name) => name.startsWith('a/b/events/'))).toBe(true)
  })

  it('is asked again after an answer of the server that may pass', async () => {
    server.failures = [503, 500]
    await archive.write('events/1', ROWS)
    expect(server.requests).toBe(4)
  })

  it('fails with the code of the store, and without its secret', async () => {
    const denied = createArchive(s3Store({ ...access, endpoint, accessKeyId: 'wrong' }))
    await expect(denied.write('events/1', ROWS)).rejects.toThrow('answered PUT /bucket/a/b/events/1.jsonl.zst with 403 (AccessDenied)')
    expect(await entriesOf(archive)).toEqual([])
  })
})
