import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyResult } from '../index.ts'
import type { ResultText } from './result-text.ts'

interface Row {
  verdict: ResultText['kind']
  text: string
  question: string
}

/** The table beside this file, which says how it is written. */
const ROWS: Row[] = readFileSync(new URL('result-texts.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('//') && !line.startsWith('#'))
  .map((line) => {
    const [, verdict = '', text = '', question] = /^(\w+) (".*?(?<!\\)")(?: -> (".*"))?$/.exec(line) ?? []
    return { verdict: verdict as Row['verdict'], text: JSON.parse(text) as string, question: JSON.parse(question ?? text) as string }
  })

describe('the text of a result', () => {
  it.each(ROWS)('comes to $verdict: $text', ({ verdict, text, question }) => {
    expect(classifyResult(text)).toEqual(verdict === 'question' ? { kind: verdict, question } : { kind: verdict })
  })

  it('is known from at least 60 results and 60 others', () => {
    expect(ROWS.filter(({ verdict }) => verdict === 'result').length).toBeGreaterThanOrEqual(60)
    expect(ROWS.filter(({ verdict }) => verdict !== 'result').length).toBeGreaterThanOrEqual(60)
  })

  it('is one as soon as one sentence reports something, whatever list or blank lines it is written in', () => {
    const intention = fc.constantFrom('I will read it.', "I'll go.", 'Let me see!', 'TODO: all of it', 'Now, I am going to start.', 'On it!', 'Which folder?')
    const marker = fc.constantFrom('', '- ', '* ', '3. ', '12) ', '  ', '> ', '**')
    const lines = fc.array(fc.tuple(marker, intention), { minLength: 1, maxLength: 8 }).map((pairs) => pairs.map((pair) => pair.join('')))
    fc.assert(
      fc.property(lines, fc.constantFrom('\n', '\n\n', '\r\n'), fc.nat(8), (texts, separator, place) => {
        expect(classifyResult(texts.join(separator)).kind).not.toBe('result')
        expect(classifyResult(texts.toSpliced(place, 0, 'The build takes 3 minutes.').join(separator))).toEqual({ kind: 'result' })
      }),
    )
  })

  it('is one when it is long, and empty when nothing of it is visible', () => {
    expect(classifyResult('I will do it. '.repeat(2_000))).toEqual({ kind: 'result' })
    expect(classifyResult('I will do it. '.repeat(200))).toEqual({ kind: 'intentions' })
    expect(classifyResult('\u200b'.repeat(1_000_000))).toEqual({ kind: 'empty' })
  })

  it('takes any text, without a pattern that backtracks', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => typeof classifyResult(text).kind === 'string'))
    const pieces = [
      '- ',
      'then ',
      'okay, ',
      "i'",
      '1. ',
      '\n',
      'todo ',
      'so, ',
      'before a',
      ', ',
      'i will ',
      'the ',
      'more ',
      '? ',
      '* ',
      '> ',
      ': ',
      'now ',
      'and ',
    ]
    // A pattern that backtracks would not come back before the test's own time is up.
    for (const piece of pieces) classifyResult(`${piece.repeat(3_990 / piece.length)}x?`)
  })
})
