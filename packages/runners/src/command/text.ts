import { toStorableText } from '@muster/domain'

/** A program prints any number of unchecked bytes. Here they become text of a known size. */

/** The bytes as text that can be stored; what is not UTF-8, and NUL, become U+FFFD. */
export function decode(bytes: Buffer): string {
  return toStorableText(bytes.toString('utf8'))
}

/** The longest prefix of at most `maxBytes` bytes that does not end inside a code point. */
export function cutBytes(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length <= maxBytes) return bytes
  let end = maxBytes
  // A byte 10xxxxxx continues a code point. At most three of them follow a first byte; more is not UTF-8, and any cut will do.
  while (end > maxBytes - 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end)
}

/** Bytes that arrive in pieces, kept up to a limit. */
export interface ByteStore {
  /** Keeps what still fits. */
  add(bytes: Buffer): void
  readonly length: number
  /** A view of what is kept, valid until the next change. */
  readonly bytes: Buffer
  clear(): void
}

/** A `ByteStore` in one buffer that grows: a million pieces of one byte each would cost a hundred times what they hold. */
export function createByteStore(maxBytes: () => number): ByteStore {
  let buffer = Buffer.alloc(0)
  let length = 0
  return {
    add(bytes) {
      const kept = Math.max(0, Math.min(bytes.length, maxBytes() - length))
      if (length + kept > buffer.length) {
        const grown = Buffer.alloc(Math.max(1024, buffer.length * 2, length + kept))
        buffer.copy(grown, 0, 0, length)
        buffer = grown
      }
      bytes.copy(buffer, length, 0, kept)
      length += kept
    },
    get length() {
      return length
    },
    get bytes() {
      return buffer.subarray(0, length)
    },
    clear() {
      length = 0
      // One long line must not hold its megabytes for the rest of the run.
      if (buffer.length > 64 * 1024) buffer = Buffer.alloc(0)
    },
  }
}

/** Keeps the beginning of a growing text, and remembers whether there was more. */
export interface KeptText {
  /** Adds a line; `isCut` says that the line itself is already incomplete. */
  addLine(line: string, isCut: boolean): void
  readonly text: string
  readonly isCut: boolean
}

/** A `KeptText` of at most `maxBytes` bytes of UTF-8, its lines joined by line feeds. */
export function createKeptText(maxBytes: number): KeptText {
  const store = createByteStore(() => maxBytes)
  let hasLine = false
  let isCut = false
  return {
    addLine(line, isLineCut) {
      if (isCut) return
      const bytes = Buffer.from(hasLine ? `\n${line}` : line)
      const kept = cutBytes(bytes, maxBytes - store.length)
      store.add(kept)
      hasLine = true
      isCut = isLineCut || kept.length < bytes.length
    },
    get text() {
      return store.bytes.toString('utf8')
    },
    get isCut() {
      return isCut
    },
  }
}

/** Keeps the last bytes of a stream. */
export interface Tail {
  add(chunk: Buffer): void
  readonly text: string
}

/** A `Tail` of the last `maxBytes` bytes, starting at a code point. */
export function createTail(maxBytes: number): Tail {
  let bytes = Buffer.alloc(0)
  return {
    add(chunk) {
      // `from` copies: a subarray would keep the whole chunk alive.
      bytes = Buffer.from(Buffer.concat([bytes, chunk.subarray(-maxBytes)]).subarray(-maxBytes))
    },
    get text() {
      let start = 0
      if (bytes.length === maxBytes) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
      return decode(bytes.subarray(start)).trimEnd()
    },
  }
}
