import { createRequire } from 'node:module'
import type { Ajv2020, ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js'
import { limited, OUT_OF_TIME } from '../core/limited.ts'
import { hasVisibleText } from '../core/text.ts'

/** A schema of one required output takes at most this many bytes as JSON. */
export const OUTPUT_SCHEMA_BYTES_MAX = 16_384

/** What the result of a subtask must bring along. */
export interface RequiredOutput {
  name: string
  description: string | null
  schema: Record<string, unknown> | null
}

/** Why an output is not accepted. */
export interface OutputProblem {
  name: string
  reason: string
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
/**
 * Schemas come from users and may be built to take for ever: definitions that double at every step, say. What is slower than this
 * is refused. It is no clock that a rule depends on: what is meant well takes a thousandth of it.
 */
const COMPILE_MS_MAX = 1_000
const VALIDATE_MS_MAX = 250
const CACHED_VALIDATORS_MAX = 200
const SHOWN_VALUE_LENGTH_MAX = 200

/**
 * Whether a schema can be held against outputs: JSON Schema 2020-12, at most `OUTPUT_SCHEMA_BYTES_MAX`, complete in itself.
 * Patterns are those of RE2, which runs in linear time and so knows no lookaround and no backreference.
 *
 * @returns what is wrong with it, or null
 */
export function checkOutputSchema(schema: unknown): string | null {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return 'must be a JSON Schema object'
  const text = JSON.stringify(schema)
  const bytes = Buffer.byteLength(text)
  if (bytes > OUTPUT_SCHEMA_BYTES_MAX) return `must take at most ${OUTPUT_SCHEMA_BYTES_MAX} bytes as JSON, and takes ${bytes}`
  const dialect = (schema as { $schema?: unknown }).$schema
  if (dialect !== undefined && dialect !== DIALECT && dialect !== `${DIALECT}#`) return `must be of the dialect ${DIALECT}, or name none`
  const compiled = compile(text)
  return typeof compiled === 'string' ? compiled : null
}

/**
 * Which required outputs are absent or do not fit their schema, and why, in the order they are required. null is absent. Without a schema
 * an empty value is absent too; with one, the schema alone decides whether an empty value fits.
 */
export function outputProblems(required: readonly RequiredOutput[], outputs: Record<string, unknown>): OutputProblem[] {
  return required.flatMap(({ name, schema }) => {
    const value = Object.hasOwn(outputs, name) ? outputs[name] : undefined
    if (value === undefined || value === null) return [{ name, reason: 'is missing' }]
    const reason = schema === null ? emptiness(value) : misfit(schema, value)
    return reason === null ? [] : [{ name, reason }]
  })
}

/** Why a value contains nothing, or null. `false` and `0` are values. */
function emptiness(value: unknown): string | null {
  if (typeof value === 'string') return hasVisibleText(value) ? null : 'is empty: a text must contain at least one visible character'
  if (Array.isArray(value)) return value.length > 0 ? null : 'is empty: a list must contain at least one item'
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0 ? null : 'is empty: an object must contain at least one field'
  return null
}

function misfit(schema: Record<string, unknown>, value: unknown): string | null {
  const validator = compile(JSON.stringify(schema))
  if (typeof validator === 'string') return `cannot be checked: its schema ${validator}`
  const fits = limited(VALIDATE_MS_MAX, () => validator(value))
  if (fits === OUT_OF_TIME) return 'takes too long to be checked against its schema'
  const [error] = validator.errors ?? []
  // The compiled function keeps its last errors, and those keep the value they are about.
  validator.errors = null
  return fits || error === undefined ? null : describe(error)
}

/** `/files/0/size must be integer`: the first thing that is wrong, and where. */
function describe({ instancePath, keyword, message, params }: ErrorObject): string {
  const where = instancePath === '' ? '' : `${cut(instancePath)} `
  const detail = {
    additionalProperties: params.additionalProperty,
    unevaluatedProperties: params.unevaluatedProperty,
    enum: params.allowedValues,
    const: params.allowedValue,
  }[keyword]
  return `${where}${cut(message ?? `fails ${keyword}`)}${detail === undefined ? '' : `: ${cut(JSON.stringify(detail))}`}`
}

function cut(text: string): string {
  return text.length <= SHOWN_VALUE_LENGTH_MAX ? text : `${text.slice(0, SHOWN_VALUE_LENGTH_MAX).toWellFormed()}…`
}

/** Compiled validators, or what is wrong, by the schemas' text; the least recently used is forgotten first. */
const validators = new Map<string, ValidateFunction | string>()

function compile(text: string): ValidateFunction | string {
  const known = validators.get(text)
  validators.delete(text)
  const compiled = known ?? compileAnew(text)
  validators.set(text, compiled)
  const [oldest] = validators.keys()
  if (validators.size > CACHED_VALIDATORS_MAX && oldest !== undefined) validators.delete(oldest)
  return compiled
}

function compileAnew(text: string): ValidateFunction | string {
  const tools = loadTools()
  try {
    const compiled = limited(COMPILE_MS_MAX, () => {
      const schema = JSON.parse(text) as Record<string, unknown>
      if (tools.meta.validateSchema(schema) !== true) return `is no JSON Schema: ${describe(tools.meta.errors?.[0] as ErrorObject)}`
      return tools.compile(schema)
    })
    return compiled === OUT_OF_TIME ? 'takes too long to compile' : compiled
  } catch (error) {
    const { message, missingRef } = error as { message: string; missingRef?: string }
    if (missingRef !== undefined) return `refers to ${cut(missingRef)}, which is not part of it; nothing is fetched from elsewhere`
    return `does not compile: ${cut(message)}`
  }
}

const require = createRequire(import.meta.url)

interface Tools {
  /** Knows what a schema is. */
  meta: Ajv2020
  compile(schema: Record<string, unknown>): ValidateFunction
}

let tools: Tools | undefined

/** Loaded with the first schema: it takes some 100 ms and 10 MB, which a process that never sees one should not pay. */
function loadTools(): Tools {
  if (tools !== undefined) return tools
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const addFormats = require('ajv-formats') as typeof import('ajv-formats').default
  const { RE2JS } = require('re2js') as typeof import('re2js')
  const linear = Object.assign(
    (pattern: string) => {
      const expression = RE2JS.compile(RE2JS.translateRegExp(pattern))
      return { test: (text: string) => expression.test(text) }
    },
    // The import path of the engine in generated source files, which are not used here.
    { code: 'undefined' },
  )
  const options = {
    // Unknown keywords and formats are annotations, as the standard has it.
    strict: false,
    logger: false,
    ownProperties: true,
    code: { regExp: linear },
  } satisfies Options
  const meta = new Ajv2020({ ...options, code: {} })
  meta.validateSchema({})
  const compileOne = (schema: Record<string, unknown>) => {
    // One instance a schema: an instance remembers the `$id` of everything it has compiled, and one user's must not answer another's `$ref`.
    const ajv = new Ajv2020({ ...options, meta: false, validateSchema: false })
    addFormats(ajv)
    return ajv.compile(schema)
  }
  tools = { meta, compile: compileOne }
  return tools
}
