import { codePointLength, unstorableJsonReason, unstorableReason } from '@muster/domain'
import { z } from 'zod'

/** The kinds of fields that requests are made of. Lengths count Unicode code points after trimming. */

const METADATA_BYTES_MAX = 16_384

/** Free text. What PostgreSQL cannot keep (U+0000, lone surrogates) is refused rather than changed. */
export function text(max: number, min = 1) {
  return z
    .string()
    .trim()
    .check((context) => {
      const reason = unstorableReason(context.value) ?? lengthReason(codePointLength(context.value), min, max)
      if (reason !== null) context.issues.push({ code: 'custom', message: reason, input: context.value })
    })
    .meta({ minLength: min, maxLength: max })
}

function lengthReason(length: number, min: number, max: number): string | null {
  if (length === 0 && min > 0) return 'must not be empty'
  if (length < min) return `must be at least ${min} characters long`
  if (length > max) return `must be at most ${max} characters long, and is ${length}`
  return null
}

/** An id that callers choose themselves, such as a session's: one printable line. */
export function printableId(description: string, example: string) {
  return text(128)
    .refine((value) => !/[\p{Cc}\u2028\u2029]/u.test(value), 'must not contain control characters')
    .describe(description)
    .meta({ examples: [example] })
}

export const uuid = (description: string) => z.uuid().describe(description)

/** The name of a sub-agent where a request asks for one: whether there is one of that name, the use-case says. */
export const subagentNameField = text(64).meta({ examples: ['memory-specialist'] })

/** A field under the name that it had before, until 1.0. */
export const formerly = <Schema extends z.ZodType>(schema: Schema, name: string) => schema.describe(`Use \`${name}\`.`).meta({ deprecated: true })

/** A point in time, as answers carry it: RFC 3339, UTC, milliseconds. */
export const time = (description?: string) => {
  const schema = z.iso.datetime({ precision: 3 })
  return description === undefined ? schema : schema.describe(description)
}

/** Refuses what PostgreSQL cannot keep, in every text and every key of a JSON value. */
export function storable<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.check((context) => {
    const reason = unstorableJsonReason(context.value)
    if (reason !== null) context.issues.push({ code: 'custom', message: reason, input: context.value })
  })
}

/** Any JSON object of the caller's own, kept as it is. */
export const metadata = storable(z.record(z.string(), z.unknown()))
  .check((context) => {
    const bytes = Buffer.byteLength(JSON.stringify(context.value))
    if (bytes > METADATA_BYTES_MAX)
      context.issues.push({ code: 'custom', message: `must be at most 16 KiB as JSON, and is ${bytes} bytes`, input: context.value })
  })
  .describe('Your own data, at most 16 KiB as JSON.')

export const idParams = (what: string) => z.strictObject({ id: uuid(`Id of the ${what}.`) })

/** A whole number of a query: decimal digits only. `1e2`, `0x10`, `+5` and `5.0` are invalid. */
export function queryNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  return z.preprocess((value, context) => {
    if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value)
    context.addIssue({ code: 'custom', message: 'must be a whole number of at most 15 decimal digits', input: value })
    return z.NEVER
  }, z.int().min(min).max(max))
}

/** `?limit&cursor` of every list. */
export const pageQuery = {
  limit: queryNumber(1, 200).default(50).describe('How many items at most.'),
  cursor: text(1_024).optional().describe('`next_cursor` of the page before (null on the last), from the same path with the same filters.'),
}

/** Millionths of a US dollar to dollars, as the wire has them. */
export const toUsd = (micros: number): number => micros / 1_000_000

/** Dollars of the wire to millionths. */
export const toMicros = (usd: number): number => Math.round(usd * 1_000_000)

export const toTime = (at: Date): string => at.toISOString()

export const toTimeOrNull = (at: Date | null): string | null => at?.toISOString() ?? null

/** What is known of a named schema besides its shape. */
interface ComponentEntry {
  id: string
  /** A request is described as it is sent, an answer as it arrives: defaults are optional in one and always there in the other. */
  io: 'input' | 'output'
  example?: unknown
}

/** Every schema that `openapi.yaml` shows under a name of its own. Filled by the modules that define them. */
export const components = z.registry<ComponentEntry>()

/** Names the schema of an answer, or one that requests and answers share. */
export function component<Schema extends z.ZodType>(id: string, schema: Schema, example?: z.output<Schema>): Schema {
  return add(schema, { id, io: 'output', ...(example === undefined ? {} : { example }) })
}

/** Names the schema of a request's body, or of a part of one. */
export function requestComponent<Schema extends z.ZodType>(id: string, schema: Schema, example?: z.input<Schema>): Schema {
  return add(schema, { id, io: 'input', ...(example === undefined ? {} : { example }) })
}

/** Who or what: an author, a sender, an actor, a subject. Describe which of them where it is used. */
export const referenceSchema = component(
  'Reference',
  z.object({
    kind: z.string().describe('Such as `key`, `open`, `session`, `subtask`, `task`, `worker` or `muster`.'),
    id: z.string(),
    name: z.string().nullable().optional().describe('Of a sender: the name of the API key, or the session that a caller without a key named.'),
  }),
)

/** Names the page of a list. */
export function listComponent<Item extends z.ZodType>(id: string, item: Item) {
  const schema = z.object({
    items: z.array(item),
    next_cursor: z.string().nullable(),
  })
  return add(schema, { id, io: 'output' })
}

/** What the reference shows in the place of a schema. */
export const shownAs = new WeakMap<z.ZodType, z.ZodType>()

/** A list, or an object that has it and more. The reference shows the object: generators for Java write code for such a union that does not compile. */
export function listOrObject<List extends z.ZodType, Whole extends z.ZodType>(list: List, whole: Whole) {
  const union = z.union([list, whole])
  shownAs.set(union, whole)
  return union
}

/** A schema that takes more than the reference shows, such as former names of values. */
export function showAs<Taken extends z.ZodType>(shown: z.ZodType, taken: Taken): Taken {
  shownAs.set(taken, shown)
  return taken
}

function add<Schema extends z.ZodType>(schema: Schema, entry: ComponentEntry): Schema {
  // The later one would take the place of the other, and which that is depends on who imports what first.
  if (components._idmap.has(entry.id)) throw new Error(`two schemas are called ${entry.id}`)
  components.add(schema, entry)
  return schema
}

/** All of them in the order of their names: the reference must not depend on who imports what first. */
export function namedComponents(): [string, z.ZodType][] {
  return [...components._idmap].map(([id, schema]): [string, z.ZodType] => [id, schema as z.ZodType]).sort(([one], [other]) => (one < other ? -1 : 1))
}
