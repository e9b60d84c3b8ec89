import type { Read } from './clock.ts'
import type { Token } from './tokens.ts'

/** Reads one slot of a pattern at a position, or does not. */
export type SlotReader = (tokens: Token[], position: number) => Read<unknown> | null

/**
 * A pattern is a row of elements with blanks between them: words (`on`), alternatives (`every|each`), slots in capitals (`TIMES`), each of them with `?`
 * behind it when it may be missing. `part` makes of what the slots have read what the clause says, or null: then it does not match after all.
 */
export interface Clause<Slots, Part> {
  pattern: string
  part: (slots: Slots) => Part | null
}

interface Element {
  words: string[]
  slot: string | null
  isOptional: boolean
}

export interface CompiledClause<Slots, Part> extends Clause<Slots, Part> {
  elements: Element[]
}

export function compileClauses<Slots, Part>(clauses: Clause<Slots, Part>[]): CompiledClause<Slots, Part>[] {
  return clauses.map((clause) => ({ ...clause, elements: clause.pattern.split(' ').map(toElement) }))
}

function toElement(written: string): Element {
  const isOptional = written.endsWith('?')
  const name = isOptional ? written.slice(0, -1) : written
  const isSlot = /^[A-Z_]+$/.test(name)
  return { words: isSlot ? [] : name.split('|'), slot: isSlot ? name : null, isOptional }
}

/** All words that stand in patterns. */
export function wordsOf(clauses: { elements: Element[] }[]): string[] {
  return clauses.flatMap(({ elements }) => elements.flatMap(({ words }) => words))
}

/** What all clauses of a row of tokens say, or the token that is not understood: null when the tokens end where more is needed. */
export type ReadClauses<Parts> = { parts: Partial<Parts> } | { parts: null; stuckAt: Token | null }

/**
 * Goes through the tokens once. At each place the clause that covers most of them is taken, the first of the table among equals, so that the same text
 * is always read in the same way, and the work is the number of tokens times the size of the table. A comma may stand between two clauses.
 * @param refuseDouble makes the error for what two clauses say
 */
export function readClauses<Slots extends object, Parts extends object>(
  clauses: CompiledClause<Slots, Partial<Parts>>[],
  slots: Record<string, SlotReader>,
  tokens: Token[],
  refuseDouble: (name: keyof Parts) => Error,
): ReadClauses<Parts> {
  const parts: Partial<Parts> = {}
  const reach = { furthest: 0 }
  let position = 0
  while (position < tokens.length) {
    const longest = longestClause(clauses, { slots, tokens, reach }, position)
    if (!longest) return { parts: null, stuckAt: stuckToken(tokens, position, reach.furthest) }
    const double = (Object.keys(longest.value) as (keyof Parts)[]).find((name) => name in parts)
    if (double !== undefined) throw refuseDouble(double)
    Object.assign(parts, longest.value)
    position = longest.next
    if (tokens[position]?.text === ',' && position < tokens.length - 1) position += 1
  }
  return { parts }
}

/** The last place that was looked at, or a number that looks like a time and is none, or null for the end. */
function stuckToken(tokens: Token[], position: number, furthest: number): Token | null {
  const token = tokens[position]
  const last = tokens.at(-1)
  const hour = last?.kind === 'number' && tokens.at(-2)?.text === 'at' ? last : null
  return tokens[Math.max(position, furthest)] ?? (token?.kind === 'number' ? token : hour)
}

interface Row {
  slots: Record<string, SlotReader>
  tokens: Token[]
  /** The last place at which an element of a pattern was looked for. */
  reach: { furthest: number }
}

/** The clause that covers most of the tokens from a place on, the first of the table among equals. */
export function longestClause<Slots extends object, Part>(clauses: CompiledClause<Slots, Part>[], row: Row, position: number): Read<Part> | null {
  let longest: Read<Part> | null = null
  for (const clause of clauses) {
    const match = matchElements(clause.elements, row, position)
    if (!match || (longest && match.next <= longest.next)) continue
    const part = clause.part(match.value as Slots)
    if (part !== null) longest = { value: part, next: match.next }
  }
  return longest
}

function matchElements(elements: Element[], row: Row, position: number): Read<Record<string, unknown>> | null {
  const [element, ...others] = elements
  if (!element) return { value: {}, next: position }
  const read = readElement(element, row, position)
  const rest = read && matchElements(others, row, read.next)
  if (read && rest) return element.slot === null ? rest : { value: { ...rest.value, [element.slot]: read.value }, next: rest.next }
  return element.isOptional ? matchElements(others, row, position) : null
}

function readElement(element: Element, { slots, tokens, reach }: Row, position: number): Read<unknown> | null {
  reach.furthest = Math.max(reach.furthest, position)
  if (element.slot !== null) return slots[element.slot]?.(tokens, position) ?? null
  const text = tokens[position]?.text
  return text !== undefined && element.words.includes(text) ? { value: text, next: position + 1 } : null
}
