import { DomainError, type FieldProblem } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { processorMs } from '../core/limited.ts'
import { PRIORITIES, type Priority, readPriority } from '../core/priority.ts'
import { codePointLength, unstorableJsonReason } from '../core/text.ts'
import { type ContextFields, cleanContext, type GivenCriterion, toCriterion } from './brief-context.ts'
import { BRIEF_LIMITS, BriefReport, isRecord, readChoice, readItems, readText } from './brief-report.ts'
import { isVague } from './brief-wording.ts'
import type { CleanCriterion } from './criteria.ts'
import { checkOutputSchema, type RequiredOutput } from './output-schema.ts'
import { type BriefWarning, type FileCheck, REVIEW_MODES, type ReviewMode, type TaskContext } from './task.ts'

/** A brief as it comes over the wire. What is null or left out is absent; what is required is said by `cleanBrief`, not by the type. */
export interface BriefFields extends ContextFields {
  title?: string | null | undefined
  instructions?: string | null | undefined
  description?: string | null | undefined
  priority?: string | null | undefined
  acceptance_criteria?: readonly GivenCriterion[] | null | undefined
  required_outputs?:
    | readonly (string | { name: string; description?: string | null | undefined; schema?: Record<string, unknown> | null | undefined })[]
    | null
    | undefined
  tsgs?: readonly string[] | null | undefined
  parent_session_id?: string | null | undefined
  client_cwd?: string | null | undefined
  depends_on?: readonly string[] | null | undefined
  review?: ReviewMode | null | undefined
  budget?: { max_tokens?: number | null | undefined; max_cost_usd?: number | null | undefined } | null | undefined
  metadata?: Record<string, unknown> | null | undefined
}

/** A brief after cleaning: trimmed, without blanks and repetitions, every default in its place. */
export interface CleanBrief {
  title: string
  instructions: string
  description: string | null
  priority: Priority
  /** Of acceptance, then success, then constraint. */
  criteria: CleanCriterion[]
  requiredOutputs: RequiredOutput[]
  /** Null where none of its parts was given. */
  context: TaskContext | null
  tsgIds: string[]
  dependsOn: string[]
  review: ReviewMode
  parentSessionId: string | null
  clientCwd: string | null
  budgetMaxTokens: number | null
  budgetMaxCostMicros: number | null
  metadata: Record<string, unknown>
}

/** All output schemas of one brief together may take this long of a processor to compile; see `checkOutputSchema` for why any limit is needed. */
const SCHEMAS_MS_MAX = 1_000

const TSG_ID = /^[a-z0-9][a-z0-9-]{0,63}$/
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/
const SPACE = /\s/u
const UNPRINTABLE = /[\p{Cc}\u2028\u2029]/u

/**
 * Cleans and judges a brief. Everything that is wrong comes at once, as problems; what could be better, as warnings. Never throws,
 * whatever it is given; what it returns as cleaned is meant to be used only where there are no problems. [EN] 4 and 5
 *
 * Problems are numbered as the caller's lists are, warnings as the cleaned ones, which are those that are kept.
 *
 * @param checks the names of the configured checks
 */
export function cleanBrief(
  input: BriefFields,
  at: Date,
  checks: readonly string[] = [],
): { cleaned: CleanBrief; problems: FieldProblem[]; warnings: BriefWarning[] } {
  const report = new BriefReport(at, checks)
  if (!isRecord(input)) report.problem('', 'body', 'must be an object', input)
  const given: BriefFields = isRecord(input) ? input : {}
  const head = cleanHead(report, given)
  const acceptance = readItems(report, 'acceptance_criteria', given.acceptance_criteria, BRIEF_LIMITS.acceptanceCriteria, BRIEF_LIMITS.acceptanceCriterion)
  const requiredOutputs = cleanOutputs(report, given.required_outputs)
  const clientCwd = readText(report, 'client_cwd', given.client_cwd, 0, BRIEF_LIMITS.path) || null
  const { context, criteria } = cleanContext(report, given, clientCwd)
  const cleaned: CleanBrief = {
    ...head,
    criteria: [...acceptance.map((item) => toCriterion(item, 'acceptance', true)), ...criteria],
    requiredOutputs,
    context,
    tsgIds: cleanIds(report, 'tsgs', given.tsgs, BRIEF_LIMITS.tsgs, (id) => (TSG_ID.test(id) ? null : 'must be the id of a troubleshooting guide')),
    dependsOn: cleanIds(report, 'depends_on', given.depends_on, BRIEF_LIMITS.dependsOn, (id) => (isUuid(id) ? null : 'must be the id of a task, a UUID')),
    review: readChoice(report, 'review', given.review, REVIEW_MODES, 'none'),
    parentSessionId: cleanSessionId(report, given.parent_session_id),
    clientCwd,
    ...cleanBudget(report, given.budget),
    metadata: cleanMetadata(report, given.metadata),
  }
  return { cleaned: withWarnings(cleaned, report.warnings), problems: report.problems, warnings: report.warnings }
}

/** A brief whose context has the results of the file check. */
export function withFileChecks(brief: CleanBrief, checks: readonly FileCheck[]): CleanBrief {
  if (brief.context === null || checks.length === 0) return brief
  return { ...brief, context: { ...brief.context, file_checks: [...checks] } }
}

/** A brief whose context carries these warnings besides those it has, as their messages. For what only a look at the disk can tell. */
export function withWarnings(brief: CleanBrief, warnings: readonly BriefWarning[]): CleanBrief {
  if (brief.context === null || warnings.length === 0) return brief
  const messages = [...brief.context.validation_warnings, ...warnings.map(({ message }) => message)]
  return { ...brief, context: { ...brief.context, validation_warnings: messages } }
}

/** The refusal of a brief: every problem, and the warnings too. The words are those of [EN] 4.3. */
export function briefRefused(problems: readonly FieldProblem[], warnings: readonly BriefWarning[]): DomainError {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  const message = first === undefined ? 'Validation failed' : `Validation failed for '${first.field}': ${first.reason}${more}`
  return new DomainError('validation_failed', message, { errors: [...problems], warnings: [...warnings] })
}

/** A stored brief as the fields it could have been sent in: what a change is laid over before the whole is cleaned again. */
export function toBriefFields(brief: Omit<CleanBrief, 'tsgIds'> & { tsgIds?: readonly string[] }): BriefFields {
  const { context } = brief
  return {
    title: brief.title,
    instructions: brief.instructions,
    description: brief.description,
    priority: brief.priority,
    acceptance_criteria: brief.criteria.filter(({ source }) => source === 'acceptance').map(({ id, text }) => (id === undefined ? text : { id, text })),
    required_outputs: brief.requiredOutputs,
    tsgs: brief.tsgIds,
    parent_session_id: brief.parentSessionId,
    client_cwd: brief.clientCwd,
    background_context: context?.background_context,
    expected_deliverables: context?.expected_deliverables?.items,
    success_criteria: context?.success_criteria,
    constraints: context?.constraints,
    relevant_files: context?.relevant_files,
    related_documentation: context?.related_documentation,
    depends_on: brief.dependsOn,
    review: brief.review,
    budget: budgetField(brief),
    metadata: brief.metadata,
  }
}

/** Title, instructions and description: what is not given of the first two is taken from the third. */
function cleanHead(report: BriefReport, given: BriefFields): Pick<CleanBrief, 'title' | 'instructions' | 'description' | 'priority'> {
  const description = readText(report, 'description', given.description, BRIEF_LIMITS.descriptionMin, BRIEF_LIMITS.description)
  const title = readText(report, 'title', given.title, 1, BRIEF_LIMITS.title)
  const instructions = readText(report, 'instructions', given.instructions, 1, BRIEF_LIMITS.instructions)
  if (description === null && title === null && instructions === null) {
    report.problem('/description', 'description', 'is required, or a title and instructions instead', undefined)
  } else if (description === null) {
    if (title === null) report.problem('/title', 'title', 'is required, or a description instead of title and instructions', undefined)
    if (instructions === null) report.problem('/instructions', 'instructions', 'is required, or a description instead of title and instructions', undefined)
  }
  const text = instructions ?? description ?? ''
  // A description that is too short is a problem already.
  if (text !== '' && (instructions !== null || codePointLength(text) >= BRIEF_LIMITS.descriptionMin) && isVague(text)) {
    const field = instructions === null ? 'description' : 'instructions'
    const noun = instructions === null ? 'Description is' : 'Instructions are'
    report.warning(field, `${noun} vague: '${text}'. Say what to do, where, and how to tell that it is done.`)
  }
  return {
    title: title ?? titleOf(description ?? ''),
    instructions: text,
    description,
    priority: cleanPriority(report, given.priority),
  }
}

/** The first line of a description, cut at a word where it is too long for a title. */
export function titleOf(description: string): string {
  const points = [...(description.trim().split(LINE_BREAK, 1)[0] as string).trim()]
  if (points.length <= BRIEF_LIMITS.title) return points.join('')
  const isWhole = SPACE.test(points[BRIEF_LIMITS.title] as string)
  const cut = points.slice(0, BRIEF_LIMITS.title)
  const end = isWhole ? -1 : cut.findLastIndex((point) => SPACE.test(point))
  return (end <= 0 ? cut : cut.slice(0, end)).join('').trim()
}

function cleanPriority(report: BriefReport, value: unknown): Priority {
  if (value === undefined || value === null) return 'normal'
  const known = typeof value === 'string' ? readPriority(value) : null
  if (known === null) report.problem('/priority', 'priority', `must be one of ${PRIORITIES.join(', ')}`, value)
  return known ?? 'normal'
}

function cleanSessionId(report: BriefReport, value: unknown): string | null {
  const id = readText(report, 'parent_session_id', value, 1, BRIEF_LIMITS.sessionId)
  if (id !== null && UNPRINTABLE.test(id)) report.problem('/parent_session_id', 'parent_session_id', 'must not contain control characters', id)
  return id
}

function cleanIds(report: BriefReport, field: string, value: unknown, max: number, misfit: (id: string) => string | null): string[] {
  const items = readItems(report, field, value, max, BRIEF_LIMITS.sessionId)
  for (const { text, pointer, index } of items) {
    const reason = misfit(text)
    if (reason !== null) report.problem(pointer, `${field}[${index}]`, reason, text)
  }
  return [...new Set(items.map(({ text }) => text.toLowerCase()))]
}

/** A name, or a name with what it means and a schema. Names are unique. */
function cleanOutputs(report: BriefReport, value: unknown): RequiredOutput[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    report.problem('/required_outputs', 'required_outputs', 'must be a list', value)
    return []
  }
  if (value.length > BRIEF_LIMITS.requiredOutputs) {
    report.problem('/required_outputs', 'required_outputs', `maximum ${BRIEF_LIMITS.requiredOutputs} items allowed`, value)
  }
  const outputs: RequiredOutput[] = []
  const startedAt = processorMs()
  for (const [index, given] of value.slice(0, BRIEF_LIMITS.requiredOutputs).entries()) {
    const pointer = `/required_outputs/${index}`
    const field = `required_outputs[${index}]`
    if (typeof given !== 'string' && !isRecord(given)) {
      report.problem(pointer, field, 'must be a text or an object', given)
      continue
    }
    const parts: Record<string, unknown> = typeof given === 'string' ? { name: given } : given
    const at = typeof given === 'string' ? { pointer, field } : { pointer: `${pointer}/name`, field: `${field}.name` }
    const name = readText(report, at, parts.name ?? '', 1, BRIEF_LIMITS.outputName) ?? ''
    if (outputs.some((output) => output.name === name)) report.problem(at.pointer, at.field, 'is named a second time', name)
    const description =
      readText(report, { pointer: `${pointer}/description`, field: `${field}.description` }, parts.description, 0, BRIEF_LIMITS.outputDescription) || null
    const schema = cleanSchema(report, { pointer: `${pointer}/schema`, field: `${field}.schema` }, parts.schema, startedAt)
    outputs.push({ name, description, schema })
  }
  return outputs
}

function cleanSchema(report: BriefReport, at: { pointer: string; field: string }, value: unknown, startedAt: number): Record<string, unknown> | null {
  if (value === undefined || value === null) return null
  // No rule depends on this time limit. Ordinary briefs never reach it; a hostile one must not delay other requests.
  const isLate = processorMs() - startedAt > SCHEMAS_MS_MAX
  const reason = isLate ? 'takes too long to compile, together with those before it' : schemaReason(value)
  if (reason !== null) report.problem(at.pointer, at.field, reason, value)
  return isRecord(value) ? value : null
}

function schemaReason(value: unknown): string | null {
  try {
    // Its size bounds its depth, so nothing overflows when it is walked through afterwards.
    return checkOutputSchema(value) ?? unstorableJsonReason(value)
  } catch {
    return 'must be JSON, and not nested that deeply'
  }
}

/** The budget of a brief on the wire; null for none. */
export function budgetField({ budgetMaxTokens, budgetMaxCostMicros }: Pick<CleanBrief, 'budgetMaxTokens' | 'budgetMaxCostMicros'>): {
  max_tokens: number | null
  max_cost_usd: number | null
} | null {
  if (budgetMaxTokens === null && budgetMaxCostMicros === null) return null
  return { max_tokens: budgetMaxTokens, max_cost_usd: budgetMaxCostMicros === null ? null : budgetMaxCostMicros / 1_000_000 }
}

function cleanBudget(report: BriefReport, value: unknown): Pick<CleanBrief, 'budgetMaxTokens' | 'budgetMaxCostMicros'> {
  const none = { budgetMaxTokens: null, budgetMaxCostMicros: null }
  if (value === undefined || value === null) return none
  if (!isRecord(value)) {
    report.problem('/budget', 'budget', 'must be an object', value)
    return none
  }
  const read = (name: 'max_tokens' | 'max_cost_usd', max: number, isAmount: (amount: unknown) => amount is number) => {
    const amount = value[name]
    if (amount === undefined || amount === null) return null
    if (isAmount(amount) && amount > 0 && amount <= max) return amount
    report.problem(`/budget/${name}`, `budget.${name}`, `must be ${name === 'max_tokens' ? 'a whole number' : 'a number'} from above 0 to ${max}`, amount)
    return null
  }
  const tokens = read('max_tokens', BRIEF_LIMITS.budgetTokens, (amount): amount is number => Number.isSafeInteger(amount))
  const costUsd = read('max_cost_usd', BRIEF_LIMITS.budgetCostUsd, (amount): amount is number => Number.isFinite(amount))
  return { budgetMaxTokens: tokens, budgetMaxCostMicros: costUsd === null ? null : Math.max(1, Math.round(costUsd * 1_000_000)) }
}

function cleanMetadata(report: BriefReport, value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {}
  const reason = metadataReason(value)
  if (reason !== null) report.problem('/metadata', 'metadata', reason, value)
  return reason === null ? (value as Record<string, unknown>) : {}
}

function metadataReason(value: unknown): string | null {
  if (!isRecord(value)) return 'must be an object'
  try {
    const bytes = Buffer.byteLength(JSON.stringify(value))
    return bytes > BRIEF_LIMITS.metadataBytes ? `must be at most 16 KiB as JSON, and is ${bytes} bytes` : unstorableJsonReason(value)
  } catch {
    return 'must be JSON, and not nested that deeply'
  }
}
