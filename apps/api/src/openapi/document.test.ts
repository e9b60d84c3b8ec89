import { ERROR_CODES } from '@muster/domain'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { endpoints } from '../routes/index.ts'
import { describeApi } from './document.ts'

type Json = Record<string, unknown>

const document = describeApi(endpoints(new Registry())) as { paths: Record<string, Record<string, Json>>; components: Record<string, Record<string, Json>> }
const operations = Object.values(document.paths).flatMap((item) => Object.values(item))

/** Every schema within a part of the document, with its place and whether it stands under a name of its own. */
function* schemasIn(value: unknown, place: string, isNamed = false): Generator<{ place: string; isNamed: boolean; schema: Json }> {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* schemasIn(each, `${place}/${index}`)
    return
  }
  if (typeof value !== 'object' || value === null) return
  yield { place, isNamed, schema: value as Json }
  for (const [key, inner] of Object.entries(value)) {
    // What these hold is data, which may look like a schema.
    if (['example', 'examples', 'default', 'enum', 'const', 'x-errors'].includes(key)) continue
    yield* schemasIn(inner, `${place}/${key}`)
  }
}

const everySchema = [
  ...Object.entries(document.components.schemas ?? {}).flatMap(([name, schema]) => [...schemasIn(schema, name, true)]),
  ...Object.entries(document.paths).flatMap(([path, item]) => [...schemasIn(item, path)]),
  ...Object.entries(document.components.parameters ?? {}).flatMap(([name, parameter]) => [...schemasIn(parameter, name)]),
]
const placesOf = (fits: (found: { isNamed: boolean; schema: Json }) => boolean): string[] => everySchema.filter(fits).map(({ place }) => place)

const isSchemaOf = (type: string) => (schema: Json) => schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type))

describe('the reference, for generators of clients', () => {
  it('gives every object a name', () => {
    const anonymous = placesOf(({ isNamed, schema }) => !isNamed && isSchemaOf('object')(schema) && schema.properties !== undefined).filter(
      (place) => !place.includes('multipart/form-data'),
    )
    expect(anonymous, "wrap each of these in component('Name', z.object(…)), or in requestComponent where it is a part of a request").toEqual([])
  })

  it('gives every enum a name, once', () => {
    const anonymous = placesOf(({ isNamed, schema }) => !isNamed && Array.isArray(schema.enum))
    expect(anonymous, "wrap each of these in component('Name', z.enum(…)), or use the schema of the same enum that has a name").toEqual([])
    const enums = Object.entries(document.components.schemas ?? {}).flatMap(([name, { enum: values }]) =>
      Array.isArray(values) ? [[JSON.stringify(values.toSorted()), name] as const] : [],
    )
    const twice = [...Map.groupBy(enums, ([values]) => values).values()].filter(({ length }) => length > 1).map((same) => same.map(([, name]) => name))
    expect(twice, 'make one of these of the others').toEqual([])
  })

  it('has no null in an enum', () => {
    expect(
      placesOf(({ schema }) => Array.isArray(schema.enum) && schema.enum.includes(null)),
      'write named.nullable()',
    ).toEqual([])
  })

  it('answers every error with one Problem, and names its codes', () => {
    expect(Object.keys(document.components.responses ?? {})).toEqual(['Problem'])
    for (const { responses, 'x-errors': codes } of operations) {
      expect((responses as Json).default).toEqual({ $ref: '#/components/responses/Problem' })
      for (const code of codes as string[]) expect(ERROR_CODES).toHaveProperty(code)
    }
  })

  it('describes a parameter that several operations take once', () => {
    const own = operations.flatMap(({ parameters = [] }) => (parameters as Json[]).filter(({ $ref }) => $ref === undefined)).map((each) => JSON.stringify(each))
    expect(own.length).toBe(new Set(own).size)
  })

  it('gives the schema of an event to each event stream', () => {
    const streams = operations
      .flatMap(({ responses }) => Object.values(responses as Json))
      .flatMap((answer) => ((answer as Json).content as Json)?.['text/event-stream'] ?? [])
    expect(streams.length).toBeGreaterThan(1)
    for (const stream of streams) expect(stream).toMatchObject({ schema: { $ref: '#/components/schemas/Event' } })
  })

  it('gives integers that may exceed 32 bits their format', () => {
    const without = placesOf(({ schema }) => isSchemaOf('integer')(schema) && schema.format !== 'int64' && !(Number(schema.maximum) <= 2 ** 31 - 1))
    expect(without).toEqual([])
  })

  it('leads from answers to at least 75 operations, and to every one with an id in its path', () => {
    const linked = new Set(
      operations
        .flatMap(({ responses }) => Object.values(responses as Json))
        .flatMap((answer) => Object.values(((answer as Json).links ?? {}) as Record<string, Json>).map(({ operationId }) => operationId)),
    )
    const withId = Object.entries(document.paths).flatMap(([path, item]) => (path.includes('{') ? Object.values(item) : []))
    const unreached = withId.map(({ operationId }) => operationId).filter((operationId) => !linked.has(operationId))
    expect(unreached, 'add the path, and the answer that has its id, to PATHS in links.ts').toEqual([])
    expect(linked.size).toBeGreaterThanOrEqual(75)
  })

  it('links only with parameters that the operation has, from answers that there are', () => {
    const byId = new Map(operations.map((operation) => [operation.operationId, operation]))
    for (const operation of operations) {
      for (const answer of Object.values(operation.responses as Json)) {
        for (const [name, link] of Object.entries(((answer as Json).links ?? {}) as Record<string, { operationId: string; parameters: Json }>)) {
          const target = byId.get(link.operationId)
          const taken = ((target?.parameters ?? []) as Json[]).map((each) => nameOf(each))
          expect(taken, name).toEqual(expect.arrayContaining(Object.keys(link.parameters)))
          const body = Object.values(((answer as Json).content ?? {}) as Record<string, Json>)[0]?.schema
          for (const expression of Object.values(link.parameters).map(String)) {
            const pointer = expression.startsWith('$response.body#') ? expression.slice('$response.body#/'.length).split('/') : []
            expect(hasPointer(body, pointer), `${operation.operationId} answers ${expression}`).toBe(true)
          }
        }
      }
    }
  })
})

function hasPointer(schema: unknown, [step, ...rest]: string[]): boolean {
  if (step === undefined) return true
  const { $ref, items, properties } = schema as { $ref?: string; items?: unknown; properties?: Json }
  if ($ref !== undefined) return hasPointer(document.components.schemas?.[$ref.split('/').at(-1) ?? ''], [step, ...rest])
  const inner = step === '0' ? items : properties?.[step]
  return inner !== undefined && hasPointer(inner, rest)
}

function nameOf(parameter: Json): unknown {
  if (typeof parameter.$ref !== 'string') return parameter.name
  return document.components.parameters?.[parameter.$ref.split('/').at(-1) ?? '']?.name
}
