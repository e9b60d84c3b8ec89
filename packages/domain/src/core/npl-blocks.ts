/**
 * The blocks that agents put into what they say: reflections on their work, check-ins against criteria, and results that hand a task in. Everything here takes time
 * in proportion to the text, and never throws: it reads text from any author. [D2]
 */

export type NplTag = 'npl-block' | 'npl-reflection' | 'npl-ref'

export interface NplBlock {
  kind: 'reflection' | 'check_in' | 'result'
  tag: NplTag
  /** Of its opening tag, names in lower case. */
  attributes: Record<string, string>
  /** What stands in it, without code fences, which only a result keeps: agents put its JSON into one. `linesOf` has its lines. */
  text: string
  /** False for one that the next block or the end of the text cut off. */
  isClosed: boolean
}

/** What an emoji at the beginning of a line says of the work. The weights of [D2] go by these names. */
export const EMOJI_CATEGORIES = {
  '✅': 'verified',
  '🐛': 'bug',
  '🔒': 'security',
  '⚠': 'pitfall',
  '🧩': 'edge_case',
  '📝': 'todo',
  '🚀': 'improvement',
  '🔄': 'refactor',
  '❓': 'question',
  '📚': 'docs',
} as const

export type EmojiCategory = (typeof EMOJI_CATEGORIES)[keyof typeof EMOJI_CATEGORIES]

/** One line of a block. */
export interface BlockItem {
  /** Without variation selectors, so that ⚠ and ⚠️ are one. Null where the line does not begin with one. */
  emoji: string | null
  /** Null for an emoji that means nothing here. */
  category: EmojiCategory | null
  text: string
}

/** A code fence that is open: everything up to its end is text, blocks included. */
export interface Fence {
  character: string
  length: number
  /** Whether it began inside of a list or a quotation, where its end is indented or quoted as well. */
  isNested: boolean
}

/** A block whose end is not found yet. */
interface OpenBlock extends Omit<NplBlock, 'text' | 'isClosed'> {
  /** What of it is known, up to the last code fence. */
  parts: string[]
  /** Where the rest of it begins. */
  start: number
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const LESS_THAN = 60
const BACKTICK = 96
const TILDE = 126

/**
 * All blocks of a text, in order. What stands in code fences or between backticks is text. A block that is not closed ends where the
 * next one begins, or with the text, and counts all the same. Reflections with nothing in them are left out.
 */
export function findBlocks(text: string): NplBlock[] {
  const finder = new BlockFinder(text)
  let start = 0
  let hasTag = false
  let hasFence = false
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : LINE_FEED
    if (code === LINE_FEED || code === CARRIAGE_RETURN) {
      // Of nearly all lines there is no more to know than that they have neither.
      if (hasTag || hasFence) finder.readLine(start, at, hasFence)
      start = at + 1
      hasTag = false
      hasFence = false
    } else if (code === LESS_THAN) hasTag = true
    else if (code === BACKTICK || code === TILDE) hasFence = true
  }
  return finder.end()
}

class BlockFinder {
  readonly #text: string
  readonly #blocks: NplBlock[] = []
  #open: OpenBlock | null = null
  #fence: Fence | null = null

  constructor(text: string) {
    this.#text = text
  }

  readLine(start: number, end: number, mayBeFence: boolean): void {
    const line = this.#text.slice(start, end)
    if (this.#fence !== null) {
      if (!endsFence(this.#fence, line)) return
      this.#fence = null
      if (this.#open !== null) this.#open.start = end
      return
    }
    this.#fence = mayBeFence && this.#open?.kind !== 'result' ? fenceOf(line) : null
    if (this.#fence === null) this.#readTags(line, start)
    else this.#open?.parts.push(this.#text.slice(this.#open.start, start))
  }

  #readTags(line: string, offset: number): void {
    let rest = 0
    let hasText = false
    for (const tag of tagsOf(line)) {
      // Inside of a block its text may mention another; only one that begins a line begins a block. Text before one is text before all
      // that follow it, and looked at once.
      hasText ||= !MARKS_ONLY.test(line.slice(rest, tag.start))
      if (tag.isOpening && this.#open !== null && hasText) continue
      rest = tag.end
      hasText = false
      this.#close(offset + tag.start, !tag.isOpening)
      if (tag.isOpening) this.#open = blockOf(tag.name, tag.attributes, offset + tag.end)
    }
  }

  end(): NplBlock[] {
    if (this.#fence !== null && this.#open !== null) this.#open.start = this.#text.length
    this.#close(this.#text.length, false)
    return this.#blocks
  }

  #close(at: number, isClosed: boolean): void {
    if (this.#open === null) return
    const { kind, tag, attributes, parts, start } = this.#open
    const last = this.#text.slice(start, at)
    const text = parts.length === 0 ? last : [...parts, last].join('\n')
    if (kind !== 'reflection' || !MARKS_ONLY.test(text)) this.#blocks.push({ kind, tag, attributes, text, isClosed })
    this.#open = null
  }
}

/** Nothing but space and the marks of quotations. */
const MARKS_ONLY = /^[\s>]*$/

/** The lines of a text that are not empty, whatever ends them. One at a time: it may have millions. */
export function* linesOf(text: string): Generator<string> {
  let start = 0
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : LINE_FEED
    if (code !== LINE_FEED && code !== CARRIAGE_RETURN) continue
    if (at > start) yield text.slice(start, at)
    start = at + 1
  }
}

// Behind the marks of lists and quotations, of which a few are enough. Nothing in it can be read in two ways, so nothing is tried twice.
const FENCE_BEGINS = /^((?: {0,3}(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){0,8})([ \t]*)(`{3,}(?=[^`]*$)|~{3,})/
const FENCE_ENDS = /^ {0,3}(`{3,}|~{3,})[ \t]*$/
const NESTED_FENCE_ENDS = /^[ \t>]*(`{3,}|~{3,})[ \t]*$/
const FENCE_INDENTATION_MAX = 3

export function fenceOf(line: string): Fence | null {
  const found = FENCE_BEGINS.exec(line)
  if (found === null) return null
  const [, nesting, indentation, marks] = found as unknown as [string, string, string, string]
  if (nesting === '' && (indentation.includes('\t') || indentation.length > FENCE_INDENTATION_MAX)) return null
  return { character: marks.charAt(0), length: marks.length, isNested: nesting !== '' }
}

export function endsFence(fence: Fence, line: string): boolean {
  const marks = (fence.isNested ? NESTED_FENCE_ENDS : FENCE_ENDS).exec(line)?.[1]
  return marks !== undefined && marks.charAt(0) === fence.character && marks.length >= fence.length
}

interface Tag {
  isOpening: boolean
  name: NplTag
  attributes: string
  start: number
  end: number
}

// The inside of a tag has no angle brackets, so that a search for its end stops at the next beginning.
const TAG = /<(\/?)(npl-block|npl-reflection|npl-ref)(?=[\s/>])([^<>]*)>/gi

const TAG_HINT = /<\/?npl-/i

/** The tags of a line that are not inside of inline code. */
function tagsOf(line: string): Tag[] {
  if (!TAG_HINT.test(line)) return []
  const code = line.includes('`') ? inlineCode(line) : []
  const tags: Tag[] = []
  for (const match of line.matchAll(TAG)) {
    const start = match.index
    const [all, slash, name, attributes] = match as unknown as [string, string, string, string]
    // `<npl-ref/>` has nothing in it.
    if (attributes.endsWith('/') || code.some((span) => span.start < start && start < span.end)) continue
    tags.push({ isOpening: slash === '', name: name.toLowerCase() as NplTag, attributes, start, end: start + all.length })
  }
  return tags
}

/** In longer lines backticks mean nothing: they are no prose. */
const PROSE_LINE_LENGTH_MAX = 2_000

/** What a run of backticks and the next run of the same length enclose. */
function inlineCode(line: string): { start: number; end: number }[] {
  if (line.length > PROSE_LINE_LENGTH_MAX) return []
  const runs = [...line.matchAll(/`+/g)].map((match) => ({ start: match.index, length: match[0].length }))
  const spans: { start: number; end: number }[] = []
  for (let at = 0; at < runs.length; at += 1) {
    const begin = runs[at] as { start: number; length: number }
    const closing = runs.findIndex((run, index) => index > at && run.length === begin.length)
    if (closing === -1) continue
    spans.push({ start: begin.start, end: (runs[closing] as { start: number }).start })
    at = closing
  }
  return spans
}

const KINDS: ReadonlyMap<string | undefined, NplBlock['kind']> = new Map([
  ['reflection', 'reflection'],
  ['check-in', 'check_in'],
  ['result', 'result'],
])

/** The block that a tag begins, or null for a kind that means nothing here. */
function blockOf(tag: NplTag, written: string, start: number): OpenBlock | null {
  const attributes = attributesOf(written)
  const type = attributes.type?.toLowerCase().replaceAll('_', '-')
  const kind = tag === 'npl-block' ? KINDS.get(type) : 'reflection'
  return kind === undefined ? null : { kind, tag, attributes, parts: [], start }
}

// Sticky: each attribute begins where the last one ended, and the first that is none ends the list.
const ATTRIBUTE = /\s*([a-z][\w-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=`]+)))?/iy

/** Nothing has more; a tag of a million of them is not read to its end. */
const ATTRIBUTES_MAX = 32

function attributesOf(written: string): Record<string, string> {
  if (written === '') return {}
  const attributes = new Map<string, string>()
  ATTRIBUTE.lastIndex = 0
  for (let count = 0; count < ATTRIBUTES_MAX; count += 1) {
    const match = ATTRIBUTE.exec(written)
    if (match === null) break
    const name = (match[1] as string).toLowerCase()
    if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? '')
  }
  return Object.fromEntries(attributes)
}

// Both are sticky and only asked how far they reach: a text may have a million lines.
const ITEM_MARKS = /[\s>]*(?:(?:[-*+•]|\d{1,3}[.)])(?:\s+|$|(?=\p{Extended_Pictographic})))?(?:\[[ xX]\]\s+)?(?:\*\*|__)?/uy
const EMOJI =
  /(?:\p{RI}\p{RI}|[0-9#*]\uFE0F?\u20E3|\p{Extended_Pictographic}[\uFE0E\uFE0F]?\p{Emoji_Modifier}?(?:\u200D\p{Extended_Pictographic}[\uFE0E\uFE0F]?\p{Emoji_Modifier}?){0,9})/uy

const CATEGORIES = new Map<string, EmojiCategory>(Object.entries(EMOJI_CATEGORIES))

const CATEGORIES_BY_CODE_POINT = new Map([...CATEGORIES].map(([emoji, category]) => [emoji.codePointAt(0), { emoji, category }]))
const BEYOND_ASCII = 0x80

/** What is read without patterns: letters, and emoji with nothing around them. A text may have millions of such lines. */
function readPlainItem(line: string): BlockItem | null {
  const first = line.codePointAt(0) ?? 0
  if ((first >= 65 && first <= 90) || (first >= 97 && first <= 122)) return { emoji: null, category: null, text: line.trim() }
  const known = first < BEYOND_ASCII ? undefined : CATEGORIES_BY_CODE_POINT.get(first)
  const length = first > 0xffff ? 2 : 1
  // Anything else behind it may belong to it: a selector, a joiner, a modifier.
  return known === undefined || line.charCodeAt(length) >= BEYOND_ASCII ? null : { ...known, text: line.slice(length).trim() }
}

/** Reads one line of a block: the emoji it begins with, behind any list mark, and the rest. */
export function readItem(line: string): BlockItem {
  const plain = readPlainItem(line)
  if (plain !== null) return plain
  const start = endOf(ITEM_MARKS, line, 0)
  const end = endOf(EMOJI, line, start)
  if (end === start) return { emoji: null, category: null, text: line.slice(start).trim() }
  const emoji = line.slice(start, end).replace(/[\uFE0E\uFE0F]/g, '')
  return { emoji, category: CATEGORIES.get(emoji) ?? null, text: line.slice(end).trim() }
}

/** Where a sticky pattern ends that begins at a place, which is that place where it does not match. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : start
}
