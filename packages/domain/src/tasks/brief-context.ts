import { codePointLength } from '../core/text.ts'
import { fileKey, isUrl, urlWarning } from './brief-files.ts'
import { BRIEF_LIMITS, type BriefReport, isRecord, type Place, type ReadItem, readChoice, readItems, readText } from './brief-report.ts'
import { isImperative, isMeasurable, isVague } from './brief-wording.ts'
import type { CleanCriterion } from './criteria.ts'
import { type CriterionSource, ENFORCEMENT_LEVELS, type EnforcementLevel, type TaskContext } from './task.ts'

/** A criterion as it is sent; with an id, the one that a task has already. */
export type GivenCriterion = string | { id?: string | undefined; text: string; check?: string | null | undefined }

/** The fields of [EN] 1 that surround a task, as they come over the wire. */
export interface ContextFields {
  background_context?: string | null | undefined
  expected_deliverables?: readonly string[] | null | undefined
  success_criteria?: readonly GivenCriterion[] | { criteria: readonly GivenCriterion[]; all_required?: boolean | undefined } | null | undefined
  constraints?: readonly GivenCriterion[] | { rules: readonly GivenCriterion[]; enforcement_level?: EnforcementLevel | undefined } | null | undefined
  relevant_files?: readonly string[] | null | undefined
  related_documentation?: readonly string[] | null | undefined
}

/** Below these [EN] 4.2 asks for more, and only warns. */
const BACKGROUND_ADVISED = 50
const ITEM_ADVISED = 10

/**
 * What surrounds a task, in the shape of [EN] 3.2, with the criteria that follow from it. The warnings are the caller's to add.
 *
 * @param clientCwd the folder that relative files start at
 */
export function cleanContext(report: BriefReport, given: ContextFields, clientCwd: string | null): { context: TaskContext | null; criteria: CleanCriterion[] } {
  const validatedAt = report.at.toISOString()
  const background = cleanBackground(report, given.background_context)
  const deliverables = cleanDeliverables(report, given.expected_deliverables)
  const success = cleanSuccess(report, given.success_criteria)
  const constraints = cleanConstraints(report, given.constraints)
  const keyOf = (entry: string) => fileKey(entry, clientCwd)
  const files = readItems(report, 'relevant_files', given.relevant_files, BRIEF_LIMITS.files, BRIEF_LIMITS.path, keyOf).map(textOf)
  const documents = cleanDocuments(report, given.related_documentation, keyOf)
  const parts = {
    ...(background === null ? {} : { background_context: background }),
    ...(deliverables.length === 0 ? {} : { expected_deliverables: { items: deliverables, validation_added: validatedAt } }),
    ...(success.items.length === 0 ? {} : { success_criteria: { criteria: success.items.map(textOf), all_required: success.areRequired } }),
    ...(constraints.items.length === 0 ? {} : { constraints: { rules: constraints.items.map(textOf), enforcement_level: constraints.level } }),
    ...(files.length === 0 ? {} : { relevant_files: files }),
    ...(documents.length === 0 ? {} : { related_documentation: documents }),
  }
  const isEmpty = Object.keys(parts).length === 0
  return {
    context: isEmpty ? null : { ...parts, validation_performed: true, validation_timestamp: validatedAt, validation_warnings: [] },
    criteria: [
      ...success.items.map((item) => toCriterion(item, 'success', success.areRequired)),
      ...constraints.items.map((item) => toCriterion(item, 'constraint', constraints.level === 'strict')),
    ],
  }
}

/** An item of a list as what it is judged by. */
export function toCriterion({ id, text, check }: ReadItem, source: CriterionSource, required: boolean): CleanCriterion {
  return { ...(id === undefined ? {} : { id }), text, source, required, ...(check === undefined ? {} : { check }) }
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
  advise(report, 'expected_deliverables', 'Deliverable', items, (item) =>
    isVague(item) && codePointLength(item) >= ITEM_ADVISED ? `Deliverable is vague: '${item}'. Name what is handed in.` : null,
  )
  return items.map(textOf)
}

function cleanSuccess(report: BriefReport, value: unknown): { items: ReadItem[]; areRequired: boolean } {
  const { list, place, options } = unfold('success_criteria', 'criteria', value)
  const items = readItems(report, place, list, BRIEF_LIMITS.successCriteria, BRIEF_LIMITS.item)
  advise(report, 'success_criteria', 'Criterion', items, (item) =>
    isMeasurable(item) ? null : `Criterion may not be measurable: '${item}'. Consider adding quantifiable metrics.`,
  )
  const allRequired = options.all_required ?? true
  if (typeof allRequired !== 'boolean') {
    report.problem('/success_criteria/all_required', 'success_criteria.all_required', 'must be true or false', allRequired)
  }
  return { items, areRequired: allRequired !== false }
}

function cleanConstraints(report: BriefReport, value: unknown): { items: ReadItem[]; level: EnforcementLevel } {
  const { list, place, options } = unfold('constraints', 'rules', value)
  const items = readItems(report, place, list, BRIEF_LIMITS.constraints, BRIEF_LIMITS.item)
  advise(report, 'constraints', 'Constraint', items, (item) => (isImperative(item) ? null : `Constraint should start with imperative: '${item}'`))
  const at = { pointer: '/constraints/enforcement_level', field: 'constraints.enforcement_level' }
  return { items, level: readChoice(report, at, options.enforcement_level, ENFORCEMENT_LEVELS, 'strict') }
}

function cleanDocuments(report: BriefReport, value: unknown, keyOf: (entry: string) => string): string[] {
  const documents = readItems(report, 'related_documentation', value, BRIEF_LIMITS.documents, BRIEF_LIMITS.path, keyOf).map(textOf)
  for (const url of documents.filter(isUrl)) {
    const warning = urlWarning(url, report.at)
    if (warning !== null) report.warnings.push(warning)
  }
  return documents
}

/** A list that may also be sent inside an object with options for the whole list. */
function unfold(field: string, listName: string, value: unknown): { list: unknown; place: Place; options: Record<string, unknown> } {
  if (!isRecord(value)) return { list: value, place: { pointer: `/${field}`, field }, options: {} }
  return { list: value[listName], place: { pointer: `/${field}/${listName}`, field }, options: value }
}

/** Says which items of a list are too short to mean much, and what else there is to say of each. */
function advise(report: BriefReport, field: string, noun: string, items: readonly ReadItem[], advice: (item: string) => string | null): void {
  for (const [index, { text }] of items.entries()) {
    const length = codePointLength(text)
    // One that is too long is a problem already, and would be quoted whole.
    if (length > BRIEF_LIMITS.item) continue
    if (length < ITEM_ADVISED) report.warning(`${field}[${index}]`, `${noun} is very short: '${text}'. Consider being more specific.`)
    const more = advice(text)
    if (more !== null) report.warning(`${field}[${index}]`, more)
  }
}

function textOf({ text }: ReadItem): string {
  return text
}
