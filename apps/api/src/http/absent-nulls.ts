import { z } from 'zod'

interface Field {
  schema: z.ZodType
  /** Whether the field may be absent, and takes no null of its own. */
  isAbsentAsNull: boolean
}

const known = new WeakMap<z.ZodObject, Map<string, Field>>()

/**
 * Removes each null that stands for an absent field: where the schema lets the field be absent, and gives null no meaning of its own. Many clients
 * write null for what they do not set. Changes the value in place.
 */
export function removeAbsentNulls(schema: z.ZodType, value: unknown): void {
  if (value === null || typeof value !== 'object') return
  const inner = unwrap(schema)
  if (inner instanceof z.ZodUnion) for (const option of inner.options as z.ZodType[]) removeAbsentNulls(option, value)
  else if (inner instanceof z.ZodArray && Array.isArray(value)) for (const each of value) removeAbsentNulls(inner.element as z.ZodType, each)
  else if (inner instanceof z.ZodRecord) for (const each of Object.values(value)) removeAbsentNulls(inner.valueType as z.ZodType, each)
  else if (inner instanceof z.ZodObject) removeFrom(inner, value as Record<string, unknown>)
}

function removeFrom(schema: z.ZodObject, value: Record<string, unknown>): void {
  const fields = fieldsOf(schema)
  for (const [name, given] of Object.entries(value)) {
    const field = fields.get(name)
    if (field === undefined) continue
    if (given === null && field.isAbsentAsNull) delete value[name]
    else removeAbsentNulls(field.schema, given)
  }
}

function fieldsOf(schema: z.ZodObject): Map<string, Field> {
  const made = known.get(schema)
  if (made !== undefined) return made
  const fields = new Map(
    Object.entries(schema.shape).map(([name, field]): [string, Field] => {
      const type = field as z.ZodType
      return [name, { schema: type, isAbsentAsNull: type.safeParse(undefined).success && !type.safeParse(null).success }]
    }),
  )
  known.set(schema, fields)
  return fields
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) return unwrap(schema.unwrap() as z.ZodType)
  return schema instanceof z.ZodPipe ? unwrap(schema.in as z.ZodType) : schema
}
