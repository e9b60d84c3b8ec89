import { z } from 'zod'
import { components, namedComponents, shownAs } from '../http/schemas.ts'

/** A JSON Schema as it stands in the reference. */
export type JsonSchema = Record<string, unknown>

const refTo = (id: string): string => `#/components/schemas/${id}`

/**
 * Every named schema, each as the side that writes it sees it, in the order of their names.
 *
 * @param withExample those that show their example
 */
export function componentSchemas(withExample: ReadonlySet<unknown>): Record<string, JsonSchema> {
  const asInput = convertAll('input')
  const asOutput = convertAll('output')
  const schemas: Record<string, JsonSchema> = {}
  for (const [id, schema] of namedComponents()) {
    const { io, example } = components.get(schema) ?? {}
    const described = (io === 'input' ? asInput[id] : asOutput[id]) ?? {}
    schemas[id] = example === undefined || !withExample.has(schema) ? described : { ...described, examples: [example] }
  }
  return schemas
}

/** A schema in the place where it is used: a reference where it has a name. */
export function schemaInPlace(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const id = components.get(schema)?.id
  if (id !== undefined) return { $ref: refTo(id) }
  if (inPlace[io].get(schema) === undefined) convertInPlace([schema], io)
  return inPlace[io].get(schema) ?? {}
}

const inPlace = { input: new WeakMap<z.ZodType, JsonSchema>(), output: new WeakMap<z.ZodType, JsonSchema>() }

/**
 * Converts unnamed schemas, all at once: there is no other way to have them refer to the named ones in them than to convert those as well, which
 * for each parameter by itself would take most of the time in which a server starts.
 */
function convertInPlace(schemas: readonly z.ZodType[], io: 'input' | 'output'): void {
  const places = z.registry<{ id: string }>()
  for (const [name, named] of namedComponents()) places.add(named, { id: name })
  for (const [index, schema] of schemas.entries()) places.add(schema, { id: `here ${index}` })
  const converted = convert(places, io)
  for (const [index, schema] of schemas.entries()) inPlace[io].set(schema, converted[`here ${index}`] ?? {})
}

/** Makes the parameters of all endpoints ready for `fieldsOf`. */
export function convertFields(objects: readonly z.ZodType[]): void {
  const fields = objects.flatMap((object) => Object.values(shapeOf(object)))
  convertInPlace([...new Set(fields.filter((field) => nameOf(field) === undefined))], 'input')
}

export function nameOf(schema: z.ZodType): string | undefined {
  return components.get(schema)?.id
}

/** The fields of an object schema one by one, for parameters. */
export function fieldsOf(schema: z.ZodType): { name: string; isRequired: boolean; schema: JsonSchema; description: string | undefined }[] {
  return Object.entries(shapeOf(schema)).map(([name, field]) => {
    const { description, ...rest } = schemaInPlace(field, 'input')
    return { name, isRequired: !field.safeParse(undefined).success, schema: rest, description: typeof description === 'string' ? description : undefined }
  })
}

function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  if (!(schema instanceof z.ZodObject)) throw new Error('parameters must be an object')
  return schema.shape as Record<string, z.ZodType>
}

function convertAll(io: 'input' | 'output'): Record<string, JsonSchema> {
  const named = z.registry<{ id: string }>()
  for (const [id, schema] of namedComponents()) named.add(schema, { id })
  return convert(named, io)
}

function convert(registry: ReturnType<typeof z.registry<{ id: string }>>, io: 'input' | 'output'): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    uri: refTo,
    override: ({ zodSchema, jsonSchema }) => {
      const shown = nameOf(shownAs.get(zodSchema as unknown as z.ZodType) ?? z.never())
      if (shown === undefined) return
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
      jsonSchema.$ref = refTo(shown)
    },
  })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, tidy(schema as JsonSchema, io)]))
}

/** Makes what zod writes fit for a reader, and for generators of clients. */
function tidy(schema: JsonSchema, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, $id: __, id: ___, type, description, ...rest } = schema
  const tidied: JsonSchema = { ...(type === undefined ? {} : { type }), ...(description === undefined ? {} : { description }) }
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'properties') {
      const required = (schema.required ?? []) as string[]
      tidied[key] = Object.fromEntries(
        Object.entries(value as Record<string, JsonSchema>).map(([name, property]) => {
          const tidy = tidyProperty(property, io)
          return [name, io === 'input' && !required.includes(name) ? orNull(tidy) : tidy]
        }),
      )
    } else if (key === 'items') tidied[key] = tidy(value as JsonSchema, io)
    else if (key === 'additionalProperties') {
      // Answers may gain fields; requests are refused for any that is not known.
      if (value === false) {
        if (io === 'input') tidied[key] = false
      } else tidied[key] = typeof value === 'object' && value !== null ? tidy(value as JsonSchema, io) : value
    } else if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') tidied[key] = (value as JsonSchema[]).map((each) => tidy(each, io))
    else if (key === 'propertyNames' && (value as JsonSchema).pattern === undefined && (value as JsonSchema).maxLength === undefined) continue
    else if (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) continue
    else if (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) continue
    // Generators for Java make an enum of texts of it.
    else if (key === 'const' && typeof value === 'boolean') continue
    else if (key === 'pattern' && typeof schema.format === 'string') continue
    else tidied[key] = value
  }
  // Without it, generators take the 32 bits of an int, which ids of events and numbers of tokens exceed.
  if (type === 'integer' && !(Number(tidied.maximum) <= INT32_MAX)) tidied.format = 'int64'
  return mergeNull(tidied)
}

const INT32_MAX = 2_147_483_647

/**
 * Defaults are described in words: client generators treat a field with `default` as always present, and would ask the
 * caller of a request to fill in all of them.
 */
function tidyProperty(property: JsonSchema, io: 'input' | 'output'): JsonSchema {
  const { default: value, ...tidied } = tidy(property, io)
  if (io === 'output' || value === undefined || JSON.stringify(value).length > 20) return tidied
  const words = typeof tidied.description === 'string' ? `${tidied.description} ` : ''
  return { ...tidied, description: `${words}Default: ${typeof value === 'string' ? value : JSON.stringify(value)}.` }
}

/** The same, or null: what a request may leave out, it may also send as null (`removeAbsentNulls`). */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, description, anyOf } = schema
  const isNullTaken = (Array.isArray(type) && type.includes('null')) || (Array.isArray(anyOf) && anyOf.some((each) => (each as JsonSchema).type === 'null'))
  if (isNullTaken) return schema
  const words = description === undefined ? {} : { description }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  if (typeof type === 'string' && schema.enum === undefined && schema.const === undefined) return { ...schema, type: [type, 'null'] }
  const { description: _, ...rest } = schema
  return Object.keys(rest).length === 0 ? schema : { ...words, anyOf: [rest, { type: 'null' }] }
}

/** `anyOf: [text, null]` as `type: [text, null]`. */
function mergeNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [first, second] = anyOf as [JsonSchema, JsonSchema]
  if (second.type !== 'null' || typeof first.type !== 'string') return schema
  // A null within an enum is more than most generators take.
  if (first.enum !== undefined) return schema
  return { ...first, ...rest, type: [first.type, 'null'] }
}
