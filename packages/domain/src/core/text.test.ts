import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codePointLength, cutToBytes, cutToCodePoints, toStorableJson, toStorableText, unstorableJsonReason, unstorableReason } from '../index.ts'

/** Any UTF-16 at all: lone surrogates, U+0000, and everything a user would never type. */
const anyText = fc.oneof(fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }), fc.string({ unit: 'binary' }))
const wellFormed = anyText.map(toStorableText)

const bytesOf = (text: string) => Buffer.byteLength(text)

describe('cutToBytes', () => {
  it('keeps the longest prefix that fits and ends at a code point', () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(60), (text, bytesMax) => {
        const cut = cutToBytes(text, bytesMax)
        expect(bytesOf(cut.text)).toBeLessThanOrEqual(bytesMax)
        expect(text.startsWith(cut.text)).toBe(true)
        expect(cut.text.isWellFormed()).toBe(true)
        expect(cut.truncated).toBe(cut.text !== text)
        const next = [...text.slice(cut.text.length)][0]
        if (cut.truncated) expect(bytesOf(cut.text + next)).toBeGreaterThan(bytesMax)
      }),
    )
  })

  it.each([
    ['abc', 3, 'abc', false],
    ['abcd', 3, 'abc', true],
    ['ä', 1, '', true],
    ['a€b', 3, 'a', true],
    ['a🎉b', 5, 'a🎉', true],
    ['a🎉b', 4, 'a', true],
    ['', 0, '', false],
  ])('%j to %i bytes is %j', (text, bytesMax, kept, truncated) => {
    expect(cutToBytes(text, bytesMax)).toEqual({ text: kept, truncated })
  })
})

describe('cutToCodePoints', () => {
  it('keeps short texts as they are, and that many code points of longer ones with an ellipsis', () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(40), (text, pointsMax) => {
        const cut = cutToCodePoints(text, pointsMax)
        const points = [...text]
        expect(cut).toBe(points.length <= pointsMax ? text : `${points.slice(0, pointsMax).join('')}…`)
        expect(cut.isWellFormed()).toBe(true)
      }),
    )
  })
})

describe('codePointLength', () => {
  it('counts as people do', () => {
    expect(codePointLength('a🎉€')).toBe(3)
    fc.assert(fc.property(anyText, (text) => codePointLength(text) === [...text].length))
  })
})

describe('text that cannot be stored', () => {
  it('is named, and replaced without changing anything else', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const storable = toStorableText(text)
        expect(unstorableReason(storable)).toBeNull()
        expect(storable).toHaveLength(text.length)
        expect(storable === text).toBe(unstorableReason(text) === null)
        expect(Buffer.from(storable, 'utf8').toString('utf8')).toBe(storable)
      }),
    )
  })

  it('is found anywhere inside JSON, in keys too', () => {
    expect(unstorableJsonReason({ a: [{ 'b\0': 1 }] })).toMatch(/U\+0000/)
    expect(unstorableJsonReason([['x'], { y: 'a\ud800' }])).toMatch(/surrogates/)
    expect(unstorableJsonReason({ a: [1, true, null, 'ä🎉'] })).toBeNull()
  })

  it('is replaced anywhere inside JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), anyText, (value, text) => {
        const storable = toStorableJson({ value, [text]: [text] })
        expect(unstorableJsonReason(storable)).toBeNull()
        expect(toStorableJson(storable)).toEqual(storable)
      }),
    )
  })

  it('is all that is replaced', () => {
    const value = { list: [1, 2.5, null, true, 'ä'], nested: { empty: {} } }
    expect(toStorableJson(value)).toEqual(value)
    // A key that would otherwise be taken for the object's prototype.
    expect(JSON.stringify(toStorableJson(JSON.parse('{"__proto__": {"a": 1}}')))).toBe('{"__proto__":{"a":1}}')
  })
})
