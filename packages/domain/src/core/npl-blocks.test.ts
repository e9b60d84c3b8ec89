import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findBlocks } from '../index.ts'
import { linesOf, readItem } from './npl-blocks.ts'

/** `kind(line|line)`, with a `…` behind those that are not closed. */
function shortly(text: string): string[] {
  return findBlocks(text).map(({ kind, text: inside, isClosed }) => {
    const lines = [...linesOf(inside)].map((line) => line.trim()).filter((line) => line.replaceAll('>', '') !== '')
    return `${kind}(${lines.join('|')})${isClosed ? '' : '…'}`
  })
}

describe('blocks', () => {
  it.each<[string, string, string[]]>([
    ['no block', 'Just text with <b>tags</b>.', []],
    ['a reflection', '<npl-block type="reflection">\n✅ a\n🐛 b\n</npl-block>', ['reflection(✅ a|🐛 b)']],
    ['its other names', '<npl-reflection>\n✅ a\n</npl-reflection>\n<npl-ref>✅ b</npl-ref>', ['reflection(✅ a)', 'reflection(✅ b)']],
    ['a check-in', '<npl-block type="check-in" task-id="1">\n- ✅ a\n</npl-block>', ['check_in(- ✅ a)']],
    ['any way to write it', "<NPL-Block  foo TYPE = 'Check_In' task-id=1 >\n✅ a\n</NPL-BLOCK >", ['check_in(✅ a)']],
    [
      'a result, with its code fences and without a line',
      '<npl-block type="result" task-id="1">\n```json\n{}\n```\n</npl-block>\n<npl-block type="Result">\n</npl-block>',
      ['result(```json|{}|```)', 'result()'],
    ],
    ['a result in a code fence', '```\n<npl-block type="result">\n{}\n</npl-block>\n```', []],
    ['other types', '<npl-block type="plan">\n✅ a\n</npl-block>\n<npl-block>\n✅ b\n</npl-block>', []],
    ['other names', '<npl-refx>\n✅ a\n</npl-refx>\n<npl-ref-2>\n✅ b\n', []],
    ['nothing inside', '<npl-ref></npl-ref><npl-ref/><npl-ref />', []],
    ['a check-in without a line, which still names a revision', '<npl-block type="check-in" revision="2"></npl-block>', ['check_in()']],
    ['an unclosed last one', 'a\n<npl-ref>\n✅ a\n\n✅ b', ['reflection(✅ a|✅ b)…']],
    ['an unclosed one before another', '<npl-ref>\n✅ a\n<npl-ref>\n✅ b\n</npl-ref>', ['reflection(✅ a)…', 'reflection(✅ b)']],
    ['one that is closed by the other name', '<npl-reflection>\n✅ a\n</npl-ref>\n✅ b', ['reflection(✅ a)']],
    ['a mention inside of one', '<npl-ref>\n🐛 the <npl-ref> tag\n</npl-ref>', ['reflection(🐛 the <npl-ref> tag)']],
    ['text around it on its lines', 'So: <npl-ref>✅ a\n✅ b</npl-ref> done\n✅ c', ['reflection(✅ a|✅ b)']],
    ['a quotation', '> <npl-ref>\n> ✅ a\n>\n> </npl-ref>\n> ✅ b', ['reflection(> ✅ a)']],
    ['a stray end', '</npl-ref>\n✅ a', []],
    ['a tag without an end', '<npl-ref\n✅ a\n>', []],
  ])('%s', (_, text, expected) => {
    expect(shortly(text)).toEqual(expected)
  })

  it.each(['\n', '\r\n', '\r', '\n\r\n'])('whatever ends the lines: %j', (end) => {
    expect(shortly(['<npl-ref>', '✅ a', '```', '✅ b', '```', '✅ c', '</npl-ref>', ''].join(end))).toEqual(['reflection(✅ a|✅ c)'])
  })

  const block = '<npl-ref>\n✅ a\n</npl-ref>'
  const closedFence = (before: string, after: string) => [before, block, after, '<npl-ref>✅ after</npl-ref>'].join('\n')
  it.each<[string, string]>([
    ['```', '```'],
    ['~~~', '~~~'],
    ['```markdown', '```'],
    ['   ```', ' ```  '],
    ['~~~~ `x`', '~~~~~'],
    ['````\n```', '````'],
    ['```\n~~~', '```'],
    ['- ```', '  ```'],
    ['1. ```js', '   ```'],
    ['> ```', '> ```'],
    ['- > - ```', '   >   ```'],
  ])('are text inside of a fence from %j to %j', (before, after) => {
    expect(shortly(closedFence(before, after))).toEqual(['reflection(✅ after)'])
  })

  it.each<[string, string]>([
    ['    ```', '    ```'],
    ['\t```', '\t```'],
    ['``', '``'],
    ['```a`b', 'c'],
    ['text ```', 'text'],
    ['-```', '-'],
  ])('count where there is no fence, as after %j', (before, after) => {
    expect(shortly(closedFence(before, after))).toEqual(['reflection(✅ a)', 'reflection(✅ after)'])
  })

  it.each(['```\n', '~~~\n', '````\n```\n', '```\n~~~\n', '```\n``` x\n', '~~~\n```\n    ~~~\n'])(
    'are text up to the end where a fence does not end: %j',
    (before) => {
      expect(shortly(`${before}${block}`)).toEqual([])
    },
  )

  it.each<[string, string[]]>([
    ['Use `<npl-ref>` for it.\n✅ a', []],
    ['Use ``<npl-ref> ` `` for it.\n✅ a', []],
    ['A tick ` and <npl-ref>✅ a</npl-ref>', ['reflection(✅ a)']],
    ['`a` <npl-ref>✅ a</npl-ref> `b`', ['reflection(✅ a)']],
    ['`a <npl-ref>✅ a</npl-ref> ``', ['reflection(✅ a)']],
    ['<npl-ref>\n✅ the `</npl-ref>` tag\n</npl-ref>', ['reflection(✅ the `</npl-ref>` tag)']],
  ])('are text between backticks: %j', (text, expected) => {
    expect(shortly(text)).toEqual(expected)
  })

  it('carry the attributes of their tags, the first of each name', () => {
    const [found] = findBlocks(`<npl-block type="check-in" Task-Id='a "b"' revision=7 revision=8 done constructor="x" __proto__="y" =z>\n✅ a`)
    expect({ ...found?.attributes }).toEqual(
      Object.fromEntries([
        ['type', 'check-in'],
        ['task-id', 'a "b"'],
        ['revision', '7'],
        ['done', ''],
        ['constructor', 'x'],
      ]),
    )
    expect(found?.tag).toBe('npl-block')
  })
})

describe('a line of a block', () => {
  it.each<[string, string | null, string | null, string]>([
    ['✅ a', '✅', 'verified', 'a'],
    ['  - 🐛 Rate: limited', '🐛', 'bug', 'Rate: limited'],
    ['* 🔒 a', '🔒', 'security', 'a'],
    ['+ ⚠️ a', '⚠', 'pitfall', 'a'],
    ['• ⚠ a', '⚠', 'pitfall', 'a'],
    ['-⚠︎a', '⚠', 'pitfall', 'a'],
    ['12. 🧩 a', '🧩', 'edge_case', 'a'],
    ['3) 📝 a', '📝', 'todo', 'a'],
    ['> - 🚀 a', '🚀', 'improvement', 'a'],
    ['- [x] 🔄 a', '🔄', 'refactor', 'a'],
    ['- [ ] ❓ a', '❓', 'question', 'a'],
    ['**📚** a', '📚', 'docs', '** a'],
    ['🎉 a', '🎉', null, 'a'],
    ['🐛‍🔥 a', '🐛‍🔥', null, 'a'],
    ['👍🏽 a', '👍🏽', null, 'a'],
    ['🇩🇪 a', '🇩🇪', null, 'a'],
    ['✅️ a', '✅', 'verified', 'a'],
    ['✅a', '✅', 'verified', 'a'],
    ['✅ä', '✅', 'verified', 'ä'],
    ['✅‍🔥 a', '✅‍🔥', null, 'a'],
    ['1️⃣ a', '1⃣', null, 'a'],
    ['a ✅', null, null, 'a ✅'],
    ['ä ✅', null, null, 'ä ✅'],
    ['- 5 a', null, null, '5 a'],
    ['-', null, null, ''],
    ['✅', '✅', 'verified', ''],
    ['', null, null, ''],
  ])('%j', (line, emoji, category, text) => {
    expect(readItem(line)).toEqual({ emoji, category, text })
  })
})

describe('any text', () => {
  const pieces = fc.constantFrom(
    '<npl-ref>', '</npl-ref>', '<npl-block type="check-in" revision="1">', '</npl-block>', '<npl-block ', '<npl-', '```', '~~~~', '`', '    ', '\t', '> ', '- ', '1. ', '\n', '\r', '\r\n',
    '✅', '⚠', '\uFE0F', '\u200D', '🐛', 'status:', 'next_steps:', 'acceptance_criteria:', '"', '=', '>', '\0', '\uD800',
  ) // biome-ignore format: one list
  const anything = fc.array(fc.oneof(pieces, fc.string({ unit: 'binary' })), { maxLength: 40 }).map((parts) => parts.join(''))

  it('is read without an exception, and every line found is in it', () => {
    fc.assert(
      fc.property(anything, (text) => {
        for (const block of findBlocks(text)) {
          for (const line of linesOf(block.text)) {
            expect(text).toContain(line)
            expect(line).not.toMatch(/[\r\n]/)
            expect(line).toContain(readItem(line).text)
          }
        }
      }),
    )
  })
})
