import { createHash } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import type { ArchiveStore } from './store.ts'

export interface S3Settings {
  /** Address of the store, such as https://s3.eu-central-1.amazonaws.com. Buckets are named in the path. */
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  bucket: string
  /** Put before every name; empty or ending with a slash. */
  prefix: string
}

/** Longest time of one request in milliseconds. */
const REQUEST_MS = 60_000
const RETRIES = 4

/** What an operator checks when the store refuses with this code. */
const CAUSES: Record<string, string> = {
  InvalidAccessKeyId: 'ARCHIVE_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'ARCHIVE_SECRET_ACCESS_KEY',
  AuthorizationHeaderMalformed: 'ARCHIVE_REGION',
  NoSuchBucket: 'ARCHIVE_URL',
  RequestTimeTooSkewed: 'the clock of this machine',
}

/**
 * An archive in a bucket. Each request signs the hash of its content, which every store compares. An upload has it as a checksum too, which a store keeps.
 */
export function s3Store({ endpoint, region, accessKeyId, secretAccessKey, bucket, prefix }: S3Settings): ArchiveStore {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: RETRIES })
  const bucketUrl = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`
  const urlOf = (name: string) => `${bucketUrl}/${`${prefix}${name}`.split('/').map(encodeURIComponent).join('/')}`
  const request = async (method: 'GET' | 'PUT', url: string, accepts: readonly number[], content?: Buffer): Promise<Response> => {
    const hash = createHash('sha256').update(content ?? '')
    const headers = { 'x-amz-content-sha256': hash.copy().digest('hex') }
    const upload = content && { body: new Uint8Array(content), headers: { ...headers, 'x-amz-checksum-sha256': hash.digest('base64') } }
    const response = await client.fetch(url, { method, headers, ...upload, signal: AbortSignal.timeout(REQUEST_MS) })
    if (accepts.includes(response.status)) return response
    const code = /<Code>([^<]{1,100})<\/Code>/.exec(await response.text())?.[1] ?? 'no code'
    const cause = CAUSES[code] === undefined ? '' : `: check ${CAUSES[code]}`
    throw new Error(`The archive store answered ${method} ${new URL(url).pathname} with ${response.status} (${code})${cause}.`)
  }
  return {
    place: `s3://${bucket}/${prefix}`,
    async put(name, content) {
      await request('PUT', urlOf(name), [200], content)
    },
    async get(name) {
      const response = await request('GET', urlOf(name), [200, 404])
      if (response.status === 404) {
        await response.body?.cancel()
        return null
      }
      return Buffer.from(await response.arrayBuffer())
    },
    async *list(namePrefix) {
      let token: string | undefined
      do {
        const query = { 'list-type': '2', prefix: prefix + namePrefix, ...(token === undefined ? {} : { 'continuation-token': token }) }
        // Not URLSearchParams: it writes a space as `+`, which a store may read as a plus when it verifies the signature.
        const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        const text = await (await request('GET', `${bucketUrl}?${search.join('&')}`, [200])).text()
        for (const [, key] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) yield unescapeXml(key as string).slice(prefix.length)
        token = unescapeXml(/<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(text)?.[1] ?? '') || undefined
      } while (token !== undefined)
    },
  }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescapeXml(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});/g, (_, name: string) =>
    name.startsWith('#') ? String.fromCodePoint(Number(name.replace('#x', '0x').replace('#', ''))) : (ENTITIES[name] as string),
  )
}
