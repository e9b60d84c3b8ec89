import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AttemptEnd, decideEnd, type EndDecision, FINAL_OUTCOMES, isTerminal, SUBTASK_STATUSES } from '../index.ts'
import { QUESTION_STATUSES } from '../questions/question.ts'
import { type EndingSubtask, NEXT_STATUSES } from './subtask.ts'

const subtask: EndingSubtask = { failures: 0, maxAttempts: 2, timeoutSeconds: 120, cancelRequested: false, requiredOutputs: [] }
const files = { name: 'files', description: null, schema: { type: 'array', items: { type: 'string' } } }

function completed(result: string, outputs: Record<string, unknown> = {}, truncated = false): AttemptEnd {
  return { kind: 'completed', result, truncated, outputs, summary: 'short' }
}

describe('the state machine', () => {
  it('leaves no terminal status, and reaches every status from pending', () => {
    expect(SUBTASK_STATUSES.filter(isTerminal)).toEqual(['completed', 'failed', 'cancelled'])
    const reached = new Set<string>(['pending'])
    for (const status of reached) for (const next of NEXT_STATUSES[status as keyof typeof NEXT_STATUSES]) reached.add(next)
    expect([...reached].sort()).toEqual([...SUBTASK_STATUSES].sort())
  })

  it('ends a subtask that nobody has started only by cancelling it', () => {
    expect(NEXT_STATUSES.pending).toEqual(['running', 'cancelled'])
  })
})

/** What an end comes to, shortly: `back 1 (subtask.retrying)` or `failed/errored 2`, with the failures counted. */
function shortly(decision: EndDecision): string {
  if (decision.kind === 'wait') return 'wait'
  return decision.kind === 'back' ? `back ${decision.failures} (${decision.event})` : `${decision.status}/${decision.finalOutcome} ${decision.failures}`
}

describe('the end of an attempt', () => {
  // Each end, at the first failure of two, at the last one allowed, and when a cancel was asked for meanwhile.
  it.each<[string, AttemptEnd, string, string, string]>([
    ['a real result', completed('Done.'), 'completed/completed 0', 'completed/completed 1', 'completed/completed 0'],
    ['an empty result', completed('  \n'), 'back 1 (subtask.retrying)', 'failed/validation_failed 2', 'cancelled/cancelled 0'],
    ['only intentions', completed('I will do it.'), 'back 1 (subtask.retrying)', 'failed/validation_failed 2', 'cancelled/cancelled 0'],
    [
      'a question without a result',
      completed('What folder do you mean?'),
      'failed/incomplete_blocked 0',
      'failed/incomplete_blocked 1',
      'cancelled/cancelled 0',
    ],
    ['nothing visible', completed('\u200b'), 'back 1 (subtask.retrying)', 'failed/validation_failed 2', 'cancelled/cancelled 0'],
    ['only an acknowledgement', completed('On it!'), 'back 1 (subtask.retrying)', 'failed/validation_failed 2', 'cancelled/cancelled 0'],
    [
      'being blocked',
      { kind: 'blocked', reason: 'no key', partialResult: null },
      'failed/incomplete_blocked 0',
      'failed/incomplete_blocked 1',
      'cancelled/cancelled 0',
    ],
    [
      'a passing error',
      { kind: 'errored', error: 'x', retryable: true, partialResult: null },
      'back 1 (subtask.retrying)',
      'failed/errored 2',
      'cancelled/cancelled 0',
    ],
    [
      'an error for good',
      { kind: 'errored', error: 'x', retryable: false, partialResult: null },
      'failed/errored 0',
      'failed/errored 1',
      'cancelled/cancelled 0',
    ],
    [
      'a spent budget',
      { kind: 'budget_exceeded', error: 'x', partialResult: 'half' },
      'failed/budget_exceeded 0',
      'failed/budget_exceeded 1',
      'cancelled/cancelled 0',
    ],
    ['a timeout', { kind: 'timed_out', partialResult: 'half' }, 'failed/timed_out 0', 'failed/timed_out 1', 'cancelled/cancelled 0'],
    ['a cancelled run', { kind: 'cancelled', partialResult: null }, 'cancelled/cancelled 0', 'cancelled/cancelled 1', 'cancelled/cancelled 0'],
    ['a lease given back', { kind: 'released' }, 'back 0 (subtask.released)', 'back 1 (subtask.released)', 'cancelled/cancelled 0'],
    ['a lost worker', { kind: 'lost', ranMs: 0, lostMs: 0 }, 'back 1 (subtask.retrying)', 'failed/worker_lost 2', 'cancelled/cancelled 0'],
  ])('%s', (_, end, first, last, whenCancelled) => {
    expect(shortly(decideEnd(subtask, end))).toBe(first)
    expect(shortly(decideEnd({ ...subtask, failures: 1 }, end))).toBe(last)
    expect(shortly(decideEnd({ ...subtask, cancelRequested: true }, end))).toBe(whenCancelled)
  })

  it('keeps result, summary and outputs of a completed one', () => {
    expect(decideEnd(subtask, completed('Done.', { extra: 1 }, true))).toMatchObject({
      result: 'Done.',
      resultTruncated: true,
      outputs: { extra: 1 },
      summary: 'short',
      error: null,
    })
  })

  it.each([
    [{ kind: 'blocked', reason: 'why', partialResult: 'half', truncated: true }, 'why'],
    [{ kind: 'errored', error: 'why', retryable: false, partialResult: 'half', truncated: true }, 'why'],
    [{ kind: 'budget_exceeded', error: 'why', partialResult: 'half', truncated: true }, 'why'],
    [{ kind: 'timed_out', partialResult: 'half', truncated: true }, 'The attempt took longer than its 120 s.'],
  ] satisfies [AttemptEnd, string][])('keeps what there was, and says why: %o', (end, error) => {
    expect(decideEnd(subtask, end)).toMatchObject({ result: 'half', resultTruncated: true, error })
  })

  it('does not pass blank text off as a partial result', () => {
    expect(decideEnd(subtask, { kind: 'timed_out', partialResult: ' \n', truncated: true })).toMatchObject({ result: null, resultTruncated: false })
  })

  it('tells the next attempt what was wrong with a refused result', () => {
    const needed = { ...subtask, requiredOutputs: [files, { name: 'count', description: null, schema: null }] }
    expect(decideEnd(needed, completed('Done.', { files: ['a', 3], count: null }))).toMatchObject({
      kind: 'back',
      feedback: 'Required outputs were not accepted: files /1 must be string; count is missing.',
    })
  })

  it('gives the question of a result that only asks as the reason, and keeps the result', () => {
    expect(decideEnd(subtask, completed("I'll start now. What folder do you mean?"))).toMatchObject({
      finalOutcome: 'incomplete_blocked',
      error: 'What folder do you mean?',
      result: "I'll start now. What folder do you mean?",
    })
  })

  it('waits for an open question of its own, goes on at once when it is closed, and fails for any other', () => {
    const end = { kind: 'waiting', questionId: 'q', continuation: null } as const
    expect(shortly(decideEnd({ ...subtask, questionStatus: 'open' }, end))).toBe('wait')
    expect(shortly(decideEnd({ ...subtask, failures: 1, questionStatus: 'open' }, end))).toBe('wait')
    for (const questionStatus of ['answered', 'expired', 'withdrawn'] as const) {
      expect(shortly(decideEnd({ ...subtask, failures: 1, questionStatus }, end))).toBe('back 1 (subtask.resumed)')
    }
    expect(shortly(decideEnd({ ...subtask, questionStatus: null }, end))).toBe('failed/errored 0')
    expect(shortly(decideEnd({ ...subtask, questionStatus: 'open', cancelRequested: true }, end))).toBe('cancelled/cancelled 0')
  })

  it('accepts valid required outputs whatever the text announces or asks, but not without a text', () => {
    const needed = { ...subtask, requiredOutputs: [files] }
    for (const text of ['On it!', 'I will do it.', 'Want me to also sort them?']) {
      expect(decideEnd(needed, completed(text, { files: ['a'] }))).toMatchObject({ finalOutcome: 'completed', result: text })
    }
    expect(decideEnd(needed, completed('\u200b', { files: ['a'] }))).toMatchObject({ kind: 'back', feedback: expect.stringContaining('empty') })
    expect(decideEnd(needed, completed('Where are they?'))).toMatchObject({ finalOutcome: 'incomplete_blocked', error: 'Where are they?' })
    expect(decideEnd(subtask, completed('Want me to sort them?', { extra: 1 }))).toMatchObject({ finalOutcome: 'incomplete_blocked' })
  })

  it('keeps the last refused result and its outputs beside the reason', () => {
    const last = decideEnd({ ...subtask, failures: 1, requiredOutputs: [files] }, completed('Done.', { files: 'a' }, true))
    expect(last).toMatchObject({ finalOutcome: 'validation_failed', result: 'Done.', resultTruncated: true, outputs: { files: 'a' } })
    expect(last).toHaveProperty('error', 'Required outputs were not accepted: files must be array.')
  })

  const anyEnd: fc.Arbitrary<AttemptEnd> = fc.oneof(
    fc.record({
      kind: fc.constant('completed' as const),
      result: fc.string({ unit: 'binary' }),
      truncated: fc.boolean(),
      outputs: fc.dictionary(fc.string(), fc.jsonValue()),
      summary: fc.constant(null),
    }),
    fc.record({ kind: fc.constantFrom('timed_out' as const, 'cancelled' as const), partialResult: fc.option(fc.string()) }),
    fc.record({ kind: fc.constant('errored' as const), error: fc.string(), retryable: fc.boolean(), partialResult: fc.option(fc.string()) }),
    fc.record({ kind: fc.constant('blocked' as const), reason: fc.string(), partialResult: fc.option(fc.string()) }),
    fc.constantFrom<AttemptEnd>({ kind: 'released' }, { kind: 'lost', ranMs: 0, lostMs: 0 }, { kind: 'waiting', questionId: 'q', continuation: null }),
  )
  const anySubtask = fc
    .record({
      maxAttempts: fc.integer({ min: 1, max: 5 }),
      failures: fc.nat(4),
      cancelRequested: fc.boolean(),
      timeoutSeconds: fc.constant(1),
      requiredOutputs: fc.constantFrom<EndingSubtask['requiredOutputs']>([], [files]),
      questionStatus: fc.constantFrom(null, ...QUESTION_STATUSES),
    })
    .filter(({ failures, maxAttempts }) => failures < maxAttempts)

  it('always leaves a possible next attempt, or a whole end', () => {
    fc.assert(
      fc.property(anySubtask, anyEnd, (before, end) => {
        const decision = decideEnd(before, end)
        if (decision.kind === 'wait') {
          expect([end.kind, before.questionStatus, before.cancelRequested]).toEqual(['waiting', 'open', false])
          return
        }
        const counted = decision.failures - before.failures
        expect(counted === 0 || counted === 1).toBe(true)
        if (decision.kind === 'back') {
          expect(decision.failures).toBeLessThan(before.maxAttempts)
          expect(before.cancelRequested).toBe(false)
          expect(counted).toBe(end.kind === 'released' || end.kind === 'waiting' ? 0 : 1)
        } else {
          expect(isTerminal(decision.status)).toBe(true)
          expect(FINAL_OUTCOMES).toContain(decision.finalOutcome)
          expect(decision.failures).toBeLessThanOrEqual(before.maxAttempts)
          expect(decision.status === 'failed').toBe(decision.error !== null)
          expect(decision.status === 'completed').toBe(decision.finalOutcome === 'completed')
          if (decision.status === 'completed') expect(decision.result?.trim()).not.toBe('')
        }
      }),
    )
  })

  it('ends any subtask after as many failures as it may have, and no sooner for giving leases back', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.constantFrom<AttemptEnd>({ kind: 'lost', ranMs: 0, lostMs: 0 }, { kind: 'released' }), { minLength: 30, maxLength: 30 }),
        (maxAttempts, ends) => {
          let failures = 0
          let lost = 0
          for (const end of ends) {
            lost += end.kind === 'lost' ? 1 : 0
            const decision = decideEnd({ ...subtask, maxAttempts, failures }, end)
            expect(decision.kind === 'terminal').toBe(lost === maxAttempts)
            if (decision.kind !== 'back') return
            failures = decision.failures
          }
        },
      ),
    )
  })
})
