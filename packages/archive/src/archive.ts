import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Archive, ArchivedRow, ArchiveEntry, Settings } from '@muster/domain'
import { folderStore } from './folder-store.ts'
import { s3Store } from './s3-store.ts'
import type { ArchiveStore } from './store.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const DATA = '.jsonl.zst'
const MANIFEST = '.manifest.json'

/**
 * An archive in a store: for each file `<name>.jsonl.zst`, one row a line, compressed by Zstandard, and `<name>.manifest.json` with its size and SHA-256.
 * The manifest is written last, so a file without one was never finished.
 */
export function createArchive(store: ArchiveStore): Archive {
  return {
    place: store.place,
    async write(name, rows) {
      const tables: Record<string, number> = {}
      for (const { table } of rows) tables[table] = (tables[table] ?? 0) + 1
      // The line of a row is JSON already; reading and writing it again would change numbers that JavaScript cannot hold.
      const text = rows.map(({ table, line }) => `{"table":${JSON.stringify(table)},"row":${line}}\n`).join('')
      const content = await compress(text)
      const entry: ArchiveEntry = { name: `${name}${DATA}`, format: 1, rows: rows.length, tables, bytes: content.length, sha256: sha256(content) }
      await store.put(entry.name, content)
      await store.put(`${name}${MANIFEST}`, Buffer.from(`${JSON.stringify(entry)}\n`))
      return entry
    },
    async *entries() {
      for await (const name of store.list('')) {
        if (!name.endsWith(MANIFEST)) continue
        const content = await store.get(name)
        if (content !== null) yield JSON.parse(content.toString('utf8')) as ArchiveEntry
      }
    },
    async read(entry) {
      const content = await store.get(entry.name)
      if (content === null) throw new Error(`The archive ${store.place} has the manifest of ${entry.name}, and not the file.`)
      if (entry.format !== 1) throw new Error(`${entry.name} is of format ${String(entry.format)}, which this version does not know.`)
      if (sha256(content) !== entry.sha256) throw new Error(`${entry.name} of the archive ${store.place} is not what was written: its checksum differs.`)
      const lines = (await decompress(content)).toString('utf8').split('\n').slice(0, -1)
      if (lines.length !== entry.rows) throw new Error(`${entry.name} has ${lines.length} rows instead of ${entry.rows}.`)
      return lines.map(rowOf)
    },
  }
}

const ROW = /^\{"table":"([a-z_]+)","row":(\{.*\})\}$/s

function rowOf(text: string): ArchivedRow {
  const [, table, line] = ROW.exec(text) ?? []
  if (table === undefined || line === undefined) throw new Error(`This is not a row of an archive: ${text.slice(0, 100)}`)
  return { table, line }
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

type ArchiveSettings = Pick<Settings, 'ARCHIVE_URL' | 'ARCHIVE_ENDPOINT' | 'ARCHIVE_REGION' | 'ARCHIVE_ACCESS_KEY_ID' | 'ARCHIVE_SECRET_ACCESS_KEY'>

/**
 * The archive at an address: a folder as an absolute path or `file://`, or `s3://bucket/prefix` with the settings of the store.
 *
 * @throws Error one sentence that says what the address or the settings lack
 */
export function openArchive(address: string, settings: ArchiveSettings): Archive {
  if (!address.startsWith('s3://')) {
    const path = address.startsWith('file://') ? decodeURIComponent(new URL(address).pathname) : address
    return createArchive(folderStore(path))
  }
  const { hostname: bucket, pathname } = new URL(address)
  const { ARCHIVE_ACCESS_KEY_ID: accessKeyId, ARCHIVE_SECRET_ACCESS_KEY: secretAccessKey, ARCHIVE_REGION: region } = settings
  if (bucket === '') throw new Error('The address of the archive names no bucket: write s3://bucket/prefix.')
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error('An archive at s3:// needs ARCHIVE_ACCESS_KEY_ID and ARCHIVE_SECRET_ACCESS_KEY.')
  }
  const path = pathname.replace(/^\/+|\/+$/g, '')
  const endpoint = settings.ARCHIVE_ENDPOINT ?? `https://s3.${region}.amazonaws.com`
  return createArchive(s3Store({ endpoint, region, accessKeyId, secretAccessKey, bucket, prefix: path === '' ? '' : `${decodeURIComponent(path)}/` }))
}
