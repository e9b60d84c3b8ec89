import { createRequire } from 'node:module'
import { parseFrontMatter, renderFrontMatter, splitFrontMatter } from '../core/front-matter.ts'
import { limited, OUT_OF_TIME } from '../core/limited.ts'
import { codePointLength } from '../core/text.ts'

/** From the least to the most. */
export const TSG_SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type TsgSeverity = (typeof TSG_SEVERITIES)[number]

export const TSG_MATCHES = ['substring', 'regex'] as const
export type TsgMatch = (typeof TSG_MATCHES)[number]

/** A troubleshooting guide: what to do when an agent meets a failure that its patterns describe. */
export interface Tsg {
  tsgId: string
  title: string
  /** Markdown. */
  content: string
  patterns: string[]
  match: TsgMatch
  applicability: { technologies: string[] }
  severity: TsgSeverity
  createdAt: Date
  updatedAt: Date
}

/** What became of a guide, counted. */
export interface TsgUsage {
  surfaced: number
  read: number
  resolved: number
  unresolved: number
}

export const TSG_ID = /^[a-z0-9][a-z0-9-]{0,63}$/
const ID_LENGTH_MAX = 64

/** How many there may be, and how long, in code points. */
export const TSG_LIMITS = { title: 256, content: 100_000, patterns: 50, pattern: 500, technologies: 20, technology: 64 } as const

/** Of a longer text, only as many characters at its beginning and as many at its end are looked at: errors say what they are there. */
export const SCANNED_LENGTH_EACH_END = 16_384

/** Instructions that a regular expression may compile to: what `[a-z]{900}` takes is still one, what nests such repetitions is not. */
const EXPRESSION_SIZE_MAX = 1_000
/**
 * The engine takes time in proportion to the text, never more, but some expressions have a proportion that is too high for every
 * request of an agent. No rule depends on this clock: what is meant well takes a thousandth of it.
 */
const SCAN_MS_MAX = 100

/** The id of a guide that was given none: its title in lower-case ASCII, cut to what an id may have; `guide` where nothing is left. */
export function slugTsgId(title: string): string {
  const slug = title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, ID_LENGTH_MAX)
    .replace(/-$/, '')
  return slug === '' ? 'guide' : slug
}

/** An id with something after it that tells it from one that is taken. */
export function suffixTsgId(tsgId: string, suffix: string): string {
  return `${tsgId.slice(0, ID_LENGTH_MAX - 1 - suffix.length).replace(/-$/, '')}-${suffix}`
}

/** Why a pattern cannot be one, or null when it can. */
export function tsgPatternProblem(match: TsgMatch, pattern: string): string | null {
  if (match === 'substring') return null
  let expression: Expression
  try {
    expression = compileExpression(pattern)
  } catch (error) {
    return `is no regular expression of RE2: ${(error as Error).message}`
  }
  if (expression.programSize() > EXPRESSION_SIZE_MAX) return 'is too large a regular expression: its repetitions add up to too much'
  if (expression.test('')) return 'must not match the empty text, because then it matches everything'
  return null
}

/** The share of feedback that says a guide helped; null without feedback. */
export function successRate(usage: Pick<TsgUsage, 'resolved' | 'unresolved'>): number | null {
  const answers = usage.resolved + usage.unresolved
  return answers === 0 ? null : usage.resolved / answers
}

interface CompiledPattern {
  pattern: string
  /** For substrings: the pattern as it is looked for, and what a text that contains it must have. */
  folded: string | null
  marks: Uint16Array
  /** For expressions; null once it has run out of time, after which it is left out. */
  expression: Expression | null
}

/** A guide that is ready to be matched. */
export interface CompiledTsg {
  tsgId: string
  title: string
  severity: TsgSeverity
  /** The longest first: the first that matches is the one to name. */
  patterns: CompiledPattern[]
}

/** Makes a guide ready. A pattern that does not compile is left out, though none is ever stored. */
export function compileTsg(tsg: Pick<Tsg, 'tsgId' | 'title' | 'severity' | 'match' | 'patterns'>): CompiledTsg {
  const longestFirst = [...tsg.patterns].sort((left, right) => codePointLength(right) - codePointLength(left))
  const patterns = longestFirst.map((pattern): CompiledPattern => {
    if (tsg.match === 'substring') return { pattern, folded: fold(pattern), marks: new Uint16Array(new Set(marksOf(fold(pattern)))), expression: null }
    return { pattern, folded: null, marks: new Uint16Array(), expression: compileIfPossible(pattern) }
  })
  return { tsgId: tsg.tsgId, title: tsg.title, severity: tsg.severity, patterns }
}

function compileIfPossible(pattern: string): Expression | null {
  try {
    return compileExpression(pattern)
  } catch {
    return null
  }
}

/** A guide that one of the texts speaks of, and the longest of its patterns that shows it. */
export interface TsgHit {
  tsgId: string
  title: string
  severity: TsgSeverity
  pattern: string
}

/**
 * The guides that one of the texts speaks of, best first as far as guides alone can tell. Substrings match whatever their case; regular
 * expressions are RE2's, in linear time, and as they are written: `(?i)` makes one blind to case, `(?m)` anchors it to lines.
 *
 * @param onSlow receives an expression that took too long. It is not used any more; the rest waits for the next call
 */
export function matchTsgs(guides: readonly CompiledTsg[], texts: readonly string[], onSlow: (slow: { tsgId: string; pattern: string }) => void): TsgHit[] {
  const scanned = texts.map(scannedPart)
  return rankTsgHits([...matchSubstrings(guides, scanned), ...matchExpressions(guides, scanned, onSlow)], new Map())
}

/** Searching the texts for each of a thousand patterns would take too long, so most are excluded by their marks. */
function matchSubstrings(guides: readonly CompiledTsg[], texts: readonly string[]): TsgHit[] {
  const folded = texts.map(fold)
  const marked = new Uint8Array(MARKS)
  for (const text of folded) for (const mark of marksOf(text)) marked[mark] = 1
  return guides.flatMap((guide) => {
    const found = guide.patterns.find(({ folded: wanted, marks }) => {
      if (wanted === null) return false
      for (const mark of marks) if (marked[mark] === 0) return false
      return folded.some((text) => text.includes(wanted))
    })
    return found === undefined ? [] : [hitOf(guide, found)]
  })
}

function matchExpressions(guides: readonly CompiledTsg[], texts: readonly string[], onSlow: Parameters<typeof matchTsgs>[2]): TsgHit[] {
  const candidates = guides.filter((guide) => guide.patterns.some(({ expression }) => expression !== null))
  if (candidates.length === 0) return []
  const hits: TsgHit[] = []
  let trying: { guide: CompiledTsg; pattern: CompiledPattern } | undefined
  const end = limited(SCAN_MS_MAX, () => {
    hits.length = 0
    for (const guide of candidates) {
      const found = guide.patterns.find((pattern) => {
        trying = { guide, pattern }
        return texts.some((text) => pattern.expression?.test(text))
      })
      if (found !== undefined) hits.push(hitOf(guide, found))
    }
  })
  if (end === OUT_OF_TIME && trying !== undefined) {
    trying.pattern.expression = null
    onSlow({ tsgId: trying.guide.tsgId, pattern: trying.pattern.pattern })
  }
  return hits
}

function hitOf({ tsgId, title, severity }: CompiledTsg, { pattern }: CompiledPattern): TsgHit {
  return { tsgId, title, severity, pattern }
}

/** Best first: by severity, pattern length, then success rate; an untried guide ranks in the middle. */
export function rankTsgHits(hits: readonly TsgHit[], rates: ReadonlyMap<string, number | null>): TsgHit[] {
  const rateOf = ({ tsgId }: TsgHit) => rates.get(tsgId) ?? 0.5
  return [...hits].sort(
    (left, right) =>
      TSG_SEVERITIES.indexOf(right.severity) - TSG_SEVERITIES.indexOf(left.severity) ||
      codePointLength(right.pattern) - codePointLength(left.pattern) ||
      rateOf(right) - rateOf(left) ||
      (left.tsgId < right.tsgId ? -1 : 1),
  )
}

function scannedPart(text: string): string {
  if (text.length <= 2 * SCANNED_LENGTH_EACH_END) return text
  return `${text.slice(0, SCANNED_LENGTH_EACH_END)}\n${text.slice(-SCANNED_LENGTH_EACH_END)}`
}

/** To upper case, which looks at each character by itself. Lower case does not (σ at the end of a word is ς), and would lose what is contained. */
function fold(text: string): string {
  return text.toUpperCase()
}

const MARK_LENGTH = 4
const MARKS = 65_536

/** A number for every four characters that stand next to each other. A text that lacks one of a pattern's cannot contain the pattern. */
function* marksOf(text: string): Generator<number> {
  for (let end = MARK_LENGTH; end <= text.length; end += 1) {
    let mark = 0
    for (let place = end - MARK_LENGTH; place < end; place += 1) mark = Math.imul(mark, 31) + text.charCodeAt(place)
    // The upper half of a product depends on all of its bits.
    yield Math.imul(mark, 0x9e37_79b1) >>> 16
  }
}

type Expression = ReturnType<typeof import('re2js').RE2JS.compile>

const require = createRequire(import.meta.url)
let engine: typeof import('re2js') | undefined

/** The engine is loaded with the first expression: a process that never sees one should not pay for it. */
function compileExpression(pattern: string): Expression {
  engine ??= require('re2js') as typeof import('re2js')
  return engine.RE2JS.compile(pattern)
}

/** A guide as a text of its own: everything but its content as YAML front matter, in the words of the API, then the content. */
export function renderTsgMarkdown(tsg: Omit<Tsg, 'createdAt' | 'updatedAt'>): string {
  const { technologies } = tsg.applicability
  const frontMatter = {
    tsg_id: tsg.tsgId,
    title: tsg.title,
    severity: tsg.severity,
    match: tsg.match,
    patterns: tsg.patterns,
    ...(technologies.length === 0 ? {} : { applicability: { technologies } }),
  }
  return renderFrontMatter(frontMatter, tsg.content)
}

/**
 * Reads Markdown from `renderTsgMarkdown` or written by hand: the fields as the API names them, unchecked, with the rest of the text as
 * `content`. A text that has no front matter is answered with what is wrong with it.
 */
export function parseTsgMarkdown(text: string): { fields: Record<string, unknown> } | { problem: string } {
  const parts = splitFrontMatter(text)
  if (parts === null) return { problem: 'must begin with front matter: YAML between two lines that are ---' }
  const read = parseFrontMatter(parts.frontMatter)
  if ('problem' in read) return { problem: read.problem }
  if (Object.hasOwn(read.fields, 'content')) return { problem: 'must not have content in its front matter: content is what comes after it' }
  return { fields: { ...read.fields, content: parts.content } }
}
