import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CompiledTsg,
  compileTsg,
  matchTsgs,
  rankTsgHits,
  SCANNED_LENGTH_EACH_END,
  slugTsgId,
  successRate,
  suffixTsgId,
  TSG_ID,
  type TsgMatch,
  type TsgSeverity,
  tsgPatternProblem,
} from './tsg.ts'

function guide(tsgId: string, patterns: string[], more: { match?: TsgMatch; severity?: TsgSeverity } = {}): CompiledTsg {
  return compileTsg({ tsgId, title: `About ${tsgId}`, severity: more.severity ?? 'medium', match: more.match ?? 'substring', patterns })
}

function found(guides: CompiledTsg[], ...texts: string[]): [string, string][] {
  const hits = matchTsgs(guides, texts, (slow) => expect.fail(`${slow.pattern} took too long`))
  return hits.map(({ tsgId, pattern }) => [tsgId, pattern])
}

/** Anything that can be stored. */
const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed())

describe('slugTsgId', () => {
  it.each([
    ['npm ERESOLVE: could not resolve', 'npm-eresolve-could-not-resolve'],
    ['  Über-große Übung  ', 'uber-gro-e-ubung'],
    ['ﬁle not found', 'file-not-found'],
    ['---', 'guide'],
    ['端口被占用', 'guide'],
    ['404', '404'],
    ['a'.repeat(100), 'a'.repeat(64)],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
  ])('of %j is %s', (title, slug) => {
    expect(slugTsgId(title)).toBe(slug)
  })

  it('is always an id, with a suffix too', () => {
    fc.assert(
      fc.property(text, fc.stringMatching(/^[a-z0-9]{1,8}$/), (title, suffix) => {
        const slug = slugTsgId(title)
        expect(slug).toMatch(TSG_ID)
        expect(suffixTsgId(slug, suffix)).toMatch(TSG_ID)
        expect(suffixTsgId(slug, suffix)).toMatch(new RegExp(`-${suffix}$`))
      }),
    )
  })
})

describe('a pattern', () => {
  it.each([
    ['substring', '(', null],
    ['regex', 'npm ERR! code E\\w+', null],
    ['regex', '(?i)permission denied', null],
    ['regex', '[a-z]{900}!', null],
    ['regex', '(', 'is no regular expression of RE2: '],
    ['regex', 'a**', 'is no regular expression of RE2: '],
    ['regex', '(?=error)x', 'is no regular expression of RE2: '],
    ['regex', '(a)\\1', 'is no regular expression of RE2: '],
    ['regex', 'a{1001}', 'is no regular expression of RE2: '],
    ['regex', '((a{1,10}){1,10}){10}', 'is too large a regular expression'],
    ['regex', '.*', 'must not match the empty text'],
    ['regex', 'error|', 'must not match the empty text'],
  ] as [TsgMatch, string, string | null][])('of kind %s, %j, is accepted or refused with the reason', (match, pattern, problem) => {
    if (problem === null) expect(tsgPatternProblem(match, pattern)).toBeNull()
    else expect(tsgPatternProblem(match, pattern)).toContain(problem)
  })
})

describe('matchTsgs', () => {
  it('finds substrings whatever their case', () => {
    const guides = [guide('port', ['EADDRINUSE', 'address already in use'])]
    expect(found(guides, 'Error: listen eaddrinuse: :::3000')).toEqual([['port', 'EADDRINUSE']])
    expect(found(guides, 'Address Already In Use')).toEqual([['port', 'address already in use']])
    expect(found(guides, 'all is well')).toEqual([])
    expect(found(guides)).toEqual([])
  })

  it('finds every pattern in every text that contains it', () => {
    fc.assert(
      fc.property(
        text,
        text.filter((pattern) => pattern !== ''),
        text,
        (before, pattern, after) => {
          expect(found([guide('g', [pattern])], `${before}${pattern}${after}`)).toEqual([['g', pattern]])
        },
      ),
    )
  })

  it.each([
    ['ΟΔΟΣ', 'στην οδοσυνη'],
    ['straße', 'STRASSE'],
    ['ß', 'ss'],
  ])('finds %s in %s', (pattern, within) => {
    expect(found([guide('g', [pattern])], within)).toHaveLength(1)
  })

  it('takes an expression as it is written, anchors and case included', () => {
    const of = (pattern: string) => [guide('g', [pattern], { match: 'regex' })]
    expect(found(of('code E\\d+'), 'npm code E404')).toHaveLength(1)
    expect(found(of('CODE E\\d+'), 'npm code E404')).toEqual([])
    expect(found(of('(?i)CODE E\\d+'), 'npm code E404')).toHaveLength(1)
    expect(found(of('^second'), 'first\nsecond')).toEqual([])
    expect(found(of('(?m)^second$'), 'first\nsecond\nthird')).toHaveLength(1)
    expect(found(of('^second'), 'first', 'second')).toHaveLength(1)
  })

  it('names the longest pattern that matches, whichever text it is in', () => {
    expect(found([guide('g', ['refused', 'connection refused', 'connection refused by peer'])], 'refused', 'Connection refused')).toEqual([
      ['g', 'connection refused'],
    ])
    expect(found([guide('g', ['E\\d+', 'code E\\d+'], { match: 'regex' })], 'code E404')).toEqual([['g', 'code E\\d+']])
  })

  it('puts the most severe first, then the longest pattern, then the one that has helped most', () => {
    const guides = [
      guide('low-and-long', ['connection refused by'], { severity: 'low' }),
      guide('short', ['refused']),
      guide('long', ['connection refused']),
      guide('critical', ['refused'], { severity: 'critical' }),
      guide('high', ['ref.sed'], { severity: 'high', match: 'regex' }),
      guide('as-short', ['refused']),
      guide('never-tried', ['refused']),
    ]
    const hits = matchTsgs(guides, ['connection refused by 127.0.0.1'], () => {})
    const rates = new Map([
      ['short', 0.9],
      ['as-short', 0.1],
    ])
    expect(rankTsgHits(hits, rates).map(({ tsgId }) => tsgId)).toEqual(['critical', 'high', 'long', 'short', 'never-tried', 'as-short', 'low-and-long'])
  })

  it('looks at the beginning and the end of a text that is long', () => {
    const guides = [guide('g', ['needle'])]
    const padding = 'x'.repeat(SCANNED_LENGTH_EACH_END)
    expect(found(guides, `needle${padding}${padding}`)).toHaveLength(1)
    expect(found(guides, `${padding}${padding}needle`)).toHaveLength(1)
    expect(found(guides, `${padding}needle${padding}`)).toEqual([])
    // What stands on both sides of what was left out is not next to each other.
    expect(found(guides, `${'x'.repeat(SCANNED_LENGTH_EACH_END - 3)}nee${padding}dle${'x'.repeat(SCANNED_LENGTH_EACH_END - 3)}`)).toEqual([])
  })

  it('is through with a backtracking engine’s catastrophes at once', () => {
    const guides = ['(a+)+$', '(a|aa)+!', '(.*a){20}!', '(?:a?){100}a{100}!', '(\\w+\\s?)+!$'].map((pattern, place) =>
      guide(`bad-${place}`, [pattern], { match: 'regex' }),
    )
    expect(found(guides, `${'a'.repeat(100_000)}b`)).toEqual([])
  })

  it('puts an expression out of use that takes too long all the same, and goes on without it', () => {
    // Any a or b may begin a match that ends 900 characters later: more combinations than can be kept.
    const slow = guide('slow', ['[ab](?s:.){900}[XY]'], { match: 'regex' })
    const quick = guide('quick', ['b0{3}'], { match: 'regex' })
    let seed = 7
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return 'ab01 '[Math.floor(seed / 256) % 5]
    }
    const long = Array.from({ length: 32_768 }, random).join('')
    const reports: unknown[] = []
    for (let scan = 0; scan < 50 && reports.length === 0; scan += 1) matchTsgs([slow, quick], Array(20).fill(long), (report) => reports.push(report))
    expect(reports).toEqual([{ tsgId: 'slow', pattern: '[ab](?s:.){900}[XY]' }])
    expect(found([slow, quick], long)).toEqual([['quick', 'b0{3}']])
  })

  it('makes a guide ready also when one of its expressions is none', () => {
    expect(found([guide('g', ['(', 'x+'], { match: 'regex' })], 'axxb')).toEqual([['g', 'x+']])
  })
})

describe('successRate', () => {
  it.each([
    [0, 0, null],
    [3, 1, 0.75],
    [0, 2, 0],
  ])('of %i resolved and %i unresolved is %s', (resolved, unresolved, rate) => {
    expect(successRate({ resolved, unresolved })).toBe(rate)
  })
})
