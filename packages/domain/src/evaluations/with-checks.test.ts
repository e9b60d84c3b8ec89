import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CheckEnd,
  type EvaluatedCriterion,
  evaluate,
  evaluationRules,
  parseSettings,
  restsOnSelfReport,
  revisionRequest,
  withChecks,
  withJudge,
} from '../index.ts'

const TESTS: EvaluatedCriterion = { id: 'tests', text: 'All tests pass', source: 'acceptance', required: true, check: 'unit-tests' }
const LOGIN: EvaluatedCriterion = { id: 'login', text: 'Implements the login', source: 'acceptance', required: true }
const RULES = evaluationRules()

const PASSED = { status: 'met', reason: null, output: '' } as const
const FAILED = { status: 'unmet', reason: 'The program exited with code 1.', output: '2 tests failed' } as const
const NOT_RUN = { status: 'could_not_run', reason: 'The folder is gone.', output: '' } as const

type End = Pick<CheckEnd, 'status' | 'reason' | 'output'>

function checked(end: End | null, lines: string[] = [], criteria = [TESTS, LOGIN]) {
  const output = `Done.\n<npl-block type="check-in">\n${lines.map((line) => `- ${line}`).join('\n')}\n</npl-block>`
  const given = evaluate({ output, criteria, criteriaRevision: 1, settings: RULES })
  return end === null ? given : withChecks(given, RULES, new Map([['tests', end]]))
}

const ALL_MET = ['✅ All tests pass (tests)', '✅ Implements the login (login)']

describe('a criterion with a check', () => {
  it.each([
    ['has not run', null, ALL_MET, { verdict: 'unclear', score: 1, recommendation: 'review' }],
    ['passed', PASSED, ALL_MET, { verdict: 'met', score: 1, recommendation: 'approve' }],
    ['passed, and the agent doubts', PASSED, ['🐛 All tests pass (tests)', ALL_MET[1] as string], { verdict: 'met', score: 1, recommendation: 'approve' }],
    ['passed, and the agent is silent', PASSED, [ALL_MET[1] as string], { verdict: 'met', score: 1, recommendation: 'approve' }],
    ['failed, and the agent praises', FAILED, ALL_MET, { verdict: 'unmet', score: 0.65, recommendation: 'request_revision' }],
    ['could not run', NOT_RUN, ALL_MET, { verdict: 'unclear', score: 1, recommendation: 'review' }],
  ] as const)('%s', (_, end, lines, expected) => {
    const { criteria, score, recommendation } = checked(end, [...lines])
    expect({ verdict: criteria[0]?.verdict, score, recommendation }).toEqual(expected)
    expect(criteria[0]?.method).toBe('check')
    expect(restsOnSelfReport([criteria[0] as (typeof criteria)[0]])).toBe(false)
  })

  it('sends a result back however good the rest of it is', () => {
    const others = Array.from({ length: 9 }, (_, place) => ({ ...LOGIN, id: `c${place}`, text: `Criterion number ${place}` }))
    const lines = others.map(({ id }) => `✅ done (${id})`)
    const { score, recommendation } = checked(FAILED, lines, [TESTS, ...others])
    expect(score).toBeGreaterThan(RULES.approveAt)
    expect(recommendation).toBe('request_revision')
  })

  it('does not send it back if it is not required', () => {
    expect(checked(FAILED, ALL_MET, [{ ...TESTS, required: false }, LOGIN]).recommendation).not.toBe('request_revision')
  })

  it('is none of a judge: neither praise nor an objection changes it', () => {
    for (const verdict of ['met', 'unmet', 'unclear'] as const) {
      for (const end of [PASSED, FAILED, NOT_RUN]) {
        const given = checked(end, ALL_MET)
        const judged = withJudge(given, RULES, 'Done.', [{ criterionId: 'tests', verdict, quote: 'Done.' }])
        expect(judged.criteria[0]).toEqual(given.criteria[0])
        expect(judged.recommendation).toBe(given.recommendation)
      }
    }
  })

  it('has the last part of the output as evidence, which the request for revision quotes as data', () => {
    const output = `${'noise\n'.repeat(2_000)}<npl-block type="check-in">\nFAIL login.test.ts`
    const evaluation = checked({ ...FAILED, output })
    const [{ evidence } = { evidence: '' }] = evaluation.criteria
    expect(evidence?.startsWith('The check "unit-tests" failed. The program exited with code 1.\n')).toBe(true)
    expect(evidence?.length).toBeLessThanOrEqual(2_000)
    const request = revisionRequest(evaluation)
    expect(request).toContain('  | FAIL login.test.ts')
    expect(request).not.toContain('<npl-block')
    expect(request.length).toBeLessThan(12_000)
  })

  it('is approved only if every required check passed, whatever is said', () => {
    const line = fc.constantFrom(...ALL_MET, '🐛 All tests pass (tests)', '✅ everything', '❓ Implements the login (login)')
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), fc.constantFrom<End | null>(null, PASSED, FAILED, NOT_RUN), (lines, end) => {
        const { recommendation, criteria } = checked(end, lines)
        if (recommendation === 'approve') expect(end).toBe(PASSED)
        if (end === FAILED) expect(recommendation).toBe('request_revision')
        expect(criteria[0]?.verdict === 'met').toBe(end === PASSED)
      }),
    )
  })
})

describe('CHECKS', () => {
  it.each([
    ['{"Unit Tests": {"argv": ["npm"]}}', 'the name of a check is lower-case letters'],
    ['{"tests": {"argv": []}}', 'CHECKS.tests.argv'],
    ['{"tests": {"argv": "npm test"}}', 'CHECKS.tests.argv'],
    ['{"tests": {"argv": ["npm"], "timeout_seconds": 0}}', 'CHECKS.tests.timeout_seconds'],
    ['{"tests": {"argv": ["npm"], "shell": true}}', 'shell'],
    ['{', 'is not JSON'],
  ])('%s is refused at start: %s', (CHECKS, reason) => {
    expect(() => parseSettings({ CHECKS })).toThrow(reason)
  })
})
