import { diffArrays } from 'diff'
import type { RequiredOutput } from './output-schema.ts'
import type { Criterion, Task, UpdateType } from './task.ts'

export interface DiffPart {
  op: 'keep' | 'add' | 'remove'
  text: string
}

/**
 * What changed between two revisions of a brief: for each field that did, by its name on the wire, its parts in order. A text is
 * divided into sentences and lines, and its parts put together again are the text; a list has a part an item.
 */
export type BriefDiff = Record<string, DiffPart[]>

/** The fields of a brief that can change, and whether their parts belong together as one text. */
const FIELDS: Record<string, { partsOf: (task: Task) => string[]; isText: boolean }> = {
  title: { partsOf: (task) => [task.title], isText: true },
  instructions: { partsOf: (task) => clauses(task.instructions), isText: true },
  acceptance_criteria: list((task) => ofSource(task.criteria, 'acceptance')),
  required_outputs: list((task) => task.requiredOutputs.map(outputLine)),
  background_context: { partsOf: (task) => clauses(task.context?.background_context ?? ''), isText: true },
  expected_deliverables: list((task) => task.context?.expected_deliverables?.items ?? []),
  success_criteria: list((task) => {
    const success = task.context?.success_criteria
    return success === undefined ? [] : [...success.criteria, ...(success.all_required ? [] : ['all_required: false'])]
  }),
  constraints: list((task) => {
    const constraints = task.context?.constraints
    return constraints === undefined ? [] : [...constraints.rules, ...(constraints.enforcement_level === 'strict' ? [] : ['enforcement_level: advisory'])]
  }),
  client_cwd: list((task) => (task.clientCwd === null ? [] : [task.clientCwd])),
  relevant_files: list((task) => task.context?.relevant_files ?? []),
  related_documentation: list((task) => task.context?.related_documentation ?? []),
  priority: list((task) => [task.priority]),
  depends_on: list((task) => task.dependsOn),
  tsgs: list((task) => task.tsgs.map(({ tsgId }) => tsgId)),
  budget: list((task) => [
    ...(task.budgetMaxTokens === null ? [] : [`max_tokens: ${task.budgetMaxTokens}`]),
    ...(task.budgetMaxCostMicros === null ? [] : [`max_cost_usd: ${task.budgetMaxCostMicros / 1_000_000}`]),
  ]),
  metadata: list((task) => Object.entries(task.metadata).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)),
}

function list(partsOf: (task: Task) => string[]): { partsOf: (task: Task) => string[]; isText: boolean } {
  return { partsOf, isText: false }
}

/** The difference between two revisions. Empty where nothing of the brief changed. */
export function diffBrief(before: Task, after: Task): BriefDiff {
  const diff: BriefDiff = {}
  for (const [field, { partsOf, isText }] of Object.entries(FIELDS)) {
    const parts = diffParts(partsOf(before), partsOf(after))
    if (parts.every(({ op }) => op === 'keep')) continue
    diff[field] = isText ? joined(parts) : parts
  }
  return diff
}

/** The names of the fields that a diff is about, in the order of a brief. */
export function changedFields(diff: BriefDiff): string[] {
  return Object.keys(diff)
}

/** What an update is called that changes these fields: by the first that applies. */
export function updateTypeOf(fields: readonly string[]): Extract<UpdateType, 'instructions' | 'acceptance_criteria' | 'context'> {
  if (fields.some((field) => field === 'title' || field === 'instructions')) return 'instructions'
  return fields.some((field) => field === 'acceptance_criteria' || field === 'required_outputs') ? 'acceptance_criteria' : 'context'
}

/** A diff as people and agents read it: what went and what came, field by field. What stayed is left out. */
export function renderDiff(diff: BriefDiff): string {
  return Object.entries(diff)
    .map(([field, parts]) => {
      const lines = parts
        .filter(({ op }) => op !== 'keep')
        .flatMap(({ op, text }) =>
          text
            .trimStart()
            .split(LINE_BREAK)
            .map((line) => ({ op, line: line.trimEnd() })),
        )
      return [`${field}:`, ...lines.filter(({ line }) => line !== '').map(({ op, line }) => `${op === 'add' ? '+' : '-'} ${line}`)].join('\n')
    })
    .join('\n')
}

/**
 * More edits than this between two revisions are no edit but another text; to look for what they have in common would take time that
 * grows with the square of it.
 */
const EDITS_MAX = 500

function diffParts(before: string[], after: string[]): DiffPart[] {
  const changes = diffArrays(before, after, { maxEditLength: EDITS_MAX })
  if (changes === undefined) return [...before.map((text): DiffPart => ({ op: 'remove', text })), ...after.map((text): DiffPart => ({ op: 'add', text }))]
  return changes.flatMap(({ value, added, removed }) => value.map((text): DiffPart => ({ op: added ? 'add' : removed ? 'remove' : 'keep', text })))
}

/** Neighbours of one kind put together. */
function joined(parts: readonly DiffPart[]): DiffPart[] {
  const groups: { op: DiffPart['op']; texts: string[] }[] = []
  for (const { op, text } of parts) {
    const last = groups.at(-1)
    if (last?.op === op) last.texts.push(text)
    else groups.push({ op, texts: [text] })
  }
  return groups.map(({ op, texts }) => ({ op, text: texts.join('') }))
}

const LINE_BREAK = /\r\n|[\n\r]/
// Up to a sign that ends a clause, or to the end of a line. What separates it from the one before is its beginning, so that a clause stays
// the same where another is put behind it. One sign at a time, so that nothing is read twice.
const CLAUSE = /(?:\r\n|[\n\r])?.*?(?:[.!?;:…](?=[^\S\r\n])|[。！？；]|(?=[\r\n])|$)/gs

/** A text in sentences and lines, which put together are the text. */
function clauses(text: string): string[] {
  return [...text.matchAll(CLAUSE)].map(([clause]) => clause).filter((clause) => clause !== '')
}

function ofSource(criteria: readonly Criterion[], source: Criterion['source']): string[] {
  return criteria.filter((criterion) => criterion.source === source).map(({ text, check }) => (check === undefined ? text : `${text} [check: ${check}]`))
}

function outputLine({ name, description, schema }: RequiredOutput): string {
  return `${name}${description === null ? '' : `: ${description}`}${schema === null ? '' : ` ${JSON.stringify(schema)}`}`
}
