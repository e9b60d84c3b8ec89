import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { DomainError } from '@muster/domain'
import type { GivenFile } from '@muster/usecases'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireBodyType } from './json-body.ts'

/** How a collection of files may arrive. */
export const FILES_TYPES = ['application/zip', 'application/x-tar', 'application/gzip', 'multipart/form-data'] as const
type FilesType = (typeof FILES_TYPES)[number]

/** What an archive may unpack to, so that a small one cannot fill the memory. */
const UNPACKED_BYTES_MAX = 33_554_432
const FILES_MAX = 5_000

/** A body of several files. As JSON it is its digest, by which a repeated request is known. */
class FilesBody {
  readonly files: readonly GivenFile[]
  readonly #sha256: string

  constructor(files: readonly GivenFile[], body: Buffer) {
    this.files = files
    this.#sha256 = createHash('sha256').update(body).digest('hex')
  }

  toJSON(): { sha256: string } {
    return { sha256: this.#sha256 }
  }
}

export const filesBodySchema = z.instanceof(FilesBody, { error: 'must be an archive or a form of files' })

/** Reads archives and forms, where an endpoint takes them. Directories, links and what lies in a hidden folder are left out. */
export function addFilesBody(app: FastifyInstance): void {
  for (const type of FILES_TYPES) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
      requireBodyType(request, type)
      const files = await unpack(type, body, request.headers['content-type'] ?? type)
      if (files.length > FILES_MAX) throw tooLarge(`has more than ${FILES_MAX} files`)
      return new FilesBody(
        files.filter(({ path }) => !isHidden(path)),
        body,
      )
    })
  }
}

async function unpack(type: FilesType, body: Buffer, contentType: string): Promise<GivenFile[]> {
  try {
    switch (type) {
      case 'application/zip':
        return await readZip(body)
      case 'application/x-tar':
        return await readTar(body)
      case 'application/gzip':
        return await readTar(await promisify(gunzip)(body, { maxOutputLength: UNPACKED_BYTES_MAX }))
      case 'multipart/form-data':
        return await readForm(body, contentType)
    }
  } catch (error) {
    if (error instanceof DomainError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(`unpacks to more than ${UNPACKED_BYTES_MAX} bytes`)
    throw new DomainError('validation_failed', `The body cannot be read as ${type}: ${(error as Error).message}.`)
  }
}

/** How much of a zip is read at once, in bytes. It unpacks to a thousand times as much at most. */
const ZIP_CHUNK_BYTES = 16_384
const ZIP_BEGINS = ['PK\x03\x04', 'PK\x05\x06']

/** Counts what is really unpacked: the sizes that a zip states may be wrong, and its directory may name the same data thousands of times. */
async function readZip(body: Buffer): Promise<GivenFile[]> {
  const { Unzip, UnzipInflate } = await import('fflate')
  if (!ZIP_BEGINS.includes(body.toString('latin1', 0, 4))) throw new Error('it does not begin like a zip')
  const files: GivenFile[] = []
  let bytes = 0
  let count = 0
  const unzip = new Unzip((file) => {
    count += 1
    if (count > FILES_MAX) throw tooLarge(`has more than ${FILES_MAX} files`)
    // What is not started is passed over.
    if (file.name.endsWith('/')) return
    const chunks: Uint8Array[] = []
    file.ondata = (error, chunk, isLast) => {
      if (error !== null) throw error
      bytes += chunk.length
      if (bytes > UNPACKED_BYTES_MAX) throw tooLarge(`unpacks to more than ${UNPACKED_BYTES_MAX} bytes`)
      chunks.push(chunk)
      if (isLast) files.push({ path: file.name, bytes: Buffer.concat(chunks) })
    }
    file.start()
  })
  unzip.register(UnzipInflate)
  for (let at = 0; at < body.length; at += ZIP_CHUNK_BYTES) unzip.push(body.subarray(at, at + ZIP_CHUNK_BYTES), at + ZIP_CHUNK_BYTES >= body.length)
  return files
}

async function readTar(body: Buffer): Promise<GivenFile[]> {
  const { unpackTar } = await import('modern-tar')
  const entries = await unpackTar(new Uint8Array(body), { strict: true })
  return entries.flatMap(({ header, data }) => (header.type === 'file' && data !== undefined ? [{ path: header.name, bytes: data }] : []))
}

async function readForm(body: Buffer, contentType: string): Promise<GivenFile[]> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  const files: GivenFile[] = []
  for (const [field, value] of form) {
    if (typeof value === 'string')
      throw new DomainError('validation_failed', `The part ${JSON.stringify(field.slice(0, 100))} is not a file: give it a filename.`)
    files.push({ path: value.name, bytes: new Uint8Array(await value.arrayBuffer()) })
  }
  return files
}

/** Such as `__MACOSX/._name.md` and `.git/description.md`. */
function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.') && part !== '.') || path.startsWith('__MACOSX/')
}

function tooLarge(what: string): DomainError {
  return new DomainError('payload_too_large', `The archive ${what}. Send it in several parts.`)
}
