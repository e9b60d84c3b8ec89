/** Length as people count it: Unicode code points. */
export function codePointLength(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/**
 * Characters that a reader cannot see: blanks, control and format characters, marks without a letter, fillers and the blank Braille
 * pattern. U+FFFD stands for characters that could not be kept.
 */
const INVISIBLE = String.raw`\s\p{Cc}\p{Cf}\p{M}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\uFFFD`
const VISIBLE = new RegExp(`[^${INVISIBLE}]`, 'u')

/** Whether a text contains at least one character that a reader can see. */
export function hasVisibleText(text: string): boolean {
  return VISIBLE.test(text)
}

/** Why PostgreSQL or JSON could not keep a text as it is, or null when it can: U+0000 and lone surrogates. */
export function unstorableReason(text: string): string | null {
  if (text.includes('\0')) return 'must not contain the character U+0000'
  if (!text.isWellFormed()) return 'must not contain lone surrogates'
  return null
}

/** The same check for every string, key and value, inside a JSON value. */
export function unstorableJsonReason(value: unknown): string | null {
  if (typeof value === 'string') return unstorableReason(value)
  if (Array.isArray(value)) return firstReason(value)
  if (value !== null && typeof value === 'object') return firstReason([...Object.keys(value), ...Object.values(value)])
  return null
}

function firstReason(values: unknown[]): string | null {
  for (const value of values) {
    const reason = unstorableJsonReason(value)
    if (reason !== null) return reason
  }
  return null
}

/** Makes any text storable, replacing what cannot be kept by U+FFFD. For text that programs produce, never for input. */
export function toStorableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}

/** `toStorableText` for every string inside a JSON value. */
export function toStorableJson<T>(value: T): T {
  if (typeof value === 'string') return toStorableText(value) as T
  if (Array.isArray(value)) return value.map(toStorableJson) as T
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [toStorableText(key), toStorableJson(entry)])) as T
  }
  return value
}

/** The longest prefix of at most `bytesMax` bytes of UTF-8 that ends at a code point. */
export function cutToBytes(text: string, bytesMax: number): { text: string; truncated: boolean } {
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no encoding to be known to fit.
  if (text.length * 3 <= bytesMax) return { text, truncated: false }
  const target = new Uint8Array(bytesMax)
  const { read } = new TextEncoder().encodeInto(text, target)
  return read === text.length ? { text, truncated: false } : { text: text.slice(0, read), truncated: true }
}

/** Text cut to a number of code points, for messages and error values. */
export function cutToCodePoints(text: string, pointsMax: number): string {
  // A code point is one unit of UTF-16 or two, so short texts need no dividing to be known to fit.
  if (text.length <= pointsMax) return text
  const points = [...text.slice(0, pointsMax * 2 + 2)]
  return points.length <= pointsMax && text.length <= pointsMax * 2 + 2 ? text : `${points.slice(0, pointsMax).join('')}…`
}

/** The longest prefix of at most `lengthMax` UTF-16 units that ends at a code point. */
export function cutToLength(text: string, lengthMax: number): string {
  const cut = text.slice(0, Math.max(0, lengthMax))
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}

/** The same, with a mark where something is left out. */
export function shortened(text: string, lengthMax: number): string {
  const cut = cutToLength(text, lengthMax)
  return cut === text ? text : `${cut}…`
}

/** Dashes where PostgreSQL expects a word: it takes each for a `not`, whatever of this stands between them, and fails from the 33rd on. */
const REPEATED_NOT = /(^|[\s!&|()"])-[-\s!&|()"]*-/g

/** A search as PostgreSQL's `websearch_to_tsquery` takes any: several `-` in a row count as one. */
export function toWebSearch(text: string): string {
  return text.replace(REPEATED_NOT, '$1-')
}
