import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isImperative, isMeasurable, isVague } from './brief-wording.ts'

type Row = [kind: 'criterion' | 'constraint' | 'instruction', verdict: string, text: string]

const read = (name: string): Row[] => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))
/** The rules were written by these. */
const CORPUS = read('./brief-wording.corpus.json')
/** These were written after the rules, to see how they do with what they were not made for. */
const HELD_OUT = read('./brief-wording.held-out.json')

function verdictOn(kind: Row[0], text: string): string {
  if (kind === 'criterion') return isMeasurable(text) ? 'ok' : 'not_measurable'
  if (kind === 'constraint') return isImperative(text) ? 'ok' : 'not_imperative'
  return isVague(text) ? 'vague' : 'ok'
}

describe('the wording of briefs', () => {
  it('is judged on a corpus of at least 150 texts, each once', () => {
    const texts = [...CORPUS, ...HELD_OUT].map(([kind, , text]) => `${kind}: ${text}`)
    expect(new Set(texts).size).toBe(texts.length)
    expect(texts.length).toBeGreaterThanOrEqual(150)
  })

  it.each(CORPUS)('%s, %s: %s', (kind, verdict, text) => {
    expect(verdictOn(kind, text)).toBe(verdict)
  })

  it('is judged right for at least 95 % of the texts that were held out, and no vague one passes', () => {
    const missed = HELD_OUT.filter(([kind, verdict, text]) => verdictOn(kind, text) !== verdict)
    expect(missed.filter(([, verdict]) => verdict !== 'ok')).toEqual([])
    expect(missed.length / HELD_OUT.length).toBeLessThanOrEqual(0.05)
  })

  it.each([
    'Mustard is fine',
    'Notes are welcome',
    'Nobody will mind',
    'There is no hurry',
    'It is the only way',
    'Whenever possible, be quick',
    'Scannot works',
    '',
  ])('takes no part of a word for a word: %j is no constraint', (text) => {
    expect(isImperative(text)).toBe(false)
  })

  it.each([
    '5 секунд на ответ',
    '回答は3秒以内',
    'Costs $5 or less',
    'Uses up to 2 GiB',
    'Takes 1.5 s',
    'It passes',
    'No regressions',
    'The signature verifies',
  ])('finds numbers with units and words of outcome: %j can be measured', (text) => {
    expect(isMeasurable(text)).toBe(true)
  })

  it('takes no time over long texts', () => {
    for (const text of ['a'.repeat(100_000), 'a '.repeat(50_000), 'make it '.repeat(20_000), '('.repeat(100_000)]) {
      expect([isMeasurable(text), isImperative(text), isVague(text)]).toHaveLength(3)
    }
  })
})
