import { type BlockItem, readItem } from '../core/npl-blocks.ts'
import { cutToCodePoints } from '../core/text.ts'
import type { CheckIn, CriterionReport } from '../tasks/check-in.ts'
import type { RequiredOutput } from '../tasks/output-schema.ts'
import type { Criterion } from '../tasks/task.ts'

export const VERDICTS = ['met', 'unmet', 'unclear', 'not_addressed'] as const
export type Verdict = (typeof VERDICTS)[number]

/**
 * How a verdict was come to: by what the agent says of itself, by holding an output against its schema, by a program that was executed, by a
 * model that read it, or by a person.
 */
export const VERDICT_METHODS = ['check_in', 'schema', 'check', 'judge', 'person'] as const
export type VerdictMethod = (typeof VERDICT_METHODS)[number]

/** A criterion of the revision that is judged. A strict constraint is a required one of source `constraint`. */
export type EvaluatedCriterion = Omit<Criterion, 'state'>

export interface CriterionVerdict extends EvaluatedCriterion {
  verdict: Verdict
  /** What it rests on: words of the agent, of the output, or of the validator. */
  evidence: string | null
  method: VerdictMethod
}

export interface SchemaVerdict {
  criterionId: string
  verdict: 'met' | 'unmet'
  evidence: string | null
}

export interface JudgeVerdict {
  criterionId: string
  verdict: 'met' | 'unmet' | 'unclear'
  /** A span of the output that shows it, to the letter; may be empty, except for `met`. */
  quote: string
}

/** What there is to go by for one criterion. */
export interface Grounds {
  schema: readonly SchemaVerdict[]
  judge: readonly JudgeVerdict[]
  report: CriterionReport | null
}

/** Whether a required criterion has no verdict but that of the agent itself. */
export function restsOnSelfReport(verdicts: readonly Pick<CriterionVerdict, 'required' | 'method'>[]): boolean {
  return verdicts.some(({ required, method }) => required && method === 'check_in')
}

/** Of several verdicts of a judge on one criterion, the one that holds an approval back counts. */
const JUDGE_ORDER = { unmet: 0, unclear: 1, met: 2 } as const

const EVIDENCE_LENGTH_MAX = 500

/**
 * The verdict "unmet" wins: a judge can be persuaded to praise, and an agent that admits a failure has no reason to lie. Else the one
 * counts that is hardest to talk into anything: a schema, then a judge, then the agent itself, whose word on a constraint proves nothing.
 * A criterion with a check is decided by that alone (`withChecks`), and is unclear until then.
 */
export function verdictOn(criterion: EvaluatedCriterion, { schema, judge, report }: Grounds): CriterionVerdict {
  const { id, text, source, required } = criterion
  if (criterion.check !== undefined) return checkVerdict(criterion, 'unclear', `The check "${criterion.check}" decides it, and has not run.`)
  const candidates: Pick<CriterionVerdict, 'verdict' | 'evidence' | 'method'>[] = [
    ...schema.map(({ verdict, evidence }) => ({ verdict, evidence, method: 'schema' as const })),
    ...judge
      .toSorted((one, other) => JUDGE_ORDER[one.verdict] - JUDGE_ORDER[other.verdict])
      .map(({ verdict, quote }) => ({ verdict, evidence: quote, method: 'judge' as const })),
    ...(report === null ? [] : [{ verdict: selfReported(source, report.state), evidence: report.note, method: 'check_in' as const }]),
  ]
  const { verdict, evidence, method } = candidates.find((candidate) => candidate.verdict === 'unmet') ??
    candidates[0] ?? { verdict: source === 'constraint' ? 'unclear' : 'not_addressed', evidence: null, method: 'check_in' }
  return { id, text, source, required, verdict, evidence: evidence === null ? null : cutToCodePoints(evidence, EVIDENCE_LENGTH_MAX - 1) || null, method }
}

/** Of a check; of what a program printed, the last part counts. */
export function checkVerdict({ id, text, source, required, check }: EvaluatedCriterion, verdict: Verdict, evidence: string): CriterionVerdict {
  return { id, text, source, required, ...(check === undefined ? {} : { check }), verdict, evidence, method: 'check' }
}

/**
 * The same verdict, once a judge has been heard as well. A verdict that was given knows what it rests on, and what a judge is weighed
 * against is that alone: so it comes to what all grounds together would have come to at first.
 */
export function verdictWithJudge(given: CriterionVerdict, judge: readonly JudgeVerdict[]): CriterionVerdict {
  if (judge.length === 0) return given
  const heard = verdictOn(given, { schema: [], judge, report: null })
  const isChecked = given.method === 'schema'
  const isGivenStronger = heard.verdict === 'unmet' ? isChecked && given.verdict === 'unmet' : isChecked || given.verdict === 'unmet'
  return isGivenStronger ? given : heard
}

function selfReported(source: EvaluatedCriterion['source'], state: CriterionReport['state']): Verdict {
  return source === 'constraint' && state === 'met' ? 'unclear' : state
}

/** A longer one is no evidence but a copy. */
const QUOTE_LENGTH_MAX = 4_000
const SAYS_SOMETHING = /[\p{L}\p{N}]/u

/**
 * Divides what a judge says into what may count and what may not: a verdict counts only on a criterion that was asked about, and `met`
 * only with words of the text that the judge was shown, apart from white space, and never with a line of the agent's own ticks. An objection counts without words: what is missing
 * cannot be quoted. Words that the output does not say are no evidence and are removed.
 */
export function sortJudgeVerdicts(
  output: string,
  criteria: readonly EvaluatedCriterion[],
  verdicts: readonly JudgeVerdict[],
): { kept: JudgeVerdict[]; dropped: JudgeVerdict[] } {
  if (verdicts.length === 0) return { kept: [], dropped: [] }
  const known = new Set(criteria.map(({ id }) => id))
  const said = shownParts(output).parts.map(spaced)
  const proof = shownParts(withoutTicks(output)).parts.map(spaced)
  const kept: JudgeVerdict[] = []
  const dropped: JudgeVerdict[] = []
  for (const verdict of verdicts) {
    const quote = verdict.quote.length > QUOTE_LENGTH_MAX ? '' : spaced(verdict.quote)
    const isQuoted = SAYS_SOMETHING.test(quote) && (verdict.verdict === 'met' ? proof : said).some((part) => part.includes(quote))
    if (!known.has(verdict.criterionId) || (verdict.verdict === 'met' && !isQuoted)) dropped.push(verdict)
    else kept.push(isQuoted ? verdict : { ...verdict, quote: '' })
  }
  return { kept, dropped }
}

/** In characters. Of a longer output a judge is shown the first and the last half of so much. */
export const JUDGED_LENGTH_MAX = 60_000

/** What a judge is shown of an output: all of it, or its first and its last part. What looks like our marker is changed. */
export function shownParts(output: string): { parts: string[]; leftOut: number } {
  const text = output.replace(/<(?=\s*\/?\s*judged-output)/gi, '‹')
  if (text.length <= JUDGED_LENGTH_MAX) return { parts: [text], leftOut: 0 }
  const half = JUDGED_LENGTH_MAX / 2
  // A character may be cut in two, and half of one cannot be sent.
  return { parts: [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()], leftOut: text.length - JUDGED_LENGTH_MAX }
}

/** Tags that stand before a tick in its line: `<npl-ref>✅ done`. */
const LEADING_TAGS = /^(?:\s*<\/?npl-[^<>]{0,1000}>)+/i

/** An output without the lines that begin with ✅, wherever they stand. Its length stays: of a long one, both parts are those that were shown. */
function withoutTicks(output: string): string {
  if (!output.includes('✅')) return output
  return output.replace(/[^\r\n]+/g, (line) => (beginsWithTick(line) ? NOTHING.repeat(line.length) : line))
}

function beginsWithTick(line: string): boolean {
  return line.includes('✅') && readItem(line.replace(LEADING_TAGS, '')).category === 'verified'
}

/** No stored text has it. */
const NOTHING = '\0'

/** A text in one form of its letters, with one space for any run of white space. */
function spaced(text: string): string {
  return (
    text
      .normalize('NFC')
      // By itself, because a pattern takes long over a text of millions of lines.
      .replaceAll('\n', ' ')
      .replace(/\s{2,}|[^\S ]/g, ' ')
      .trim()
  )
}

/** An earlier check-in: its reports on the criteria of its revision, and its unmatched lines. */
export interface EarlierCheckIn {
  reports: readonly CriterionReport[]
  unmatched: readonly BlockItem[]
  criteria: readonly Pick<EvaluatedCriterion, 'id' | 'text'>[]
}

/**
 * A check-in that was taken in before as lines again, for an evaluation by the criteria of a revision. A criterion that says something
 * else there than the one that was spoken of has not been spoken of.
 */
export function earlierLines({ reports, unmatched, criteria: spokenOf }: EarlierCheckIn, criteria: EarlierCheckIn['criteria']): Pick<CheckIn, 'lines'> {
  const texts = new Map(spokenOf.map(({ id, text }) => [id, text]))
  const kept = new Set(criteria.filter(({ id, text }) => texts.get(id) === text).map(({ id }) => id))
  const lines = reports
    .filter(({ criterionId }) => kept.has(criterionId))
    .map(({ criterionId, category, note }) => ({ emoji: null, category, text: `${note} (${criterionId})` }))
  return { lines: [...unmatched, ...lines] }
}

const PREFIX = 'output:'

/** What the outputs that were asked for add to an evaluation. */
interface OutputChecks {
  criteria: EvaluatedCriterion[]
  schemaVerdicts: SchemaVerdict[]
}

/**
 * Required outputs that were accepted, as criteria that are met: so that an evaluation rests on more than the word of the agent. Nothing
 * is completed without them, so there are none that are unmet.
 */
export function outputChecks(accepted: readonly RequiredOutput[]): OutputChecks {
  return {
    criteria: accepted.map(({ name }) => ({
      id: `${PREFIX}${name}`,
      text: `Required output "${name}" is delivered and fits its schema`,
      source: 'acceptance',
      required: true,
    })),
    schemaVerdicts: accepted.map(({ name, schema }) => ({
      criterionId: `${PREFIX}${name}`,
      verdict: 'met',
      evidence: schema === null ? 'It is delivered.' : 'It is delivered, and fits its JSON Schema.',
    })),
  }
}

/** Whether a validator has decided the criterion. Check-ins and judges then have no influence on it. */
export function isOutputCriterion({ id }: Pick<EvaluatedCriterion, 'id'>): boolean {
  return id.startsWith(PREFIX)
}

/** Whether a model can be asked about a criterion: no validator and no program decides it. */
export function isForJudge(criterion: Pick<EvaluatedCriterion, 'id' | 'check'>): boolean {
  return !isOutputCriterion(criterion) && criterion.check === undefined
}

/** What a task was completed with, as one text that can be judged: the summary, then each output under its name, in their order. */
export function completionText(summary: string | null, outputs: Record<string, unknown>): string {
  const parts = Object.entries(outputs).map(([name, value]) => `${name}:\n${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}`)
  return [...(summary === null ? [] : [summary]), ...parts].join('\n\n')
}
