import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Criterion, mergeAllCriteria } from '../index.ts'
import { mergeCriteria } from './criteria.ts'

function criterion(id: string, text: string, source: Criterion['source'] = 'acceptance', state: Criterion['state'] = 'met'): Criterion {
  return { id, text, source, required: true, state }
}

function counter(): () => string {
  let next = 0
  return () => `new-${++next}`
}

const previous = [criterion('1', 'one'), criterion('2', 'two'), criterion('3', 'three', 'success')]

describe('criteria after an edit', () => {
  it.each<[string, Parameters<typeof mergeCriteria>[1], string[]]>([
    ['keep their ids with their texts, in the new order', ['two', 'one'], ['2 two met', '1 one met']],
    ['keep an id that is sent, and are open again when reworded', [{ id: '1', text: 'first' }, 'two'], ['1 first open', '2 two met']],
    ['get an id where they are new', ['one', 'zero', 'two'], ['1 one met', 'new-1 zero open', '2 two met']],
    ['leave an id to the line that names it', ['one', { id: '1', text: 'first' }], ['new-1 one open', '1 first open']],
    [
      'never share one',
      [
        { id: '1', text: 'a' },
        { id: '1', text: 'b' },
      ],
      ['1 a open', 'new-1 b open'],
    ],
    [
      'do not take an id over that the task does not have',
      [
        { id: 'x', text: 'one' },
        { id: 'y', text: 'new' },
      ],
      ['1 one met', 'new-1 new open'],
    ],
    ['do not take one of another source', [{ id: '3', text: 'three' }], ['new-1 three open']],
    ['may all be gone', [], []],
  ])('%s', (_, wanted, expected) => {
    expect(mergeCriteria(previous, wanted, 'acceptance', counter()).map(({ id, text, state }) => `${id} ${text} ${state}`)).toEqual(expected)
  })

  it('are required as they say, whatever they were', () => {
    const merged = mergeAllCriteria(
      previous,
      [
        { text: 'one', source: 'acceptance', required: true },
        { text: 'three', source: 'success', required: false },
        { text: 'Never', source: 'constraint', required: true },
      ],
      counter(),
    )
    expect(merged).toEqual([
      criterion('1', 'one'),
      { ...criterion('3', 'three', 'success'), required: false },
      criterion('new-1', 'Never', 'constraint', 'open'),
    ])
  })

  it('have unique ids, in the order wanted, and stay as they are when nothing changes', () => {
    const texts = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'))
    const wanted = fc.array(fc.record({ text: fc.constantFrom('a', 'b', 'c', 'x'), id: fc.constantFrom('id-a', 'id-b', 'id-z') }, { requiredKeys: ['text'] }))
    fc.assert(
      fc.property(texts, wanted, (before, after) => {
        const stored = before.map((text) => criterion(`id-${text}`, text))
        const merged = mergeCriteria(stored, after, 'acceptance', counter())
        expect(merged.map(({ text }) => text)).toEqual(after.map(({ text }) => text))
        expect(new Set(merged.map(({ id }) => id)).size).toBe(merged.length)
        expect(mergeCriteria(merged, merged, 'acceptance', counter())).toEqual(merged)
      }),
    )
  })
})
