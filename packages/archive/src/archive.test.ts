import { createHash, createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
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

interface SignedRequest {
  method: string
  /** Path and query as they were sent. */
  target: string
  headers: IncomingHttpHeaders
}

/** The characters that RFC 3986 does not reserve stay, and all others are escaped. */
const escapeUri = (text: string) => encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** The signature that AWS Signature Version 4 asks for, computed from what was received, as Amazon's specification says. A `+` in a query is no space. */
function signatureOf(
  { method, target, headers }: SignedRequest,
  { date, region, signed }: Record<'date' | 'region' | 'signed', string>,
  secret: string,
): string {
  const [path = '', query = ''] = target.split('?')
  const canonical = [
    method,
    escapeUri(decodeURIComponent(path)).replaceAll('%2F', '/'),
    query
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`).split('=').map(decodeURIComponent).map(escapeUri).join('='))
      .sort()
      .join('&'),
    ...signed.split(';').map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}`),
    '',
    signed,
    headers['x-amz-content-sha256'],
  ].join('\n')
  const scope = `${date}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = scope.split('/').reduce<Buffer | string>((above, part) => createHmac('sha256', above).update(part).digest(), `AWS4${secret}`)
  return createHmac('sha256', key).update(text).digest('hex')
}

const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/

/** What a store in the region `here` that knows `key` with its `secret` refuses a request with, or null. */
function refusal(request: SignedRequest, body: Buffer): [status: number, code: string] | null {
  const { headers } = request
  const [, accessKeyId = '', date = '', region = '', signed = '', signature] = AUTHORIZATION.exec(headers.authorization ?? '') ?? []
  if (signature === undefined || !String(headers['x-amz-date']).startsWith(`${date}T`)) return [403, 'AccessDenied']
  if (accessKeyId !== 'key') return [403, 'InvalidAccessKeyId']
  if (region !== 'here') return [400, 'AuthorizationHeaderMalformed']
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  if (!mustBeSigned.every((name) => signed.split(';').includes(name))) return [403, 'AccessDenied']
  if (signatureOf(request, { date, region, signed }, 'secret') !== signature) return [403, 'SignatureDoesNotMatch']
  if (createHash('sha256').update(body).digest('hex') !== headers['x-amz-content-sha256']) return [400, 'XAmzContentSHA256Mismatch']
  return null
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
      const body = await buffer(request)
      this.requests += 1
      const answer = (status: number, content: Buffer | string = '') => void response.writeHead(status).end(content)
      const failure = this.failures.shift()
      if (failure !== undefined) return answer(failure, '<Error><Code>SlowDown</Code></Error>')
      const { method = '', url: target = '', headers } = request
      const refused = refusal({ method, target, headers }, body)
      if (refused !== null) return answer(refused[0], `<Error><Code>${refused[1]}</Code></Error>`)
      const url = new URL(target, 'http://s3')
      const name = decodeURIComponent(url.pathname).replace(/^\/bucket\/?/, '')
      if (method === 'PUT') {
        const checksum = createHash('sha256').update(body).digest('base64')
        if (headers['x-amz-checksum-sha256'] !== checksum) return answer(400, '<Error><Code>BadDigest</Code></Error>')
        this.files.set(name, body)
        return answer(200)
      }
      if (name !== '') return this.files.has(name) ? answer(200, this.files.get(name)) : answer(404, '<Error><Code>NoSuchKey</Code></Error>')
      const names = [...this.files.keys()].filter((each) => each.startsWith(url.searchParams.get('prefix') ?? '')).sort()
      const from = Number(url.searchParams.get('continuation-token')?.replace('/+ =', '') ?? 0)
      const keys = names.slice(from, from + 2).map((key) => `<Contents><Key>${escapeXml(key)}</Key></Contents>`)
      const next = from + 2 < names.length ? `<NextContinuationToken>/+ =${from + 2}</NextContinuationToken>` : ''
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

/** As stores in Go write it, with numbers for quotes. */
const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&#34;').replaceAll("'", '&#39;').replaceAll('+', '&#x2B;')

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

  it('takes a prefix and names with characters that addresses and XML escape', async () => {
    const odd = createArchive(s3Store({ ...access, endpoint, prefix: `of "Bob's" + 1 %25 é (a)!*~/` }))
    const entry = await odd.write(`events/'&' + (0,1)`, ROWS)
    expect([...server.files.keys()]).toContain(`of "Bob's" + 1 %25 é (a)!*~/events/'&' + (0,1).jsonl.zst`)
    expect(await entriesOf(odd)).toEqual([entry])
    expect((await odd.read(entry)).length).toBe(2)
  })

  it.each([
    ['SignatureDoesNotMatch', { secretAccessKey: 'wrong' }, '403 (SignatureDoesNotMatch): check ARCHIVE_SECRET_ACCESS_KEY.'],
    ['InvalidAccessKeyId', { accessKeyId: 'wrong' }, '403 (InvalidAccessKeyId): check ARCHIVE_ACCESS_KEY_ID.'],
    ['AuthorizationHeaderMalformed', { region: 'there' }, '400 (AuthorizationHeaderMalformed): check ARCHIVE_REGION.'],
  ])('fails with %s and the setting to check, without the secret, and stores nothing', async (_, wrong, said) => {
    const denied = createArchive(s3Store({ ...access, endpoint, ...wrong }))
    await expect(denied.write('events/1', ROWS)).rejects.toThrow(`The archive store answered PUT /bucket/a/b/events/1.jsonl.zst with ${said}`)
    await expect(entriesOf(denied)).rejects.toThrow(`The archive store answered GET /bucket with ${said}`)
    expect([server.files.size, server.requests]).toEqual([0, 2])
  })
})

describe('the signatures that these tests compare with', () => {
  const EXAMPLE = { host: 'examplebucket.s3.amazonaws.com', 'x-amz-date': '20130524T000000Z' }
  const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

  it.each([
    ['GET', '/test.txt', { range: 'bytes=0-9' }, EMPTY, 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'],
    [
      'PUT',
      '/test$file.text',
      { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    ['GET', '/?lifecycle', {}, EMPTY, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['GET', '/?max-keys=2&prefix=J', {}, EMPTY, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ])('are those of the examples that Amazon publishes: %s %s', (method, target, more, hash, signature) => {
    const headers = { ...EXAMPLE, ...more, 'x-amz-content-sha256': hash }
    const scope = { date: '20130524', region: 'us-east-1', signed: Object.keys(headers).sort().join(';') }
    expect(signatureOf({ method, target, headers }, scope, 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY')).toBe(signature)
  })
})
