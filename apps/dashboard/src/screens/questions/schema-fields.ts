/** A field of a form that a JSON Schema asks for. The server validates the answer against the schema itself. */
export interface FormField {
  name: string
  /** The name in the form. Not the one of the schema, whose author could choose one that a form has already: `submit`, `nodeName`. */
  key: string
  label: string
  description: string | undefined
  type: 'string' | 'number' | 'integer' | 'boolean'
  choices: string[] | undefined
  isRequired: boolean
  initial: string | undefined
  /** Of a text its length, of a number its value. */
  min: number | undefined
  max: number | undefined
}

type Schema = Record<string, unknown>

/**
 * The fields of a schema that is an object of texts, numbers, choices and yes or no.
 *
 * @returns null for any other schema: its answer is written as JSON
 */
export function fieldsOf(schema: Schema): FormField[] | null {
  if (schema.type !== 'object' || !isObject(schema.properties)) return null
  const required = Array.isArray(schema.required) ? schema.required : []
  const fields = Object.entries(schema.properties).map(([name, property], index) => fieldOf(name, `field-${index}`, property, required.includes(name)))
  return fields.length > 0 && fields.every((field) => field !== null) ? fields : null
}

function fieldOf(name: string, key: string, property: unknown, isRequired: boolean): FormField | null {
  if (!isObject(property)) return null
  const choices = Array.isArray(property.enum) && property.enum.every((each) => typeof each === 'string') ? (property.enum as string[]) : undefined
  const type = choices === undefined ? property.type : 'string'
  if (type !== 'string' && type !== 'number' && type !== 'integer' && type !== 'boolean') return null
  const isText = type === 'string'
  return {
    name,
    key,
    label: textOf(property.title) ?? name,
    description: textOf(property.description),
    type,
    choices,
    isRequired,
    initial: property.default === undefined ? undefined : String(property.default),
    min: numberOf(isText ? property.minLength : property.minimum),
    max: numberOf(isText ? property.maxLength : property.maximum),
  }
}

/** The answer that a filled-in form stands for. Optional fields that are empty are left out. */
export function readFields(fields: readonly FormField[], form: FormData): Record<string, unknown> {
  const answer: Record<string, unknown> = {}
  for (const { name, key, type, isRequired } of fields) {
    const value = form.get(key)
    if (type === 'boolean') answer[name] = value !== null
    else if (value === null || (value === '' && !isRequired)) continue
    else answer[name] = type === 'string' ? String(value) : Number(value)
  }
  return answer
}

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
