import { createByteStore, cutBytes, decode } from './text.ts'

/** One line of a program's output, clean text without its line end. */
export interface Line {
  text: string
  /** Bytes the program printed for it. */
  bytes: number
  /** True where the line was longer than what is kept of one. */
  isCut: boolean
}

export interface LineLimits {
  /** Bytes kept of an ordinary line. */
  maxLineBytes: number
  /** Bytes kept of a line that starts with `{`: a cut JSON line cannot be read, and the text in it grows by its escapes. */
  maxJsonLineBytes: number
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const OPENING_BRACE = 0x7b

/** Takes a byte stream apart into lines, however its chunks fall. */
export interface LineReader {
  add(chunk: Buffer): void
  /** The stream has ended: what is left is the last line, if it is anything. */
  end(): void
}

/**
 * A reader that calls `onLine` for each line. It works on bytes: a line feed is never part of a longer UTF-8 sequence, so a
 * whole line decodes correctly wherever the chunks were split. Of a line that never ends it keeps no more than its limit.
 * While `isPlainUnwanted()` holds, lines that cannot be JSON objects are passed over unread: a program that prints without
 * end would otherwise keep the worker busy with text that is not kept.
 */
export function createLineReader(limits: LineLimits, onLine: (line: Line) => void, isPlainUnwanted: () => boolean = () => false): LineReader {
  let maxBytes = limits.maxLineBytes
  // Up to three bytes more than the limit are kept, so that the cut can be made at a code point.
  const kept = createByteStore(() => maxBytes + 3)
  let totalBytes = 0
  let isSkipped = false

  function take(part: Buffer) {
    if (part.length === 0) return
    if (totalBytes === 0) {
      const mayBeJson = part[0] === OPENING_BRACE
      maxBytes = mayBeJson ? limits.maxJsonLineBytes : limits.maxLineBytes
      isSkipped = !mayBeJson && isPlainUnwanted()
    }
    totalBytes += part.length
    if (!isSkipped) kept.add(part)
  }

  function finish() {
    if (isSkipped) {
      isSkipped = false
      totalBytes = 0
      return
    }
    let bytes = kept.bytes
    let isCut = bytes.length < totalBytes
    if (!isCut && bytes[bytes.length - 1] === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1)
    const text = cutBytes(bytes, maxBytes)
    isCut ||= text.length < bytes.length
    const line = { text: decode(text), bytes: totalBytes, isCut }
    kept.clear()
    totalBytes = 0
    onLine(line)
  }

  return {
    add(chunk) {
      let start = 0
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
        take(chunk.subarray(start, end))
        finish()
        start = end + 1
      }
      take(chunk.subarray(start))
    },
    end() {
      if (totalBytes > 0) finish()
    },
  }
}
