import { describe, expect, it } from 'vitest'
import type { ResultMessage } from './messages.ts'
import { decideOutcome, type Evidence } from './outcome.ts'

const SUCCESS: ResultMessage = { type: 'result', subtype: 'success', is_error: false, result: 'one, two, three', structured_output: undefined }

function outcomeOf(result: Partial<ResultMessage> | null, own: Partial<Omit<Evidence, 'session'>> & { session?: Partial<Evidence['session']> } = {}) {
  const { session, ...rest } = own
  return decideOutcome({
    ending: { code: 0, signal: null, endedBy: null },
    errorTail: '',
    requiredOutputs: [],
    model: 'sonnet',
    redact: (text) => text.replaceAll('sk-secret', '[removed]'),
    ...rest,
    session: { result: result === null ? null : { ...SUCCESS, ...result }, exceeded: null, refusedStatus: null, said: 'one, two', ...session },
  })
}

describe('a run of Claude Code', () => {
  it('completes with the result, without secrets', () => {
    expect(outcomeOf({ result: 'it is sk-secret' })).toEqual({ kind: 'completed', result: 'it is [removed]' })
  })

  it('completes with the outputs where some were asked for', () => {
    const structured = { result: 'Three.', outputs: { count: 3, note: 'sk-secret' } }
    const requiredOutputs = [{ name: 'count', description: null, schema: null }]
    expect(outcomeOf({ result: JSON.stringify(structured), structured_output: structured }, { requiredOutputs })).toEqual({
      kind: 'completed',
      result: 'Three.',
      outputs: { count: 3, note: '[removed]' },
    })
  })

  it.each([
    [401, false, /refused the key \(401\)\. Set a valid ANTHROPIC_API_KEY/],
    [402, false, /no credit left/],
    [404, false, /does not know the model "sonnet"/],
    [400, false, /refused the request/],
    [429, true, /limits the calls/],
    [529, true, /failed \(529\)/],
    [null, true, /broke its answer off/],
  ])('whose provider answers %s is errored, retryable: %s', (status, retryable, error) => {
    const outcome = outcomeOf({ is_error: true, result: 'API Error: oops sk-secret', api_error_status: status })
    expect(outcome).toMatchObject({ kind: 'errored', retryable, error: expect.stringMatching(error), partialResult: 'one, two' })
    expect(JSON.stringify(outcome)).not.toContain('sk-secret')
  })

  it.each([
    ['error_max_turns', 'budget_exceeded', /turns/],
    ['error_max_budget_usd', 'budget_exceeded', /max_cost_usd/],
  ])('that ends with %s is %s', (subtype, kind, error) => {
    expect(outcomeOf({ subtype, is_error: true })).toEqual({ kind, error: expect.stringMatching(error), partialResult: 'one, two' })
  })

  it('that gives up may be tried again, and one that refuses may not', () => {
    const gaveUp = outcomeOf({ subtype: 'error_during_execution', is_error: true, errors: ['no room', 'left'] })
    expect(gaveUp).toMatchObject({ kind: 'errored', error: 'Claude Code gave up: no room\nleft', retryable: true })
    expect(outcomeOf({ stop_reason: 'refusal', is_error: true }, { session: { said: 'I cannot.' } })).toEqual({
      kind: 'blocked',
      reason: 'The model refused the task. I cannot.',
      partialResult: 'I cannot.',
    })
  })

  it('that ends without a result has crashed, and says how', () => {
    const crash = (code: number | null, signal: string | null) => outcomeOf(null, { ending: { code, signal, endedBy: null }, errorTail: 'boom sk-secret' })
    expect(crash(3, null)).toEqual({
      kind: 'errored',
      error: 'The program exited with code 3 without a result:\nboom [removed]',
      retryable: true,
      partialResult: 'one, two',
    })
    expect(crash(null, 'SIGKILL')).toMatchObject({ error: expect.stringContaining('ended by SIGKILL (9) without a result'), retryable: true })
  })

  it('that crashes after its result has not completed', () => {
    expect(outcomeOf({}, { ending: { code: null, signal: 'SIGSEGV', endedBy: null } })).toMatchObject({ kind: 'errored', retryable: true })
    expect(outcomeOf({}, { ending: { code: null, signal: 'SIGTERM', endedBy: 'lingering' } })).toMatchObject({ kind: 'completed' })
  })

  it('that does not know an argument is too old', () => {
    const outcome = outcomeOf(null, { ending: { code: 1, signal: null, endedBy: null }, errorTail: "error: unknown option '--restricted'" })
    expect(outcome).toMatchObject({ kind: 'errored', retryable: false, error: expect.stringContaining('CLAUDE_CODE_PATH') })
  })

  it('is stopped whatever else it says', () => {
    const ending = { code: 143, signal: null, endedBy: 'stop' } as const
    expect(outcomeOf({}, { ending, session: { exceeded: 'too much', refusedStatus: 401 } })).toEqual({ kind: 'stopped', partialResult: 'one, two' })
  })
})
