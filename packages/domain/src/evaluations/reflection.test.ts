import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_WEIGHTS, parseReflection } from './reflection.ts'

function reflect(...lines: string[]): string {
  return ['<npl-reflection>', ...lines, '</npl-reflection>'].join('\n')
}

describe('a reflection', () => {
  it.each<[string, string, number]>([
    ['✅', 'verified', 1],
    ['🐛', 'bug', -0.8],
    ['🔒', 'security', -1],
    ['⚠️', 'pitfall', -0.4],
    ['⚠', 'pitfall', -0.4],
    ['🧩', 'edge_case', -0.5],
    ['📝', 'todo', -0.3],
    ['🚀', 'improvement', 0.5],
    ['🔄', 'refactor', -0.2],
    ['❓', 'question', -0.3],
  ])('gives %s, which is %s, %d', (emoji, category, weight) => {
    const { items, score, categories } = parseReflection(reflect(`- ${emoji} Text: of it`))
    expect(items).toEqual([{ emoji: emoji.replace('\uFE0F', ''), category, text: 'Text: of it', weight }])
    expect(score).toBeCloseTo((weight + 1) / 2, 9)
    expect(categories).toEqual({ [category]: 1 })
  })

  it('lists documents and emoji without a meaning, which do not count', () => {
    const { items, itemCount, score, categories } = parseReflection(reflect('✅ a', '📚 b', '🎉 c', '👩‍💻 d', '🐛‍🔥 e', 'no item', '- text ✅'))
    expect(items.map(({ emoji, category, weight }) => [emoji, category, weight])).toEqual([
      ['✅', 'verified', 1],
      ['📚', 'docs', 0],
      ['🎉', null, 0],
      ['👩‍💻', null, 0],
      ['🐛‍🔥', null, 0],
    ])
    expect({ itemCount, score, categories }).toEqual({ itemCount: 5, score: 1, categories: { verified: 1, docs: 1 } })
  })

  it('has no score where nothing counts', () => {
    expect(parseReflection('Just text. ✅')).toEqual({ items: [], itemCount: 0, score: null, categories: {} })
    expect(parseReflection(reflect('📚 a', '🎉 b')).score).toBeNull()
  })

  it('is all of a text, whatever its blocks are called, with the last unclosed, and without check-ins and code', () => {
    const text = [
      '<npl-block type="reflection">\n✅ a\n</npl-block>',
      '<npl-block type="check-in">\n🐛 check-in\n</npl-block>',
      '```\n<npl-ref>\n🔒 code\n</npl-ref>\n```',
      '<npl-ref>\n✅ b\n</npl-ref>',
      '<npl-reflection>\n🐛 c\n```\n🔒 d\n```\n❓ e',
    ].join('\n')
    const { items, score } = parseReflection(text)
    expect(items.map(({ text: said }) => said)).toEqual(['a', 'b', 'c', 'e'])
    // (1 + 1 − 0.8 − 0.3) / 4 is 0.225.
    expect(score).toBe(0.6125)
  })

  it('takes the weights of a project; what weighs nothing does not count', () => {
    const text = reflect('✅ a', '🐛 b', '📝 c')
    expect(parseReflection(text, { ...DEFAULT_WEIGHTS, bug: -1, todo: 0 }).score).toBe(0.5)
    expect(parseReflection(text, { ...DEFAULT_WEIGHTS, bug: 0, todo: 0 }).score).toBe(1)
  })

  it('keeps what weighs against it, however much of the other there is, and counts all', () => {
    const { items, itemCount, categories } = parseReflection(
      reflect(...Array<string>(1_000).fill('✅ a'), ...Array<string>(1_000).fill(`🔒 ${'b'.repeat(9_000)}`)),
    )
    expect({ itemCount, categories }).toEqual({ itemCount: 2_000, categories: { verified: 1_000, security: 1_000 } })
    expect(items.filter(({ weight }) => weight > 0)).toHaveLength(200)
    expect(items.filter(({ weight }) => weight < 0)).toHaveLength(200)
    expect(Math.max(...items.map(({ text }) => text.length))).toBe(500)
  })

  it('scores between 0 and 1, the same in any order', () => {
    const emoji = fc.constantFrom('✅', '🐛', '🔒', '⚠️', '🧩', '📝', '🚀', '🔄', '❓', '📚', '🎉')
    fc.assert(
      fc.property(fc.array(emoji, { maxLength: 60 }), (lines) => {
        const { score } = parseReflection(reflect(...lines))
        expect(score === null || (score >= 0 && score <= 1)).toBe(true)
        expect(parseReflection(reflect(...lines.toReversed())).score).toBe(score)
      }),
    )
  })
})
