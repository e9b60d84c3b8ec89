import { headerText, quotedName, unbracketed } from '../core/fenced-text.ts'
import { type BlockItem, type EmojiCategory, findBlocks, linesOf, type NplBlock, readItem } from '../core/npl-blocks.ts'
import { shortened } from '../core/text.ts'
import { deniesItself } from './denial.ts'
import type { Criterion, CriterionState, Task } from './task.ts'

/** What a holder reports on the way: how each criterion stands, and what comes next. [D2] */
export interface CheckIn {
  /** Of the attribute `task-id`. */
  taskId: string | null
  /** The revision of the brief that it is about, and so has read. */
  revision: number | null
  /** Its lines about criteria, oldest first. */
  lines: BlockItem[]
  /** As written, in lower case. It may only move a task on from assigned. */
  status: string | null
  nextSteps: string[]
}

/** What a check-in says of one criterion. */
export interface CriterionReport {
  criterionId: string
  /** What its emoji means; null where it has none, or one without a meaning. */
  category: EmojiCategory | null
  state: Exclude<CriterionState, 'open'>
  /** The line, without its emoji and id. */
  note: string
}

const STATUS_LENGTH_MAX = 64
/** The maximum number of kept lines (the newest) and next steps (the first). A text may have millions. */
export const CHECK_IN_LINES_MAX = 10_000
const NEXT_STEPS_MAX = 1_000

/** Every check-in of a text, in order. Takes time in proportion to the text, and never throws. */
export function parseCheckIns(text: string): CheckIn[] {
  return findBlocks(text)
    .filter(({ kind }) => kind === 'check_in')
    .map(readCheckIn)
}

const HEADING = /^[\s>#]*(?:\*\*|__)?(acceptance[ _-]criteria|criteria|status|next[ _-]steps)(?:\*\*|__)?\s*:(?:\*\*|__)?(.*)$/is
const OTHER_HEADING = /^\s*[a-z][a-z _-]{0,40}:\s*$/i

/** Reads the block of a check-in line by line: it looks like YAML and is none, since agents do not quote what YAML wants quoted. */
export function readCheckIn(block: NplBlock): CheckIn {
  const { 'task-id': taskId = '', revision = '' } = block.attributes
  const checkIn: CheckIn = {
    taskId: taskId.trim() || null,
    revision: /^\s*\d{1,9}\s*$/.test(revision) ? Number(revision) : null,
    lines: [],
    status: null,
    nextSteps: [],
  }
  // What comes before any heading is about criteria: agents forget the heading.
  let section: 'criteria' | 'next_steps' | 'other' = 'criteria'
  for (const line of linesOf(block.text)) {
    const mayBeHeading = line.includes(':')
    const heading = mayBeHeading ? HEADING.exec(line) : null
    if (heading === null) {
      if (mayBeHeading && OTHER_HEADING.test(line)) section = 'other'
      else if (section === 'criteria') addItem(checkIn.lines, readItem(line))
      else if (section === 'next_steps') addStep(checkIn.nextSteps, line)
      continue
    }
    const name = (heading[1] as string).toLowerCase()
    const value = (heading[2] as string).trim()
    if (name === 'status') checkIn.status = statusOf(value) ?? checkIn.status
    else section = name.endsWith('criteria') ? 'criteria' : 'next_steps'
    if (name.endsWith('steps') && value !== '[]') addStep(checkIn.nextSteps, value)
  }
  checkIn.lines = checkIn.lines.slice(-CHECK_IN_LINES_MAX)
  return checkIn
}

function addItem(items: BlockItem[], item: BlockItem): void {
  if (item.text === '') return
  if (items.length === 2 * CHECK_IN_LINES_MAX) items.splice(0, CHECK_IN_LINES_MAX)
  items.push(item)
}

function addStep(steps: string[], line: string): void {
  if (steps.length === NEXT_STEPS_MAX) return
  const { emoji, text } = readItem(line)
  if (text !== '') steps.push(emoji === null ? text : `${emoji} ${text}`)
}

function statusOf(value: string): string | null {
  const status = value
    .slice(0, STATUS_LENGTH_MAX)
    .replace(/[\s"'`*]+/g, ' ')
    .trim()
    .toLowerCase()
  return status === '' ? null : status
}

const STATE_OF: Record<EmojiCategory, CriterionReport['state']> = {
  verified: 'met',
  bug: 'unmet',
  security: 'unmet',
  pitfall: 'unmet',
  edge_case: 'unmet',
  todo: 'unmet',
  refactor: 'unmet',
  question: 'unclear',
  // Neither says whether the criterion is met.
  improvement: 'unclear',
  docs: 'unclear',
}

/** At least this much of a criterion's words, as a fraction, have to be in a line that is taken to be about it. */
const OVERLAP_MIN = { shared: 3, of: 5 }
/** A longer line is about a criterion only if it names its id: no criterion is that long. */
const COMPARED_LENGTH_MAX = 4_000

/** What of a criterion a line is compared with. */
export type MatchedCriterion = Pick<Criterion, 'id' | 'text'>

/**
 * Which criterion each line of a check-in is about: by its id, else by the same text apart from case, space and punctuation, else by
 * sharing most of its words with one and with no other as many. The newest line about a criterion counts: at most one report a criterion,
 * in the order of the criteria. A ✅ whose words deny it is unclear. `unmatched` are lines that are about none, or not clearly about one.
 */
export function matchLines(lines: readonly BlockItem[], criteria: readonly MatchedCriterion[]): { reports: CriterionReport[]; unmatched: BlockItem[] } {
  const index = new CriteriaIndex(criteria)
  const newest = new Map<string, CriterionReport>()
  const unmatched: BlockItem[] = []
  for (const line of lines) {
    const { found, note } = index.find(line.text)
    if (found.length === 0) unmatched.push(line)
    const state = line.category === null ? 'unclear' : STATE_OF[line.category]
    for (const criterion of found) newest.set(criterion.id, { criterionId: criterion.id, category: line.category, state, note })
  }
  const reports = criteria.flatMap(({ id, text }): CriterionReport[] => {
    const report = newest.get(id)
    if (report === undefined) return []
    return [report.state === 'met' && deniesItself(report.note, text) ? { ...report, state: 'unclear' } : report]
  })
  return { reports, unmatched }
}

const ID = /[\p{L}\p{N}][\p{L}\p{N}_-]*/gu

/** A criterion, and how many different words it has. */
interface Indexed {
  criterion: MatchedCriterion
  words: number
}

/** Criteria by what a line may name them with. */
class CriteriaIndex {
  readonly #byId = new Map<string, MatchedCriterion>()
  readonly #byText = new Map<string, MatchedCriterion[]>()
  readonly #byWord = new Map<string, Indexed[]>()
  readonly #idLengthMin: number

  constructor(criteria: readonly MatchedCriterion[]) {
    for (const criterion of criteria) {
      this.#byId.set(criterion.id.toLowerCase(), criterion)
      const words = wordsOf(criterion.text)
      append(this.#byText, folded(criterion.text, words), criterion)
      const different = new Set(words)
      const indexed = { criterion, words: different.size }
      for (const word of different) append(this.#byWord, word, indexed)
    }
    this.#idLengthMin = Math.min(...criteria.map(({ id }) => id.length))
  }

  /** The criteria that a line is about: more than one only where several have the same text. */
  find(text: string): { found: MatchedCriterion[]; note: string } {
    const named = hasWordOf(text, this.#idLengthMin) ? this.#named(text) : null
    if (named !== null) return { found: [named.criterion], note: without(text, named.start, named.end) }
    if (text.length > COMPARED_LENGTH_MAX) return { found: [], note: text }
    const words = wordsOf(text)
    return { found: this.#byText.get(folded(text, words)) ?? this.#closest(words), note: text }
  }

  /** The criterion whose id is the last to stand in a line: that is where it was asked for. */
  #named(text: string): { criterion: MatchedCriterion; start: number; end: number } | null {
    let last: { criterion: MatchedCriterion; start: number; end: number } | null = null
    for (const match of text.matchAll(ID)) {
      const criterion = this.#byId.get(match[0].toLowerCase())
      if (criterion !== undefined) last = { criterion, start: match.index, end: match.index + match[0].length }
    }
    return last
  }

  #closest(words: readonly string[]): MatchedCriterion[] {
    const known = new Set(words.filter((word) => this.#byWord.has(word)))
    if (known.size === 0) return []
    const shared = new Map<Indexed, number>()
    for (const word of known) {
      for (const indexed of this.#byWord.get(word) ?? []) shared.set(indexed, (shared.get(indexed) ?? 0) + 1)
    }
    let best: { criterion: MatchedCriterion; shared: number; words: number } | null = null
    let isUnique = false
    for (const [{ criterion, words }, count] of shared) {
      if (count * OVERLAP_MIN.of < words * OVERLAP_MIN.shared) continue
      // As fractions of the criterion, compared without dividing; of two that are covered alike, the one with more words in common.
      const order = best === null ? 1 : count * best.words - best.shared * words || count - best.shared
      isUnique = order > 0 || (isUnique && order < 0)
      if (order > 0) best = { criterion, shared: count, words }
    }
    return best !== null && isUnique ? [best.criterion] : []
  }
}

const SPACE = 32

/** Whether a text has so many characters in a row that are no space. Most lines have not, and so name no id: they need not be divided to know that. */
function hasWordOf(text: string, lengthMin: number): boolean {
  let length = 0
  for (let at = 0; at < text.length && length < lengthMin; at += 1) length = text.charCodeAt(at) === SPACE ? 0 : length + 1
  return length >= lengthMin
}

function append<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [value])
  else known.push(value)
}

const AROUND_ID = new Set(' \t()[]{}<>"\'`#:.,–—-')

/** A line without the id that it names, and without the brackets and dashes around that. Character by character: a pattern would look again and again. */
function without(text: string, start: number, end: number): string {
  let before = start
  let after = end
  while (before > 0 && AROUND_ID.has(text.charAt(before - 1))) before -= 1
  while (after < text.length && AROUND_ID.has(text.charAt(after))) after += 1
  return [text.slice(0, before), text.slice(after)].filter((part) => part !== '').join(' ')
}

// Most lines are of these letters alone, and much quicker to divide.
const ASCII = /^[\u0020-\u007E]*$/
const ASCII_WORD = /[a-z0-9]+/g
// Scripts that put no space between words are compared sign by sign.
const WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]]+/gv

function wordsOf(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_WORD) ?? []
  return text.normalize('NFKC').toLowerCase().match(WORD) ?? []
}

/** A text with its case, space and punctuation folded. */
export function foldText(text: string): string {
  return folded(text, wordsOf(text))
}

/** A text by its words, and so with its case, space and punctuation folded; one that has no words stays as it is. */
function folded(text: string, words: readonly string[]): string {
  return words.length === 0 ? text.trim() : words.join(' ')
}

/** A criterion is cut in the form: its id says which is meant, the text is there to be recognised. */
const CRITERION_SHOWN_MAX = 200

/**
 * The form of a check-in for this revision, filled as far as it can be. Every line says "unclear", so that a form sent back as it is
 * claims nothing. [D2] Check-in Convention
 *
 * @param shownMax how much of each criterion is shown
 */
export function renderCheckInTemplate(task: Pick<Task, 'id' | 'revision' | 'criteria'>, shownMax = CRITERION_SHOWN_MAX): string {
  const lines = task.criteria.map(({ id, text }) => `  - ❓ ${shortened(unbracketed(headerText(text)), shownMax)} (${id})`)
  return [
    `<npl-block type="check-in" task-id="${task.id}" revision="${task.revision}">`,
    ...(lines.length === 0 ? [] : ['acceptance_criteria:', ...lines]),
    'status: in_progress',
    'next_steps:',
    '  -',
    '</npl-block>',
  ].join('\n')
}

/** Of a form that has to be short: what its criteria take together, and what the id and the marks of one take. */
const CRITERIA_LENGTH_MAX = 3_500
const CRITERION_MARKS_LENGTH = 50

/** The same where the whole text has to be short: of many criteria less is shown, but each with its id. */
export function renderShortCheckInTemplate(task: Pick<Task, 'id' | 'revision' | 'criteria'>): string {
  const share = Math.floor(CRITERIA_LENGTH_MAX / Math.max(1, task.criteria.length)) - CRITERION_MARKS_LENGTH
  return renderCheckInTemplate(task, Math.max(0, Math.min(CRITERION_SHOWN_MAX, share)))
}

const LINES_QUOTED_MAX = 3
const LINE_QUOTED_LENGTH_MAX = 100

/**
 * Why a check-in cannot mean what it says, or null. Single lines about other things are no problem.
 *
 * @param said the revision that it names, the current one, its lines about criteria, and how many criteria there are and have been matched
 */
export function checkInProblem(said: {
  named: number | null
  now: number
  lines: readonly Pick<BlockItem, 'text'>[]
  criteria: number
  matched: number
}): string | null {
  const { named, now, lines, criteria, matched } = said
  if (named !== null && named > now) return `The check-in names revision ${named}, and the task is at revision ${now}.`
  if (lines.length === 0 || criteria === 0 || matched > 0) return null
  const quoted = lines.slice(0, LINES_QUOTED_MAX).map(({ text }) => quotedName(shortened(text, LINE_QUOTED_LENGTH_MAX)))
  return `No line matches a criterion: ${quoted.join(', ')}. End each line with the id of its criterion.`
}

/** The same for the author of the check-in, with a fresh form. */
export function renderCheckInProblem(task: Pick<Task, 'id' | 'title' | 'revision' | 'criteria'>, problem: string): string {
  return [
    `[Check-in Problem: ${headerText(task.title)}]`,
    `Task id: ${task.id}`,
    `Reason: ${problem}`,
    `Report on revision ${task.revision} with this block, one line a criterion:`,
    renderShortCheckInTemplate(task),
  ].join('\n')
}
