import { cutToCodePoints, hasVisibleText } from '../core/text.ts'
import * as patterns from './result-patterns.ts'

/** What the text of a result comes to. */
export type ResultText =
  | { kind: 'result' }
  /** Nothing visible, or nothing but punctuation. */
  | { kind: 'empty' }
  /** Every sentence announces or acknowledges work, and none reports any. */
  | { kind: 'intentions' }
  /** It asks for something, and reports nothing. */
  | { kind: 'question'; question: string }

/** Longer texts count as results: the evaluation judges what they contain. It keeps the time of this check to some milliseconds. */
const CLASSIFIED_LENGTH_MAX = 4_000
const SENTENCE_LENGTH_MAX = 1_000
const QUESTION_POINTS_MAX = 2_000

/** One sentence reports, or it has one of the other roles. A text is a result as soon as one sentence reports something. */
type Role = 'report' | 'intention' | 'courtesy' | 'question' | 'lack' | 'choices' | 'label' | 'yes_or_no' | 'opening'

interface Sentence {
  text: string
  role: Role
}

/**
 * Decides whether the text of a result reports something. The whole text decides, never a single word: one sentence that reports something
 * makes it a result, whatever is announced or asked around it. Intentions and acknowledgements are recognised in English, questions in
 * any language. The table of real endings beside the test says what is which. Takes linear time.
 */
export function classifyResult(text: string): ResultText {
  if (!hasVisibleText(text)) return { kind: 'empty' }
  if (text.length > CLASSIFIED_LENGTH_MAX) return { kind: 'result' }
  const sentences: Sentence[] = []
  for (const sentence of readSentences(text)) {
    if (sentence.role === 'report') return { kind: 'result' }
    sentences.push(sentence)
  }
  return decide(sentences)
}

function decide(sentences: readonly Sentence[]): ResultText {
  if (sentences.length === 0) return { kind: 'empty' }
  const has = (role: Role) => sentences.some((sentence) => sentence.role === role)
  const last = sentences.findLast(({ role }) => role !== 'courtesy' && role !== 'label')
  const questions = sentences.filter(({ role }) => role === 'question').map((sentence) => sentence.text)
  if (last?.role === 'question') {
    const isChoosing = patterns.CHOOSING.test(last.text) || !patterns.QUESTION.test(last.text)
    const isAnswered = (has('choices') || has('yes_or_no')) && !isChoosing && !has('lack')
    return isAnswered || isQuiz(sentences)
      ? { kind: 'result' }
      : { kind: 'question', question: cutToCodePoints([...new Set(questions)].join(' '), QUESTION_POINTS_MAX) }
  }
  if (has('lack') || has('choices')) return { kind: 'result' }
  return has('intention') || has('courtesy') || has('opening') ? { kind: 'intentions' } : { kind: 'result' }
}

/** Several questions that are asked of no one in particular are content. */
function isQuiz(sentences: readonly Sentence[]): boolean {
  // Clauses of one sentence share its text.
  const questions = new Set(sentences.flatMap(({ role, text }) => (role === 'question' ? [text] : [])))
  return questions.size > 1 && [...questions].every((text) => patterns.QUESTION.test(text) && !patterns.PERSONAL.test(text) && /\s\S+\s\S+\s/u.test(text))
}

const LINE_END = /\r\n|[\n\r\u2028\u2029]/u
const FENCE = /^\s*(?:```|~~~)\s*(.*)$/u
const HEADING = /^\s*#{1,6}\s/u
/** List markers, quotes, headings and open check boxes. A ticked box reports something. */
const MARKERS = /^(?:\s|>|[-*•+]\s|\d{1,3}[.)]\s|#{1,6}\s|\[ \]\s)+/u
const SENTENCE_END = /(?<=[.!?…][\])"'”»]?)\s+|(?<=[。！？])/u
const CLAUSE_END = /(?<=[:;])\s+|\s+[–—-]\s+|—/u
const ABBREVIATION = /\b(e\.g|i\.e|etc|vs|cf)\.(?=[\s,])/giu

/** The sentences of a text with their roles, as far as they are asked for. */
function* readSentences(text: string): Generator<Sentence> {
  let announcement: string | null = null
  let fence: { isCommand: boolean } | null = null
  const visible = text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}\uFFFD]/gu, '').replace(/[‘’ʼ＇]/gu, "'")
  for (const line of visible.split(LINE_END)) {
    if (line === '') continue
    const opening: RegExpExecArray | null = FENCE.exec(line)
    if (opening !== null) {
      const isCommand = announcement !== null && patterns.RUNS_COMMAND.test(announcement) && patterns.SHELL.test(opening[1] ?? '')
      fence = fence === null ? { isCommand } : null
      continue
    }
    if (fence !== null) {
      if (hasVisibleText(line)) yield { text: line, role: fence.isCommand ? 'intention' : 'report' }
      continue
    }
    const content = withoutMarkup(line)
    if (isPlaceholder(content)) {
      yield { text: content, role: 'intention' }
      continue
    }
    for (const sentence of content.replace(ABBREVIATION, '$1').split(SENTENCE_END)) {
      for (const clause of sentence.split(CLAUSE_END)) {
        const role = roleOf(clause.trim(), announcement)
        if (role === null) continue
        yield { text: role === 'question' ? sentence.trim() : clause.trim(), role: role === 'report' && HEADING.test(line) ? 'label' : role }
        if (role === 'intention' && /[:：]$/u.test(clause.trim())) announcement = patterns.PRESENTS.test(clause) ? null : clause
      }
    }
  }
}

function withoutMarkup(line: string): string {
  const content = line.replace(MARKERS, '').trim()
  return /[\p{L}\p{N}]/u.test(content) ? content.replace(/[*`]+|__/gu, '').trim() : content
}

function isPlaceholder(line: string): boolean {
  return (patterns.TODO.test(line) || patterns.TODO_STEP.test(line)) && !patterns.TODO_FINDING.test(line)
}

/** Punctuation and markup that say nothing by themselves. */
const SCAFFOLDING = /^[\s.…?!,;:'"“”‘’´·•–—-]*$|^[\s*_~#=|`-]*$/u
const ACKNOWLEDGING_EMOJI = /^[\s👍👌🙏🤝🫡\p{Emoji_Modifier}]+$/u

/** @returns null for what says nothing by itself */
function roleOf(sentence: string, announcement: string | null): Role | null {
  if (sentence.length > SENTENCE_LENGTH_MAX) return 'report'
  if (SCAFFOLDING.test(sentence)) return null
  if (ACKNOWLEDGING_EMOJI.test(sentence)) return 'courtesy'
  if (patterns.ANSWERING_WORD.test(sentence.replace(/[^\p{L}\p{N}]+$/u, ''))) return 'label'
  const said = withoutAcknowledgements(sentence)
  const plain = said.replace(/[^\p{L}\p{N}:)\]]+$/u, '')
  if (said === '') return 'courtesy'
  if (plain === '') return 'label'
  if (patterns.QUESTION.test(said)) return patterns.CODE.test(said) ? 'report' : 'question'
  if (patterns.REQUEST.some((pattern) => pattern.test(said))) return 'question'
  if (isIntention(said, plain)) return 'intention'
  if (announcement !== null && patterns.ANNOUNCED_STEP.test(said)) return 'intention'
  if (patterns.COURTESY.some((pattern) => pattern.test(plain)) && !patterns.ACHIEVED.test(said)) return 'courtesy'
  if (patterns.YES_OR_NO.test(plain)) return 'yes_or_no'
  if (patterns.OPENING.test(plain)) return 'opening'
  if (patterns.LACK.test(said)) return patterns.FOUND_NONE.test(said) ? 'choices' : 'lack'
  if (patterns.CHOICES.test(said)) return 'choices'
  return /[:：]$/u.test(said) && said.split(/\s+/u).length <= 6 ? 'label' : 'report'
}

function withoutAcknowledgements(sentence: string): string {
  let said = sentence
  for (let nth = 0; nth < 4; nth += 1) {
    const rest = said.replace(patterns.ACKNOWLEDGEMENT, '')
    if (rest === said) break
    said = rest
  }
  return said
}

function isIntention(said: string, plain: string): boolean {
  if (patterns.PENDING.some((pattern) => pattern.test(plain))) return true
  if (patterns.INTENTION.test(said)) return !/,\s+(?:i|we)\s+(?:have\s+)?\w+ed\b/iu.test(said)
  if (patterns.ONGOING.test(said) || patterns.STARTED.test(said)) return !patterns.ACHIEVED.test(said)
  return patterns.ELIDED.test(said) && !patterns.FINITE_VERB.test(plain.replace(/,\s+(?:please|will|back|one|hold|stand|then)\b.*$/iu, ''))
}
