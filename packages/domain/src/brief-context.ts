import { isUrl, urlWarning } from './brief-files.ts'
import { BRIEF_LIMITS } from './brief-limits.ts'
import { type BriefReport, isRecord, type Place, type ReadItem, readChoice, readItems, readText } from './brief-report.ts'
import { isImperative, isMeasurable } from './brief-wording.ts'
import type { CleanCriterion } from './criteria.ts'
import { ENFORCEMENT_LEVELS, type EnforcementLevel, type TaskContext } from './task.ts'
import { codePointLength } from './text.ts'

/** The fields of [EN] 1 that surround a task, as they come over the wire. */
export interface ContextFields {
  background_context?: string | null | undefined
  expected_deliverables?: readonly string[] | null | undefined
  success_criteria?: readonly string[] | { criteria: readonly string[]; all_required?: boolean | undefined } | null | undefined
  constraints?: readonly string[] | { rules: readonly string[]; enforcement_level?: EnforcementLevel | undefined } | null | undefined
  relevant_files?: readonly string[] | null | undefined
  related_documentation?: readonly string[] | null | undefined
}

/** Below these [EN] 4.2 asks for more, and only warns. */
const BACKGROUND_ADVISED = 50
const ITEM_ADVISED = 10

/** What surrounds a task, in the shape of [EN] 3.2, with the criteria that follow from it. The warnings are the caller's to add. */
export function cleanContext(report: BriefReport, given: ContextFields): { context: TaskContext | null; criteria: CleanCriterion[] } {
  const validatedAt = report.at.toISOString()
  const background = cleanBackground(report, given.background_context)
  const deliverables = cleanDeliverables(report, given.expected_deliverables)
  const success = cleanSuccess(report, given.success_criteria)
  const constraints = cleanConstraints(report, given.constraints)
  const files = readItems(report, 'relevant_files', given.relevant_files, BRIEF_LIMITS.files, BRIEF_LIMITS.path).map(textOf)
  const documents = cleanDocuments(report, given.related_documentation)
  const parts = {
    ...(background === null ? {} : { background_context: background }),
    ...(deliverables.length === 0 ? {} : { expected_deliverables: { items: deliverables, validation_added: validatedAt } }),
    ...(success.criteria.length === 0 ? {} : { success_criteria: success }),
    ...(constraints.rules.length === 0 ? {} : { constraints }),
    ...(files.length === 0 ? {} : { relevant_files: files }),
    ...(documents.length === 0 ? {} : { related_documentation: documents }),
  }
  const isEmpty = Object.keys(parts).length === 0
  return {
    context: isEmpty ? null : { ...parts, validation_performed: true, validation_timestamp: validatedAt, validation_warnings: [] },
    criteria: [
      ...success.criteria.map((text): CleanCriterion => ({ text, source: 'success', required: success.all_required })),
      ...constraints.rules.map((text): CleanCriterion => ({ text, source: 'constraint', required: constraints.enforcement_level === 'strict' })),
    ],
  }
}

function cleanBackground(report: BriefReport, value: unknown): string | null {
  const background = readText(report, 'background_context', value, 0, BRIEF_LIMITS.background) || null
  if (background !== null && codePointLength(background) < BACKGROUND_ADVISED) {
    report.warning('background_context', `Background context is very short (<${BACKGROUND_ADVISED} chars). Consider adding more detail.`)
  }
  return background
}

function cleanDeliverables(report: BriefReport, value: unknown): string[] {
  const items = readItems(report, 'expected_deliverables', value, BRIEF_LIMITS.deliverables, BRIEF_LIMITS.item)
  return advise(report, 'expected_deliverables', 'Deliverable', items, () => null)
}

function cleanSuccess(report: BriefReport, value: unknown): NonNullable<TaskContext['success_criteria']> {
  const { list, place, options } = unfold('success_criteria', 'criteria', value)
  const items = readItems(report, place, list, BRIEF_LIMITS.successCriteria, BRIEF_LIMITS.item)
  const allRequired = options.all_required ?? true
  if (typeof allRequired !== 'boolean') {
    report.problem('/success_criteria/all_required', 'success_criteria.all_required', 'must be true or false', allRequired)
  }
  const criteria = advise(report, 'success_criteria', 'Criterion', items, (item) =>
    isMeasurable(item) ? null : `Criterion may not be measurable: '${item}'. Consider adding quantifiable metrics.`,
  )
  return { criteria, all_required: allRequired !== false }
}

function cleanConstraints(report: BriefReport, value: unknown): NonNullable<TaskContext['constraints']> {
  const { list, place, options } = unfold('constraints', 'rules', value)
  const items = readItems(report, place, list, BRIEF_LIMITS.constraints, BRIEF_LIMITS.item)
  const level = { pointer: '/constraints/enforcement_level', field: 'constraints.enforcement_level' }
  const rules = advise(report, 'constraints', 'Constraint', items, (item) => (isImperative(item) ? null : `Constraint should start with imperative: '${item}'`))
  return { rules, enforcement_level: readChoice(report, level, options.enforcement_level, ENFORCEMENT_LEVELS, 'strict') }
}

function cleanDocuments(report: BriefReport, value: unknown): string[] {
  const documents = readItems(report, 'related_documentation', value, BRIEF_LIMITS.documents, BRIEF_LIMITS.path).map(textOf)
  for (const url of documents.filter(isUrl)) {
    const warning = urlWarning(url, report.at)
    if (warning !== null) report.warnings.push(warning)
  }
  return documents
}

/** A list that may also be sent inside an object, beside what is said of the whole of it. */
function unfold(field: string, listName: string, value: unknown): { list: unknown; place: Place; options: Record<string, unknown> } {
  if (!isRecord(value)) return { list: value, place: { pointer: `/${field}`, field }, options: {} }
  return { list: value[listName], place: { pointer: `/${field}/${listName}`, field }, options: value }
}

/** The texts of a list, after saying which are too short to mean much and what else there is to say of each. */
function advise(report: BriefReport, field: string, noun: string, items: readonly ReadItem[], advice: (item: string) => string | null): string[] {
  const texts = items.map(textOf)
  for (const [index, item] of texts.entries()) {
    const length = codePointLength(item)
    // One that is too long is a problem already, and would be quoted whole.
    if (length > BRIEF_LIMITS.item) continue
    if (length < ITEM_ADVISED) report.warning(`${field}[${index}]`, `${noun} is very short: '${item}'. Consider being more specific.`)
    const more = advice(item)
    if (more !== null) report.warning(`${field}[${index}]`, more)
  }
  return texts
}

function textOf({ text }: ReadItem): string {
  return text
}
