import { isChecked } from '../checks/check-run.ts'
import { type BlockItem, type EmojiCategory, findBlocks, type NplBlock } from '../core/npl-blocks.ts'
import { cutToCodePoints } from '../core/text.ts'
import { CHECK_IN_LINES_MAX, type CheckIn, type CriterionReport, foldText, matchLines, readCheckIn } from '../tasks/check-in.ts'
import {
  type CriterionVerdict,
  type EvaluatedCriterion,
  isOutputCriterion,
  type JudgeVerdict,
  type SchemaVerdict,
  sortJudgeVerdicts,
  verdictOn,
} from './criteria.ts'
import {
  type CategoryCounts,
  type Mark,
  marksOfItems,
  type Reflection,
  readReflection,
  scoreOfMarks,
  WEIGHTED_CATEGORIES,
  type WeightedCategory,
  type Weights,
  weightOf,
} from './reflection.ts'
import { DEFAULT_EVALUATION_RULES, type EvaluationRules, type Gate, type Trust } from './settings.ts'

export const RECOMMENDATIONS = ['approve', 'review', 'request_revision'] as const
export type Recommendation = (typeof RECOMMENDATIONS)[number]

export const EVALUATION_WARNING_CODES = ['negative_item', 'unmet_criterion', 'gate', 'self_report_only', 'unmatched'] as const
export type EvaluationWarningCode = (typeof EVALUATION_WARNING_CODES)[number]

export interface EvaluationWarning {
  code: EvaluationWarningCode
  message: string
  /** Of the criterion that it is about, if it is about one. */
  criterionId?: string
}

/**
 * Which rule evaluations are made by now; each is stored with its own. 1: the score was the mean of all items and lines, and a required criterion
 * without a line held nothing back. 2: each required criterion counts, and an approval needs all of them met.
 */
export const RULE_VERSION = 2

/** What each dimension is made of. 📚 docs weighs nothing, and is named for what it would be. */
export const DIMENSIONS = {
  correctness: ['verified', 'bug', 'pitfall', 'edge_case'],
  security: ['security'],
  style: ['improvement', 'refactor'],
  completeness: ['todo', 'question', 'docs'],
} as const satisfies Record<string, readonly EmojiCategory[]>

export type Dimension = keyof typeof DIMENSIONS

/** Our judgement of an output, where a reflection is the agent's own. */
export interface Evaluation {
  /** From 0 to 1; null where the output says nothing that counts. */
  score: number | null
  recommendation: Recommendation
  warnings: EvaluationWarning[]
  reflection: Reflection
  dimensions: Record<Dimension, number | null>
  /** One a criterion, in the order of the criteria. */
  criteria: CriterionVerdict[]
  /** What the score is made of; only with criteria that checks decide, whose verdicts are added later. */
  scored?: { marks: Mark[]; weights: Weights }
  /** What keeps it from being approved. */
  closedGates: Gate[]
  /** What an approval of it needs to complete a task without a person. */
  trust: Trust
  /** The revision whose criteria it was held against, so that "missed the bar" and "the bar moved" differ. */
  criteriaRevision: number | null
}

export interface EvaluationInput {
  output: string
  criteria: readonly EvaluatedCriterion[]
  criteriaRevision: number | null
  /** Those of the output, where they have been looked for already. */
  blocks?: readonly NplBlock[]
  /** Check-ins of the output that name another task are left out. */
  taskId?: string | null
  /** What was said before the output, oldest first. Where both speak of a criterion, the output counts. */
  checkIns?: readonly Pick<CheckIn, 'lines'>[]
  schemaVerdicts?: readonly SchemaVerdict[]
  judgeVerdicts?: readonly JudgeVerdict[]
  /** Default `DEFAULT_EVALUATION_RULES`. */
  settings?: EvaluationRules
}

/**
 * Judges an output by what its blocks say, by the criteria it was given, and by what schemas and a judge say of these. With criteria, the
 * score is made of one mark for each required criterion, of the optional ones that are addressed, and of what a reflection says against the
 * work. Without criteria it is made of all items. A judge never changes it, and so cannot be talked into an approval. Takes time in
 * proportion to the output, never throws, and answers the same to the same. [D2]
 */
export function evaluate(input: EvaluationInput): Evaluation {
  const { criteria, settings: rules = DEFAULT_EVALUATION_RULES } = input
  const blocks = input.blocks ?? findBlocks(input.output)
  const reflection = readReflection(blocks, rules.weights)
  const asked = criteria.filter((criterion) => !isOutputCriterion(criterion))
  const { reports, unmatched, counted } = compare(newestLines(blocks, input), asked)
  const judge = sortJudgeVerdicts(input.output, asked, input.judgeVerdicts ?? [])
  const verdicts = giveVerdicts(criteria, reports, input.schemaVerdicts ?? [], judge.kept)
  const marks =
    asked.length === 0
      ? marksOfItems(countAll(reflection.categories, counted), rules.weights)
      : [...marksOfItems(negativeOf(reflection.categories, rules.weights), rules.weights), ...marksOf(asked, reports, rules.weights)]
  const score = scoreOfMarks(marks)
  const hasLock = (reflection.categories.security ?? 0) > 0 || [...counted, ...unmatched].some(({ category }) => category === 'security')
  const gates = closedGates(rules, verdicts, hasLock)
  return {
    score,
    recommendation: recommend(score, rules, gates.length > 0),
    warnings: [
      ...gateWarnings(gates),
      ...criterionWarnings(verdicts),
      ...itemWarnings(reflection, asked.length === 0 ? counted : [], rules),
      ...unmatchedWarnings(unmatched, judge.dropped),
      ...selfReportWarnings(verdicts, reports, score),
    ],
    reflection,
    dimensions: dimensionsOf(marks),
    criteria: verdicts,
    ...(criteria.some(isChecked) ? { scored: { marks, weights: rules.weights } } : {}),
    closedGates: gates,
    trust: rules.trust,
    criteriaRevision: input.criteriaRevision,
  }
}

/** The lines of all check-ins about the task, oldest first; of too many, the newest. */
function newestLines(blocks: readonly NplBlock[], { taskId = null, checkIns = [] }: EvaluationInput): BlockItem[] {
  const newestFirst: (readonly BlockItem[])[] = []
  let room = CHECK_IN_LINES_MAX
  const take = (lines: readonly BlockItem[]): void => {
    if (lines.length === 0) return
    newestFirst.push(lines.slice(-room))
    room -= Math.min(room, lines.length)
  }
  for (let index = blocks.length - 1; index >= 0 && room > 0; index -= 1) {
    const block = blocks[index] as NplBlock
    if (block.kind === 'check_in' && isAbout(block, taskId)) take(readCheckIn(block).lines)
  }
  for (let index = checkIns.length - 1; index >= 0 && room > 0; index -= 1) take(checkIns[index]?.lines ?? [])
  return newestFirst.reverse().flat()
}

function isAbout({ attributes }: NplBlock, taskId: string | null): boolean {
  const named = attributes['task-id']?.trim() ?? ''
  return taskId === null || named === '' || named.toLowerCase() === taskId.toLowerCase()
}

interface Compared {
  reports: CriterionReport[]
  unmatched: BlockItem[]
  /** The newest line of each criterion, or of each text where there are no criteria. */
  counted: Pick<BlockItem, 'emoji' | 'category' | 'text'>[]
}

const FOLDED_LENGTH_MAX = 4_000

/** What the lines say of the criteria. Where there are none, the lines are what there is: each stands for a criterion of its own. */
function compare(lines: readonly BlockItem[], criteria: readonly EvaluatedCriterion[]): Compared {
  if (criteria.length > 0) {
    const { reports, unmatched } = matchLines(lines, criteria)
    return { reports, unmatched, counted: reports.map(({ category, note }) => ({ emoji: null, category, text: note })) }
  }
  const newest = new Map<string, BlockItem>()
  for (const line of lines) newest.set(foldText(line.text.slice(0, FOLDED_LENGTH_MAX)), line)
  return { reports: [], unmatched: [], counted: [...newest.values()] }
}

function giveVerdicts(
  criteria: readonly EvaluatedCriterion[],
  reports: readonly CriterionReport[],
  schemaVerdicts: readonly SchemaVerdict[],
  judgeVerdicts: readonly JudgeVerdict[],
): CriterionVerdict[] {
  const reported = new Map(reports.map((report) => [report.criterionId, report]))
  const checked = Map.groupBy(schemaVerdicts, ({ criterionId }) => criterionId)
  const judged = Map.groupBy(judgeVerdicts, ({ criterionId }) => criterionId)
  return criteria.map((criterion) => {
    const { id } = criterion
    return verdictOn(criterion, { schema: checked.get(id) ?? [], judge: judged.get(id) ?? [], report: reported.get(id) ?? null })
  })
}

/**
 * One mark for each required criterion, and for each optional one that is addressed, also where its weight is 0. Silence is the mark of an open
 * question, so that it never pays more than saying so; whatever else is not met weighs more against the work than that.
 */
function marksOf(criteria: readonly EvaluatedCriterion[], reports: readonly CriterionReport[], weights: Weights): Mark[] {
  const reported = new Map(reports.map((report) => [report.criterionId, report]))
  const question: Mark = { category: 'question', weight: weights.question, count: 1 }
  return criteria.flatMap(({ id, required, check }): Mark[] => {
    // What the agent says of it does not count.
    if (check !== undefined) return []
    const report = reported.get(id)
    if (report === undefined) return required ? [question] : []
    if (report.state === 'met') return [{ category: 'verified', weight: weights.verified, count: 1 }]
    return [report.state === 'unmet' ? unmetMark(report.category, weights) : question]
  })
}

/** The mark of an unmet criterion. */
export function unmetMark(category: CriterionReport['category'], weights: Weights): Mark {
  return { category: unmetCategory(category), weight: unmetWeight(category, weights), count: 1 }
}

function unmetCategory(category: CriterionReport['category']): WeightedCategory {
  return category === null || category === 'docs' ? 'question' : category
}

/** The weight of an unmet criterion: that of its mark, or the lightest one below an open question (📝 and 🔄 weigh no more than silence). */
function unmetWeight(category: CriterionReport['category'], weights: Weights): number {
  const own = weightOf(category, weights)
  if (own < weights.question) return own
  const below = Object.values(weights).filter((weight) => weight < weights.question)
  return below.length === 0 ? weights.question : Math.max(...below)
}

export function dimensionsOf(marks: readonly Mark[]): Record<Dimension, number | null> {
  const scoreIn = (categories: readonly EmojiCategory[]) => scoreOfMarks(marks.filter(({ category }) => categories.includes(category)))
  return {
    correctness: scoreIn(DIMENSIONS.correctness),
    security: scoreIn(DIMENSIONS.security),
    style: scoreIn(DIMENSIONS.style),
    completeness: scoreIn(DIMENSIONS.completeness),
  }
}

/** Praise of the own work says nothing about criteria; what speaks against it still counts. */
function negativeOf(categories: CategoryCounts, weights: Weights): CategoryCounts {
  return Object.fromEntries(WEIGHTED_CATEGORIES.filter((category) => weights[category] < 0).map((category) => [category, categories[category] ?? 0]))
}

function countAll(categories: CategoryCounts, lines: readonly Pick<BlockItem, 'category'>[]): CategoryCounts {
  const counts = { ...categories }
  for (const { category } of lines) if (category !== null) counts[category] = (counts[category] ?? 0) + 1
  return counts
}

/** What a score comes to. */
export function recommend(score: number | null, rules: Pick<EvaluationRules, 'approveAt' | 'threshold'>, isGated: boolean): Recommendation {
  if (score === null) return 'review'
  if (score < rules.threshold) return 'request_revision'
  return score >= rules.approveAt && !isGated ? 'approve' : 'review'
}

const GATE_MESSAGES: Record<Gate, string> = {
  security: 'A security item (🔒) was reported: review at best, whatever the score.',
  required_criteria: 'Not every required criterion is met: review at best, whatever the score.',
  strict_constraints: 'A strict constraint is violated, or not shown to be kept: review at best, whatever the score.',
}

/** Which gates the verdicts close, and a security item. */
export function closedGates({ gates }: Pick<EvaluationRules, 'gates'>, verdicts: readonly CriterionVerdict[], hasLock: boolean): Gate[] {
  const unmet = verdicts.filter(({ verdict, required }) => required && verdict !== 'met')
  const closed: Record<Gate, boolean> = {
    security: hasLock,
    required_criteria: unmet.some(({ source }) => source !== 'constraint'),
    strict_constraints: unmet.some(({ source }) => source === 'constraint'),
  }
  return (Object.keys(closed) as Gate[]).filter((gate) => gates[gate] && closed[gate])
}

function gateWarnings(gates: readonly Gate[]): EvaluationWarning[] {
  return gates.map((gate) => ({ code: 'gate', message: GATE_MESSAGES[gate] }))
}

const QUOTED_LENGTH_MAX = 200

function criterionWarnings(verdicts: readonly CriterionVerdict[]): EvaluationWarning[] {
  return verdicts.flatMap(({ id, text, source, required, verdict, method, evidence }): EvaluationWarning[] => {
    const kind = `${required ? '' : source === 'constraint' ? 'advisory ' : 'optional '}${source === 'constraint' ? 'constraint' : 'criterion'}`
    const about = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} "${quoted(text)}"`
    const warning = (message: string): EvaluationWarning => ({ code: 'unmet_criterion', message, criterionId: id })
    if (verdict === 'unmet') return [warning(`${about} is ${source === 'constraint' ? 'violated' : 'unmet'} (${method}).`)]
    if (verdict === 'unclear' && method === 'check') return [warning(`${about} is not proved. ${quoted(evidence ?? '')}`)]
    if (verdict === 'unclear' && method === 'judge') return [warning(`${about} is unclear to the judge.`)]
    if (verdict === 'unclear' && required) return [warning(`${about} is ${source === 'constraint' ? 'not shown to be kept' : 'unclear'}.`)]
    return verdict === 'not_addressed' && required ? [warning(`${about} is not addressed.`)] : []
  })
}

function itemWarnings(reflection: Reflection, lines: Compared['counted'], { weights }: EvaluationRules): EvaluationWarning[] {
  return [...reflection.items, ...lines]
    .filter(({ category }) => weightOf(category, weights) < 0)
    .slice(0, LISTED_MAX)
    .map(({ emoji, category, text }) => ({ code: 'negative_item', message: `${emoji} ${category}: ${quoted(text)}` }))
}

/** A text may have thousands of lines about nothing. */
const LISTED_MAX = 100

function unmatchedWarnings(lines: readonly BlockItem[], dropped: readonly JudgeVerdict[]): EvaluationWarning[] {
  const listed = lines.slice(0, LISTED_MAX).map(({ emoji, text }) => {
    const line = emoji === null ? text : `${emoji} ${text}`
    return { code: 'unmatched' as const, message: `This line is about no criterion, or not clearly about one: ${quoted(line)}` }
  })
  const more = lines.length - listed.length
  return [...listed, ...(more > 0 ? [{ code: 'unmatched' as const, message: `${more} more lines are about no criterion.` }] : []), ...droppedWarnings(dropped)]
}

/** What a judge says that may not count. */
function droppedWarnings(dropped: readonly JudgeVerdict[]): EvaluationWarning[] {
  return dropped.slice(0, LISTED_MAX).map(({ criterionId, quote }) => ({
    code: 'unmatched',
    message: `A verdict of the judge does not count: the output does not say "${quoted(quote)}", or the criterion is not one of these.`,
    criterionId: quoted(criterionId),
  }))
}

/** The warnings of an evaluation whose verdicts have changed. */
export function warnAgain(
  given: Pick<Evaluation, 'warnings'>,
  { criteria, closedGates: closed, dropped }: Pick<Evaluation, 'criteria' | 'closedGates'> & { dropped: readonly JudgeVerdict[] },
): EvaluationWarning[] {
  const selfReported = new Set(criteria.filter(({ method, verdict }) => method === 'check_in' && verdict !== 'unmet').map(({ id }) => id))
  const old = (code: EvaluationWarningCode) => given.warnings.filter((warning) => warning.code === code)
  return [
    ...gateWarnings(closed),
    ...criterionWarnings(criteria),
    ...old('negative_item'),
    ...old('unmatched'),
    ...droppedWarnings(dropped),
    ...old('self_report_only').filter(({ criterionId }) => criterionId === undefined || selfReported.has(criterionId)),
  ]
}

/** Which good verdicts rest on the word of the agent alone: that is no proof. */
function selfReportWarnings(verdicts: readonly CriterionVerdict[], reports: readonly CriterionReport[], score: number | null): EvaluationWarning[] {
  if (verdicts.length === 0) {
    return score === null ? [] : [{ code: 'self_report_only', message: 'The score rests on what the agent says of its own work; there were no criteria.' }]
  }
  const claimed = new Set(reports.filter(({ state }) => state === 'met').map(({ criterionId }) => criterionId))
  return verdicts
    .filter(({ id, verdict, method }) => method === 'check_in' && verdict !== 'unmet' && claimed.has(id))
    .map(({ id, text }) => ({ code: 'self_report_only', message: `Only the agent itself says that this is met: "${quoted(text)}".`, criterionId: id }))
}

function quoted(text: string): string {
  return cutToCodePoints(text, QUOTED_LENGTH_MAX)
}
