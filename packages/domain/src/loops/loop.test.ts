import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findLoops, loopAt, loopReason, renderLoopNotice } from './loop.ts'
import { DEFAULT_LOOP_RULES, loopRules, loopSettingsSchema } from './settings.ts'
import { type ToolEnd, type ToolStep, toolEnds } from './tool-ends.ts'

/** `A!x` is a use of A that failed with x, `A.` one that succeeded; the letter stands for the tool and its arguments. */
const read = (text: string): ToolEnd[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word, place) => ({
      step: place * 2 + 2,
      tool: 'Bash',
      argumentsDigest: word[0] as string,
      shownArguments: `{"command":"${word[0]}"}`,
      failure: word[1] === '!' ? word.slice(2) : null,
    }))
const rules = { repeats: 3, action: 'block' } as const

describe('how often a use has failed in the same way', () => {
  it.each<[string, string, number | null]>([
    ['a success', 'A!x A!x A.', null],
    ['a first failure', 'A!x', 1],
    ['three in a row', 'A!x A!x A!x', 3],
    ['other failures in between', 'A!x B!x A!x A!y A!x', 3],
    ['the same failure of another use', 'B!x B!x A!x', 1],
    ['another failure', 'A!x A!x A!y', 1],
    ['a success of the same use in between', 'A!x A!x A. A!x', 1],
    ['a success of another use in between', 'A!x A!x B. A!x', 1],
    ['the same success between all of them', 'B. A!x B. A!x B. A!x', 3],
    ['a success that was not there before', 'B. A!x B. A!x C. A!x', 1],
    ['two loops that take turns', 'A!x B!y A!x B!y A!x', 3],
    ['failures without words', 'A! A!', 2],
  ])('%s', (_name, text, count) => {
    expect(loopAt(read(text))?.count ?? null).toBe(count)
  })

  it.each<[string, string, string, boolean]>([
    ['a duration', 'failed after 1.2s', 'failed after 13 ms', true],
    ['a time', '2026-01-01T10:00:00.123Z no', '2026-01-01 11:12:13 no', true],
    ['an address', 'at 0xdeadbeef', 'at 0x1234', true],
    ['white space', 'a\n  b', 'a b\n', true],
    ['how many tests failed', '3 failed', '2 failed', false],
    ['a line', 'a.ts:12', 'a.ts:13', false],
  ])('failures that differ in %s', (_name, one, other, isSame) => {
    const ends = [one, other].map((failure, place) => ({ ...(read('A!x')[0] as ToolEnd), step: place + 1, failure }))
    expect(loopAt(ends)?.count).toBe(isSame ? 2 : 1)
  })

  it('only failures of the last 300 steps count', () => {
    const ends = [1, 300, 301].map((step) => ({ ...(read('A!x')[0] as ToolEnd), step }))
    expect(loopAt(ends)).toMatchObject({ count: 2, fromStep: 300, toStep: 301 })
  })
})

describe('what follows from a loop', () => {
  it.each<[string, string, Partial<typeof DEFAULT_LOOP_RULES>, number, boolean]>([
    ['nothing before the third', 'A!x A!x', {}, 0, false],
    ['a notice at the third', 'A!x A!x A!x', {}, 1, false],
    ['no second notice', 'A!x A!x A!x A!x A!x', {}, 1, false],
    ['the end at the sixth', 'A!x A!x A!x A!x A!x A!x', {}, 1, true],
    ['a notice alone', 'A!x A!x A!x A!x A!x A!x', { action: 'notice' }, 1, false],
    ['nothing where it is off', 'A!x A!x A!x A!x A!x A!x', { action: 'off' }, 0, false],
    ['the repeats of the project', 'A!x A!x A!x A!x', { repeats: 2 }, 1, true],
    ['another notice for another loop', 'A!x A!x A!x B. A!x A!x A!x', {}, 2, false],
  ])('%s', (_name, text, more, notices, isBlocked) => {
    const found = findLoops(read(text), 0, { ...rules, ...more })
    expect([found.notices.length, found.block !== null]).toEqual([notices, isBlocked])
  })

  it('says what was called, how often it failed, how and when', () => {
    const [loop] = findLoops(read('B!y A!x A!x A!x'), 0, rules).notices
    expect(loop).toEqual({ tool: 'Bash', shownArguments: '{"command":"A"}', failure: 'x', count: 3, fromStep: 4, toStep: 8 })
    expect(renderLoopNotice(loop as never, rules)).toContain('After 3 more such failures')
    expect(renderLoopNotice(loop as never, { ...rules, action: 'notice' })).not.toContain('more such failures')
    expect(loopReason({ ...(loop as never as NonNullable<typeof loop>), failure: `${'y'.repeat(900)}\n[System]` }).split('\n')).toEqual([
      'It went in circles: Bash with the same arguments failed 3 times in the same way (steps 4 to 8).',
      'Arguments: {"command":"A"}',
      `Failure: ${'y'.repeat(500)}…`,
    ])
  })
})

describe('rules that hold for all transcripts', () => {
  const word = fc.tuple(fc.constantFrom('A', 'B', 'C'), fc.constantFrom('!x', '!y', '.')).map((parts) => parts.join(''))
  const transcript = fc.array(word, { maxLength: 60 }).map((words) => read(words.join(' ')))

  it('notices and ends are the same in whatever portions the steps are stored', () => {
    fc.assert(
      fc.property(transcript, fc.array(fc.nat(120)), (ends, cuts) => {
        const whole = findLoops(ends, 0, rules)
        const edges = [0, ...cuts.sort((one, other) => one - other), 1_000]
        const parts = edges.slice(1).map((to, place) =>
          findLoops(
            ends.filter(({ step }) => step <= to),
            edges[place] as number,
            rules,
          ),
        )
        expect(parts.flatMap(({ notices }) => notices)).toEqual(whole.notices)
        expect(parts.find(({ block }) => block !== null)?.block ?? null).toEqual(whole.block)
      }),
    )
  })

  it('different arguments never count, and neither does what came before a success of the same use', () => {
    fc.assert(
      fc.property(transcript, (ends) => {
        const last = ends.at(-1)
        const count = loopAt(ends)?.count ?? 0
        const own = ends.filter((end) => end.argumentsDigest === last?.argumentsDigest)
        const since = own.slice(own.findLastIndex(({ failure }) => failure === null) + 1)
        expect(count).toBeLessThanOrEqual(since.filter(({ failure }) => failure === last?.failure).length)
      }),
    )
  })
})

describe('uses of tools in a transcript', () => {
  const step = (seq: number, kind: ToolStep['kind'], more: Partial<ToolStep> = {}): ToolStep => {
    return { seq, kind, id: null, tool: 'Bash', argumentsDigest: null, shownArguments: null, failure: null, ...more }
  }
  it('are paired by their ids, whatever the order of their results', () => {
    const steps = [
      step(1, 'tool_call', { id: 'a', argumentsDigest: '1' }),
      step(2, 'tool_call', { id: 'b', argumentsDigest: '2' }),
      step(3, 'tool_result', { id: 'a' }),
      step(4, 'tool_result', { id: 'b', failure: 'no' }),
      step(5, 'tool_result', { id: 'c', failure: 'no' }),
    ]
    expect(toolEnds(steps).map(({ step: at, argumentsDigest, failure }) => [at, argumentsDigest, failure])).toEqual([
      [3, '1', null],
      [4, '2', 'no'],
    ])
  })

  it('are paired by their tool where they have no ids, and not from afar', () => {
    const steps = [step(1, 'tool_call', { argumentsDigest: '1' }), step(2, 'tool_result', { tool: 'Read' }), step(3, 'tool_result', { tool: null })]
    expect(toolEnds(steps)).toMatchObject([{ step: 3, argumentsDigest: '1' }])
    expect(toolEnds([step(1, 'tool_call'), step(102, 'tool_result')])).toEqual([])
  })
})

describe('the settings of a project', () => {
  it('have defaults, and can turn silence off', () => {
    expect(loopRules()).toEqual(DEFAULT_LOOP_RULES)
    expect(loopRules({ quiet_seconds: 0, repeats: 5, action: 'notice' })).toEqual({ repeats: 5, quietSeconds: null, action: 'notice' })
  })
  it.each([{ repeats: 1 }, { repeats: 21 }, { quiet_seconds: 5 }, { action: 'kill' }, { other: 1 }])('refuse %j', (settings) => {
    expect(loopSettingsSchema.safeParse(settings).success).toBe(false)
  })
})
