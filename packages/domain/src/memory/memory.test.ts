import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readMemoryQuestion } from '../index.ts'

describe('a question, word by word', () => {
  it.each([
    ['where is the zebra kept', '"where" "is" "the" "zebra" "kept"', ['where', 'zebra', 'kept', 'the', 'is'], ''],
    ['zebra OR lion or "or"', '"zebra" or "lion" or "or"', ['zebra', 'lion', 'or'], ''],
    ['"port 5432" database', '"port 5432" "database"', ['port 5432', 'database'], ''],
    ['database -draft -"first try" port', '"database" -"draft" -"first try" "port"', ['database', 'port'], '-"draft" -"first try"'],
    ['Port port PORT', '"Port" "port" "PORT"', ['PORT'], ''],
    ['state-of-the-art', '"state of the art"', ['state of the art'], ''],
    ['src/parser/lexer.ts -foo_bar', '"src parser lexer ts" -"foo bar"', ['src parser lexer ts'], '-"foo bar"'],
    ['joe@example.com --force', '"joe example com" "force"', ['joe example com', 'force'], ''],
    ['"never closed', '"never closed"', ['never closed'], ''],
    ['--- - "" ?', '', [], ''],
    ['  ', '', [], ''],
  ])('%j', (text, wanted, words, without) => {
    expect(readMemoryQuestion(text)).toEqual({ wanted, words, without })
  })

  it('keeps the longest words of a long one', () => {
    const words = Array.from({ length: 30 }, (_, place) => 'x'.repeat(place + 1))
    expect(readMemoryQuestion(words.join(' ')).words).toEqual(words.slice(10).reverse())
  })

  it('reads any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(readMemoryQuestion(text).words.length).toBeLessThanOrEqual(20)
      }),
    )
  })
})
