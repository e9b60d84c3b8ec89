/** As much of OpenAPI 3.1 as Muster's document uses. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  format?: string
  default?: unknown
  example?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
  example?: unknown
}

export type Content = Record<string, { schema: Schema; example?: unknown }>

export interface Answer {
  description: string
  headers?: Record<string, unknown>
  content?: Content
}

interface Ref {
  $ref: string
}

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security?: unknown[]
  parameters?: (Parameter | Ref)[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Answer | Ref>
  'x-required-scope'?: string
  'x-errors'?: string[]
}

export interface ApiDocument {
  info: { title: string; version: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
  'x-error-codes': Record<string, { status: number; retryable: boolean; summary: string }>
}

/** An operation with where it is, and the words by which the filter finds it. */
export interface Entry {
  method: string
  path: string
  operation: Operation
  words: string
}

/** What a reference of the document stands for; anything else is itself. */
export function resolve<Part extends object>(document: ApiDocument, part: Part | Ref): Part {
  if (!('$ref' in part) || typeof part.$ref !== 'string') return part as Part
  const [, , kind = '', name = ''] = part.$ref.split('/')
  return document.components[kind]?.[name] as Part
}

/** The name of a schema that has one. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

/** Every operation, in the order of the document. */
export function entriesOf(document: ApiDocument): Entry[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const fields = Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) => Object.keys(resolve(document, schema).properties ?? {}))
      const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter).name)
      const { operationId, tags, summary, description } = operation
      const words = [method, path, operationId, summary, description, ...tags, ...fields, ...parameters].join(' ').toLowerCase()
      return { method: method.toUpperCase(), path, operation, words }
    }),
  )
}

/** Whether an entry has all words of a filter. */
export function matches(words: string, filter: string): boolean {
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word))
}

/** An example of a body: that of its schema, which the document has for every request. */
export function exampleOf(document: ApiDocument, { schema, example }: { schema: Schema; example?: unknown }): unknown {
  if (example !== undefined) return example
  const { example: own, examples } = resolve(document, schema)
  return own ?? examples?.[0]
}
