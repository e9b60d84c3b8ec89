/**
 * What a program prints is bytes that nobody has checked; what is stored is PostgreSQL text and jsonb. Everything between
 * the two is here: invalid UTF-8, NUL, lone surrogates and sizes.
 */

const NUL = '\u0000'
const REPLACEMENT = '\uFFFD'

/** More nesting than any sensible report has; deeper values would overflow the stack of whoever walks them. */
const MAX_JSON_DEPTH = 64

/** Text that PostgreSQL can hold: NUL and lone surrogates become U+FFFD. */
export function cleanText(text: string): string {
  const wellFormed = text.toWellFormed()
  return wellFormed.includes(NUL) ? wellFormed.replaceAll(NUL, REPLACEMENT) : wellFormed
}

/** The bytes as clean text; what is not UTF-8 becomes U+FFFD. */
export function decode(bytes: Buffer): string {
  return cleanText(bytes.toString('utf8'))
}

/**
 * A JSON value with every string in it clean, keys too: `"\u0000"` is valid JSON, and jsonb refuses it.
 *
 * @throws RangeError when the value is nested more deeply than 64 levels
 */
export function cleanJson(value: unknown, depth = 0): unknown {
  if (depth > MAX_JSON_DEPTH) throw new RangeError(`nested more deeply than ${MAX_JSON_DEPTH} levels`)
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map((item) => cleanJson(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  // fromEntries defines properties, so a key "__proto__" stays a key.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleanJson(item, depth + 1)]))
}

/** The longest prefix of at most `maxBytes` bytes that does not end inside a code point. */
export function cutBytes(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length <= maxBytes) return bytes
  let end = maxBytes
  // A byte 10xxxxxx continues a code point. At most three of them follow a first byte; more is not UTF-8, and any cut will do.
  while (end > maxBytes - 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end)
}

/** The text, cut at a code point to at most `maxBytes` bytes of UTF-8. */
export function cutText(text: string, maxBytes: number): { text: string; isCut: boolean } {
  // A UTF-16 unit is at most three bytes, so most texts need no look at their bytes.
  if (text.length * 3 <= maxBytes) return { text, isCut: false }
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return { text, isCut: false }
  return { text: cutBytes(bytes, maxBytes).toString('utf8'), isCut: true }
}

/** Bytes that arrive in pieces, kept up to a limit. */
export interface ByteStore {
  /** Keeps what still fits, and returns how many bytes that was. */
  add(bytes: Buffer): number
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
      return kept
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
