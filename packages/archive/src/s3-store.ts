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

/** An archive in a bucket. Every upload carries a checksum that the store compares. */
export function s3Store({ endpoint, region, accessKeyId, secretAccessKey, bucket, prefix }: S3Settings): ArchiveStore {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: RETRIES })
  const bucketUrl = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`
  const urlOf = (name: string) => `${bucketUrl}/${`${prefix}${name}`.split('/').map(encodeURIComponent).join('/')}`
  const request = async (url: string, init: RequestInit, accepts: readonly number[]): Promise<Response> => {
    const response = await client.fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_MS) })
    if (accepts.includes(response.status)) return response
    const code = /<Code>([^<]{1,100})<\/Code>/.exec(await response.text())?.[1] ?? 'no code'
    throw new Error(`The archive store answered ${init.method ?? 'GET'} ${new URL(url).pathname} with ${response.status} (${code}).`)
  }
  return {
    place: `s3://${bucket}/${prefix}`,
    async put(name, content) {
      const checksum = createHash('sha256').update(content).digest('base64')
      await request(urlOf(name), { method: 'PUT', body: new Uint8Array(content), headers: { 'x-amz-checksum-sha256': checksum } }, [200])
    },
    async get(name) {
      const response = await request(urlOf(name), {}, [200, 404])
      if (response.status === 404) {
        await response.body?.cancel()
        return null
      }
      return Buffer.from(await response.arrayBuffer())
    },
    async *list(namePrefix) {
      let token: string | undefined
      do {
        const query = new URLSearchParams({ 'list-type': '2', prefix: prefix + namePrefix, ...(token === undefined ? {} : { 'continuation-token': token }) })
        const text = await (await request(`${bucketUrl}?${query}`, {}, [200])).text()
        for (const [, key] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) yield unescapeXml(key as string).slice(prefix.length)
        token = unescapeXml(/<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(text)?.[1] ?? '') || undefined
      } while (token !== undefined)
    },
  }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescapeXml(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] as string)
}
