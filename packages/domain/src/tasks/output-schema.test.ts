import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkOutputSchema, outputProblems } from '../index.ts'
import { OUTPUT_SCHEMA_BYTES_MAX } from './output-schema.ts'

const SCHEMA_2020 = 'https://json-schema.org/draft/2020-12/schema'

function required(schema: Record<string, unknown> | null, name = 'files') {
  return [{ name, description: null, schema }]
}

/** Why a value does not fit a schema, or null. */
function reasonOf(schema: Record<string, unknown>, value: unknown): string | null {
  return outputProblems(required(schema), { files: value })[0]?.reason ?? null
}

describe('the schema of an output', () => {
  it.each([
    {},
    { type: 'array', items: { type: 'string', format: 'date' }, minItems: 1 },
    { $schema: SCHEMA_2020, prefixItems: [{ const: 1 }], items: false, unevaluatedItems: false },
    { $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } }, $ref: '#/$defs/node' },
    { $id: 'https://example.com/a', $defs: { b: { $id: 'b', type: 'string' } }, $ref: 'b' },
    { type: 'string', pattern: '^\\p{L}{1,20}$', format: 'of-our-own', 'x-note': 'annotations are allowed' },
    { dependentRequired: { a: ['b'] }, contains: { type: 'integer' }, minContains: 2 },
  ])('is fine: %j', (schema) => {
    expect(checkOutputSchema(schema)).toBeNull()
  })

  it.each([
    [null, 'must be a JSON Schema object'],
    [[], 'must be a JSON Schema object'],
    ['string', 'must be a JSON Schema object'],
    [true, 'must be a JSON Schema object'],
    [{ type: 'strin' }, 'is no JSON Schema: /type must be equal to one of the allowed values'],
    [{ properties: { a: 1 } }, 'is no JSON Schema: /properties/a must be object,boolean'],
    [{ required: 'a' }, 'is no JSON Schema: /required must be array'],
    [{ minLength: -1 }, 'is no JSON Schema: /minLength must be >= 0'],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, `must be of the dialect ${SCHEMA_2020}, or name none`],
    [{ $ref: 'https://example.com/schema.json' }, 'refers to https://example.com/schema.json, which is not part of it; nothing is fetched from elsewhere'],
    [{ $ref: '#/$defs/missing' }, 'refers to #/$defs/missing, which is not part of it; nothing is fetched from elsewhere'],
    [{ pattern: '(' }, 'does not compile'],
    [{ pattern: '(?=a)' }, 'does not compile'],
    [{ pattern: '(a)\\1' }, 'does not compile'],
    [{ pattern: '((x{0,100}){0,100}){0,1000}' }, 'does not compile'],
    [{ patternProperties: { '[': {} } }, 'does not compile'],
  ])('is refused: %j', (schema, reason) => {
    expect(checkOutputSchema(schema)).toContain(reason)
  })

  it('may take 16 KiB and no more', () => {
    const filling = OUTPUT_SCHEMA_BYTES_MAX - JSON.stringify({ description: '' }).length
    expect(checkOutputSchema({ description: 'x'.repeat(filling) })).toBeNull()
    expect(checkOutputSchema({ description: 'x'.repeat(filling + 1) })).toContain(`takes ${OUTPUT_SCHEMA_BYTES_MAX + 1}`)
    expect(checkOutputSchema({ description: 'ä'.repeat(filling / 2 + 1) })).toContain('must take at most')
  })

  it('may be nested as deeply as its size allows, without harm', () => {
    let schema: Record<string, unknown> = { type: 'string' }
    for (let depth = 0; depth < 1_800; depth += 1) schema = { not: schema }
    expect(['string', 'object']).toContain(typeof checkOutputSchema(schema))
  })

  it('has names of its own, which no other schema sees', () => {
    const first = {
      $id: 'https://example.com/x',
      $defs: { secret: { $id: 'https://example.com/secret', type: 'integer' } },
      $ref: 'https://example.com/secret',
    }
    expect(checkOutputSchema(first)).toBeNull()
    expect(checkOutputSchema({ $ref: 'https://example.com/secret' })).toMatch(/^refers to/)
    expect(reasonOf({ ...first, $defs: { secret: { $id: 'https://example.com/secret', type: 'string' } } }, 'text')).toBeNull()
    expect(reasonOf(first, 'text')).toBe('must be integer')
  })
})

describe('the outputs of a result', () => {
  it('are missing when they are absent or null', () => {
    const needed = ['a', 'b', 'c', 'd', 'toString', '__proto__'].flatMap((name) => required(null, name))
    const outputs = JSON.parse('{"a": null, "c": "x", "d": 1}')
    expect(outputProblems(needed, outputs).map(({ name }) => name)).toEqual(['a', 'b', 'toString', '__proto__'])
    expect(outputProblems(required(null, '__proto__'), JSON.parse('{"__proto__": 1}'))).toEqual([])
  })

  it.each([
    ['', 'is empty: a text must contain at least one visible character'],
    ['   ', 'is empty: a text must contain at least one visible character'],
    ['\n\u200B\u2060\uFEFF\u3164', 'is empty: a text must contain at least one visible character'],
    [[], 'is empty: a list must contain at least one item'],
    [{}, 'is empty: an object must contain at least one field'],
  ])('are refused when they are empty and have no schema: %j', (value, reason) => {
    expect(outputProblems(required(null), { files: value })).toEqual([{ name: 'files', reason }])
  })

  it.each([false, 0, -0, true, '0', ' x ', [null], [''], { a: null }])('are accepted without a schema when they are values: %j', (value) => {
    expect(outputProblems(required(null), { files: value })).toEqual([])
  })

  it.each([
    [{ type: 'array' }, []],
    [{ type: 'object' }, {}],
    [{ type: 'string' }, ''],
    [{}, []],
  ])('are left to their schema when they are empty and have one: %j', (schema, value) => {
    expect(reasonOf(schema, value)).toBeNull()
  })

  it.each([
    [{ type: 'array', items: { type: 'object', properties: { size: { type: 'integer' } } } }, [{ size: 1 }, { size: 'x' }], '/1/size must be integer'],
    [{ type: 'object', required: ['a'] }, {}, "must have required property 'a'"],
    [{ type: 'object', required: ['constructor'] }, {}, "must have required property 'constructor'"],
    [{ type: 'object', additionalProperties: false }, { extra: 1 }, 'must NOT have additional properties: "extra"'],
    [{ enum: ['red', 'green'] }, 'blue', 'must be equal to one of the allowed values: ["red","green"]'],
    [{ format: 'date' }, '2026-02-30', 'must match format "date"'],
    [{ pattern: '^a+$' }, 'ab', 'must match pattern "^a+$"'],
    [{ uniqueItems: true }, [1, 2, 1], 'must NOT have duplicate items (items ## 0 and 2 are identical)'],
    [
      { $ref: 'https://example.com/x' },
      1,
      'cannot be checked: its schema refers to https://example.com/x, which is not part of it; nothing is fetched from elsewhere',
    ],
  ])('do not fit: %j', (schema, value, reason) => {
    expect(reasonOf(schema, value)).toBe(reason)
  })

  it('are each named with what is wrong, in the order they are required', () => {
    const needed = [...required({ type: 'string' }, 'b'), ...required({ type: 'string' }, 'ok'), ...required(null, 'a')]
    expect(outputProblems(needed, { b: 1, ok: 'x', extra: true })).toEqual([
      { name: 'b', reason: 'must be string' },
      { name: 'a', reason: 'is missing' },
    ])
  })

  it('are judged alike however often, and by however many schemas', () => {
    for (const minimum of [...Array(205).keys(), 0, 204]) {
      expect(reasonOf({ type: 'integer', minimum }, minimum - 1)).toBe(`must be >= ${minimum}`)
      expect(reasonOf({ type: 'integer', minimum }, minimum)).toBeNull()
    }
  })

  it('are not passed off by a pattern that would take for ever, and never hold anybody up', () => {
    expect(reasonOf({ pattern: '^(a+)+$' }, `${'a'.repeat(5_000)}b`)).toBe('must match pattern "^(a+)+$"')
    // Definitions that double at each of 40 steps.
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, step) => [`d${step}`, { allOf: [{ $ref: `#/$defs/d${step + 1}` }, { $ref: `#/$defs/d${step + 1}` }] }]),
    )
    expect(reasonOf({ $defs: { ...$defs, d40: { type: 'integer' } }, $ref: '#/$defs/d0' }, 1)).toBe('takes too long to be checked against its schema')
    expect(reasonOf({ type: 'integer' }, 1)).toBeNull()
  })

  it('may be any JSON, for any schema that compiles', () => {
    const schemas = [{ type: 'object' }, { items: { $ref: '#' } }, { pattern: 'a' }, { uniqueItems: true }, { unevaluatedProperties: false }] as Record<
      string,
      unknown
    >[]
    fc.assert(
      fc.property(fc.constantFrom(...schemas), fc.jsonValue({ maxDepth: 2 }), (schema, value) => {
        const reason = reasonOf(schema, value)
        expect(reason === null || reason.length > 0).toBe(true)
      }),
      { numRuns: 40 },
    )
  })
})
