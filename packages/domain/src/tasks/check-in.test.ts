import { describe, expect, it } from 'vitest'
import { type CheckIn, type Criterion, matchLines, parseCheckIns } from '../index.ts'

/** Reports, and the texts of lines about nothing. */
function matchCriteria(checkIn: Pick<CheckIn, 'lines'>, known: readonly Criterion[]) {
  const { reports, unmatched } = matchLines(checkIn.lines, known)
  return { criteria: reports, unmatched: unmatched.map(({ text }) => text) }
}

/** [D2] Check-in Convention */
const DOCUMENT = `Some words.

<npl-block type="check-in" task-id="task-123">
acceptance_criteria:
  - ✅ Implements JWT authentication
  - ✅ Includes unit tests
  - 🐛 Rate limiting has race condition
  - ❓ OAuth scope needs clarification
status: in_progress
next_steps:
  - Fix rate limiting
  - Clarify OAuth with control agent
</npl-block>`

function criteria(...texts: string[]): Criterion[] {
  return texts.map((text, index) => ({ id: `0190a000-0000-7000-8000-00000000000${index}`, text, source: 'acceptance', required: true, state: 'open' }))
}

function parse(...lines: string[]): CheckIn {
  const [checkIn] = parseCheckIns(['<npl-block type="check-in" task-id="t" revision="2">', ...lines, '</npl-block>'].join('\n'))
  return checkIn as CheckIn
}

/** `index state` of every criterion that lines were found to be about, then the lines that are about none. */
function match(known: Criterion[], ...lines: string[]): string[] {
  const { criteria: found, unmatched } = matchCriteria(parse(...lines), known)
  return [...found.map(({ criterionId, state }) => `${known.findIndex(({ id }) => id === criterionId)} ${state}`), ...unmatched]
}

describe('a check-in', () => {
  it('reads as [D2] has it', () => {
    expect(parseCheckIns(DOCUMENT)).toEqual([
      {
        taskId: 'task-123',
        revision: null,
        lines: [
          { emoji: '✅', category: 'verified', text: 'Implements JWT authentication' },
          { emoji: '✅', category: 'verified', text: 'Includes unit tests' },
          { emoji: '🐛', category: 'bug', text: 'Rate limiting has race condition' },
          { emoji: '❓', category: 'question', text: 'OAuth scope needs clarification' },
        ],
        status: 'in_progress',
        nextSteps: ['Fix rate limiting', 'Clarify OAuth with control agent'],
      },
    ])
  })

  it.each<[string, string[], Partial<CheckIn>]>([
    ['no heading at all', ['✅ a'], { lines: [{ emoji: '✅', category: 'verified', text: 'a' }], status: null, nextSteps: [] }],
    ['headings as people write them', ['## **Status**: `In Progress`', '**Next steps:**', '1. a', '* ⚠️ b'], { status: 'in progress', nextSteps: ['a', '⚠ b'] }],
    ['lists on the line', ['next_steps: go on', 'status:'], { nextSteps: ['go on'], status: null }],
    ['empty lists', ['acceptance_criteria:', '  -', 'next_steps: []', '  -', '  - '], { lines: [], nextSteps: [] }],
    ['the newest status', ['status: a', 'status: b', 'status:'], { status: 'b' }],
    ['other lists', ['blockers:', '- a', 'criteria:', '- ✅ b'], { lines: [{ emoji: '✅', category: 'verified', text: 'b' }] }],
    [
      'a colon in a line',
      ['✅ Rate: limited', 'next_steps:', '- status: unknown'],
      { lines: [{ emoji: '✅', category: 'verified', text: 'Rate: limited' }], nextSteps: ['status: unknown'] },
    ],
    ['lines without an emoji', ['- a'], { lines: [{ emoji: null, category: null, text: 'a' }] }],
    ['code', ['```', '- ✅ a', '```'], { lines: [] }],
  ])('is read line by line: %s', (_, lines, expected) => {
    expect(parse(...lines)).toMatchObject(expected)
  })

  it.each([
    ['task-id=" t " revision=" 12 "', 't', 12],
    ['task-id="" revision="-1"', null, null],
    ['revision="1.5"', null, null],
    ['revision="99999999999"', null, null],
  ])('names its task and revision, if they are any: %s', (attributes, taskId, revision) => {
    expect(parseCheckIns(`<npl-block type="check-in" ${attributes}>`)).toMatchObject([{ taskId, revision }])
  })

  it('is one of several, and no reflection', () => {
    expect(parseCheckIns(`${DOCUMENT}\n<npl-ref>✅ a</npl-ref>\n${DOCUMENT}`)).toHaveLength(2)
  })
})

describe('the criterion that a line is about', () => {
  const known = criteria('Implements JWT authentication', 'Includes unit tests', 'Rate limiting', 'OAuth scope')

  it('is found for every line of [D2]', () => {
    const [checkIn] = parseCheckIns(DOCUMENT)
    expect(matchCriteria(checkIn as CheckIn, known)).toEqual({
      criteria: [
        { criterionId: known[0]?.id, category: 'verified', state: 'met', note: 'Implements JWT authentication' },
        { criterionId: known[1]?.id, category: 'verified', state: 'met', note: 'Includes unit tests' },
        { criterionId: known[2]?.id, category: 'bug', state: 'unmet', note: 'Rate limiting has race condition' },
        { criterionId: known[3]?.id, category: 'question', state: 'unclear', note: 'OAuth scope needs clarification' },
      ],
      unmatched: [],
    })
  })

  it.each<[string, string]>([
    ['✅', 'met'],
    ['🐛', 'unmet'],
    ['🔒', 'unmet'],
    ['⚠️', 'unmet'],
    ['⚠', 'unmet'],
    ['🧩', 'unmet'],
    ['📝', 'unmet'],
    ['🔄', 'unmet'],
    ['❓', 'unclear'],
    ['🚀', 'unclear'],
    ['📚', 'unclear'],
    ['🎉', 'unclear'],
    ['', 'unclear'],
  ])('is, by %s, %s', (emoji, state) => {
    expect(match(known, `- ${emoji} OAuth scope`)).toEqual([`3 ${state}`])
  })

  it('is the one whose id it names, whatever else it says', () => {
    expect(match(known, `- ✅ Includes unit tests: 14 (${known[3]?.id})`)).toEqual(['3 met'])
    expect(match(known, `- ✅ see ${known[0]?.id}, done [${known[1]?.id?.toUpperCase()}]`)).toEqual(['1 met'])
    expect(match(known, `- ✅ x${known[0]?.id}`)).toEqual([`x${known[0]?.id}`])
    expect(matchCriteria(parse(`- ✅ Done: 14 tests (${known[1]?.id}).`), known).criteria[0]?.note).toBe('Done: 14 tests')
    expect(matchCriteria(parse(`- ✅ ${known[1]?.id}: 14 tests`), known).criteria[0]?.note).toBe('14 tests')
  })

  it.each<[string, string[], string, string[]]>([
    ['the same text in other letters, spaces and signs', ['Login: works!'], 'LOGIN   works', ['0 met']],
    ['the same text in other forms of the same letters', ['Café ﬁles'], 'cafe\u0301 files', ['0 met']],
    ['each of those that have that text', ['Works', 'works.'], 'Works', ['0 met', '1 met']],
    ['the same text before more words', ['Rate limiting', 'Rate limiting on login'], 'rate limiting', ['0 met']],
    ['three words of five', ['one two three four five'], 'one two three', ['0 met']],
    ['two words of four', ['one two three four'], 'one two', ['one two']],
    ['the one with more in common', ['one two three', 'one two three four five'], 'one two three four', ['0 met']],
    ['the one that is covered alike by more words', ['one two', 'one two three'], 'three two one now', ['1 met']],
    ['none of two alike', ['one two', 'one three'], 'one two three', ['one two three']],
    [
      'none of two alike that follow a worse one',
      ['one two three four five', 'six seven', 'six eight'],
      'one two three six seven eight',
      ['one two three six seven eight'],
    ],
    ['the best after two alike', ['six seven x', 'six seven y', 'six seven'], 'now six seven', ['2 met']],
    ['words that are repeated only once', ['one two three'], 'one one one', ['one one one']],
    ['parts of words never', ['testing'], 'test', ['test']],
    ['signs that are all there is', ['≥ !'], '≥ !', ['0 met']],
    ['scripts without spaces, sign by sign', ['登录正常工作', '注销'], '登录正常', ['0 met']],
  ])('is %s', (_, texts, line, expected) => {
    expect(match(criteria(...texts), `- ✅ ${line}`)).toEqual(expected)
  })

  it('takes what the newest line says', () => {
    expect(match(known, '- 🐛 OAuth scope', '- ✅ Includes unit tests', '- ✅ OAuth scope')).toEqual(['1 met', '3 met'])
  })

  it('is none where there are none', () => {
    expect(match([], '- ✅ a')).toEqual(['a'])
    expect(match(known)).toEqual([])
  })
})

// Were anything looked at twice, these would take minutes and run into the time limit of a test. What they take otherwise is no matter here.
describe('the worst that a text can be', () => {
  const SIZE = 128 * 1024
  const fill = (piece: string, before = '', after = '') => before + piece.repeat((SIZE - before.length - after.length) / piece.length) + after
  const open = '<npl-block type="check-in" task-id="t" revision="1">\n'
  const known = criteria('Rate limiting is in place', 'a b c', '- - -')

  it.each<[string, string]>([
    ['openings', fill('<npl-block type="check-in">')],
    ['beginnings of tags', fill('<npl-block ')],
    ['a tag that never ends', fill('a', '<npl-block type="check-in" ')],
    ['attributes', fill(' a="', '<npl-block type="check-in"', '>')],
    ['spaces in a tag', fill(' ', '<npl-block', '>')],
    ['backticks', fill('` ', '<npl-ref>')],
    ['list marks', fill('- ', open)],
    ['quotation marks', fill('>', open)],
    ['spaces', fill(' ', open, '✅ a')],
    ['dashes around an id', fill('-', `${open}- ✅ `, ` x ${known[0]?.id}`)],
    ['empty lines', fill('\n', open)],
    ['short lines', fill('a\n', open)],
    ['a million emoji', fill('✅ a\n', open)],
    ['emoji joined to one', fill('✅\u200D', open)],
    ['variation selectors', fill('⚠\uFE0F', open)],
    ['words of a criterion', fill('a b ', `${open}✅ `)],
    ['headings', fill('status:', open)],
    ['fences', fill('```\n~~~\n')],
    ['fences in lists', fill('- > ', open, '```')],
  ])('%s', (_, text) => {
    for (const checkIn of parseCheckIns(text)) matchCriteria(checkIn, known)
  })

  it('is cut to its newest lines and its first steps', () => {
    const lines = Array.from({ length: 30_001 }, (_, index) => `- ✅ ${index}`)
    const { lines: kept, nextSteps } = parse(...lines, 'next_steps:', ...lines)
    expect([kept.length, kept[0]?.text, kept.at(-1)?.text]).toEqual([10_000, '20001', '30000'])
    expect([nextSteps.length, nextSteps[0]]).toEqual([1_000, '✅ 0'])
  })
})
