import type { FieldProblem } from '../core/errors.ts'
import { codePointLength, cutToCodePoints, unstorableReason } from '../core/text.ts'
import type { BriefWarning } from './task.ts'

/** Lengths in Unicode code points after trimming, counts after blanks and repetitions are gone. [EN] 4, and the contract for the rest. */
export const BRIEF_LIMITS = {
  title: 256,
  instructions: 100_000,
  descriptionMin: 10,
  description: 500,
  acceptanceCriteria: 50,
  acceptanceCriterion: 2_000,
  requiredOutputs: 50,
  outputName: 128,
  outputDescription: 2_000,
  background: 5_000,
  deliverables: 20,
  successCriteria: 15,
  constraints: 15,
  /** An item of the three lists above. */
  item: 200,
  files: 50,
  documents: 20,
  /** A path or an address. */
  path: 4_096,
  tsgs: 50,
  dependsOn: 50,
  sessionId: 128,
  metadataBytes: 16_384,
  budgetTokens: 1_000_000_000_000,
  budgetCostUsd: 1_000_000,
} as const

/** The longest value that a problem quotes, in characters. */
const SHOWN_VALUE_LENGTH_MAX = 100

/** Where in the body something is: as a JSON pointer, and as [EN] 4.3 names it (`success_criteria[2]`). */
export interface Place {
  pointer: string
  field: string
}

/** Collects everything there is to say about a brief, so that its author learns of all of it at once. */
export class BriefReport {
  readonly at: Date
  /** The names of the checks that there are. */
  readonly checks: readonly string[]
  readonly problems: FieldProblem[] = []
  readonly warnings: BriefWarning[] = []

  constructor(at: Date, checks: readonly string[] = []) {
    this.at = at
    this.checks = checks
  }

  /** `reason` becomes a sentence of its own, as those of [EN] 5 are. */
  problem(pointer: string, field: string, reason: string, value: unknown): void {
    const sentence = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
    this.problems.push({ pointer, field, reason: sentence, ...(value === undefined ? {} : { value: shown(value) }) })
  }

  warning(field: string, message: string): void {
    this.warnings.push({ field, message, timestamp: this.at.toISOString() })
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text, trimmed; null where it is absent. Its length counts code points. */
export function readText(report: BriefReport, at: string | Place, value: unknown, min: number, max: number): string | null {
  const { pointer, field } = typeof at === 'string' ? { pointer: `/${at}`, field: at } : at
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') {
    report.problem(pointer, field, 'must be a text', value)
    return null
  }
  const text = value.trim()
  const reason = unstorableReason(text) ?? lengthReason(codePointLength(text), min, max)
  if (reason !== null) report.problem(pointer, field, reason, text)
  return text
}

function lengthReason(length: number, min: number, max: number): string | null {
  if (length < min) return min === 1 ? 'must not be empty' : `must be at least ${min} characters`
  return length > max ? `must be at most ${max} characters` : null
}

/** One of a few words; the default where it is absent or none of them. */
export function readChoice<Choice extends string>(
  report: BriefReport,
  at: string | Place,
  value: unknown,
  choices: readonly Choice[],
  otherwise: Choice,
): Choice {
  const { pointer, field } = typeof at === 'string' ? { pointer: `/${at}`, field: at } : at
  if (value === undefined || value === null) return otherwise
  const known = choices.find((choice) => choice === value)
  if (known === undefined) report.problem(pointer, field, `must be one of ${choices.join(', ')}`, value)
  return known ?? otherwise
}

/** A list item that is not blank and not a duplicate. */
export interface ReadItem {
  text: string
  /** Sent with an item that is an object. */
  id?: string
  /** The configured check that decides it; any text until it is compared with those that there are. Null: none. */
  check?: string | null
  pointer: string
  /** Its place in the list as it was sent. */
  index: number
}

/**
 * The items of a list, each a text or `{id?, text, check?}`: trimmed, without blanks, each once, in order. At most `max` come back: no more
 * of a list that is too long is looked at, or the answer would outgrow the request.
 *
 * @param keyOf the same for two texts that are one item; of these, the first is kept
 */
export function readItems(
  report: BriefReport,
  at: string | Place,
  value: unknown,
  max: number,
  charactersMax: number,
  keyOf: (text: string) => string = (text) => text,
): ReadItem[] {
  const place = typeof at === 'string' ? { pointer: `/${at}`, field: at } : at
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    report.problem(place.pointer, place.field, 'must be a list', value)
    return []
  }
  const items = new Map<string, ReadItem>()
  let misfits = 0
  for (const [index, entry] of value.entries()) {
    const item = readItem(place, index, entry)
    if (item === null) {
      if (misfits < max) report.problem(`${place.pointer}/${index}`, `${place.field}[${index}]`, 'must be a text', entry)
      misfits += 1
    } else if (item.text !== '') {
      const key = keyOf(item.text)
      const known = items.get(key)
      if (known === undefined) items.set(key, item)
      else {
        if (known.id === undefined && item.id !== undefined) known.id = item.id
        if (known.check === undefined && item.check !== undefined) known.check = item.check
      }
    }
  }
  if (items.size > max) report.problem(place.pointer, place.field, `maximum ${max} items allowed`, value)
  const kept = [...items.values()].slice(0, max)
  for (const { text, pointer, index } of kept) {
    const reason = unstorableReason(text) ?? (codePointLength(text) > charactersMax ? `each item must be at most ${charactersMax} characters` : null)
    if (reason !== null) report.problem(pointer, `${place.field}[${index}]`, reason, text)
  }
  for (const { check, index } of kept) {
    if (check == null || report.checks.includes(check)) continue
    report.problem(`${place.pointer}/${index}/check`, `${place.field}[${index}].check`, unknownCheck(report.checks), check)
  }
  return kept
}

function unknownCheck(known: readonly string[]): string {
  return known.length === 0 ? 'is not a known check: this server has none (CHECKS)' : `is not a known check. Known: ${known.join(', ')}`
}

function readItem(place: Place, index: number, entry: unknown): ReadItem | null {
  const pointer = `${place.pointer}/${index}`
  if (typeof entry === 'string') return { text: entry.trim(), pointer, index }
  if (!isRecord(entry) || typeof entry.text !== 'string') return null
  const id = typeof entry.id === 'string' && entry.id.trim() !== '' ? { id: entry.id.trim() } : {}
  const check = entry.check === undefined ? {} : { check: entry.check === null ? null : String(entry.check).trim() }
  return { text: entry.text.trim(), ...id, ...check, pointer: `${pointer}/text`, index }
}

/** A value as a problem quotes it: short, and as JSON where it is no text. */
function shown(value: unknown): unknown {
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value
  return cutToCodePoints(written(value).toWellFormed(), SHOWN_VALUE_LENGTH_MAX)
}

function written(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, 2 * SHOWN_VALUE_LENGTH_MAX + 10)
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 2 * SHOWN_VALUE_LENGTH_MAX + 10)
  } catch {
    // Too deep, going round in circles, or with numbers that JSON does not know.
    return Object.prototype.toString.call(value)
  }
}
