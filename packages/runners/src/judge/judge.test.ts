import { type EvaluatedCriterion, type JudgeAnswer, parseSettings } from '@muster/domain'
import { type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ENVIRONMENT, KEYS } from '../testing/ai.ts'
import { createJudge, type JudgeOptions, missingForJudge } from './judge.ts'

type DialectName = 'anthropic' | 'openai' | 'openai-compatible'

let models: ScriptedModels
beforeEach(async () => {
  models = await startScriptedModels()
})
afterEach(() => models.close())

const CRITERIA: EvaluatedCriterion[] = [
  { id: 'login', text: 'Implements the login', source: 'acceptance', required: true },
  { id: 'rule', text: 'No new dependencies', source: 'constraint', required: true },
]
const QUESTION = { criteria: CRITERIA, output: 'The login works. I have added jose.', taskTitle: 'Log in', model: null, answerTokensMax: null }
const VERDICTS = [
  { criterion: 1, verdict: 'met', quote: 'The login works.' },
  { criterion: 2, verdict: 'unmet', quote: 'I have added jose.' },
]
const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsdMicros: 0 }

function providerOf(dialect: DialectName): Record<string, string> {
  if (dialect === 'anthropic') return { ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL: models.anthropicUrl, JUDGE_MODEL: 'claude-test' }
  if (dialect === 'openai') return { OPENAI_API_KEY: KEYS.OPENAI_API_KEY, JUDGE_MODEL: 'gpt-test' }
  return { OPENAI_API_KEY: KEYS.OPENAI_API_KEY, OPENAI_BASE_URL: models.openaiUrl, JUDGE_MODEL: 'test-model:1b' }
}

/** To the provider's own address, which leads to the test's. */
const rerouted: typeof globalThis.fetch = (input, init) => {
  return fetch(String(input instanceof Request ? input.url : input).replace('https://api.openai.com/v1', models.openaiUrl), init)
}

function judgeOver(dialect: DialectName, own: { settings?: Record<string, string>; overrides?: JudgeOptions['overrides'] } = {}) {
  const settings = parseSettings({ ...providerOf(dialect), ...own.settings })
  const judge = createJudge(settings, { environment: ENVIRONMENT, overrides: { ...(dialect === 'openai' && { fetch: rerouted }), ...own.overrides } })
  if (judge === null) throw new Error('no judge')
  return judge
}

async function answerOf(dialect: DialectName, turn: ScriptedTurn, own: Parameters<typeof judgeOver>[1] = {}): Promise<JudgeAnswer> {
  models.reply(turn)
  return await judgeOver(dialect, own).judge(QUESTION, new AbortController().signal)
}

const calling = (input: unknown): ScriptedTurn => ({ toolCalls: [{ name: 'give_verdicts', input }], usage: { input: 1_000, output: 100 } })

describe.each<DialectName>(['anthropic', 'openai', 'openai-compatible'])('a judge over %s', (dialect) => {
  it('answers with a verdict a criterion, and with what that took', async () => {
    const name = dialect === 'anthropic' ? 'claude-test' : dialect === 'openai' ? 'gpt-test' : 'test-model:1b'
    const prices = { MODEL_PRICES: JSON.stringify({ [name]: { input: 3, output: 15 } }) }
    expect(await answerOf(dialect, calling({ verdicts: VERDICTS }), { settings: prices })).toEqual({
      kind: 'judged',
      verdicts: [
        { criterionId: 'login', verdict: 'met', quote: 'The login works.' },
        { criterionId: 'rule', verdict: 'unmet', quote: 'I have added jose.' },
      ],
      model: `${dialect === 'anthropic' ? 'anthropic' : 'openai'}:${name}`,
      usage: { inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 100, costUsdMicros: 4_500, model: name },
    })
    const { text, tools } = await models.request(1)
    expect(tools).toEqual(['give_verdicts'])
    expect(text).toContain('Answer by one call of the tool give_verdicts')
    expect(text).toContain('1. Implements the login')
    expect(text).toContain('The login works. I have added jose.')
  })

  it('hands the output over as data, between markers that are new each time', async () => {
    await answerOf(dialect, calling({ verdicts: [] }))
    await answerOf(dialect, calling({ verdicts: [] }))
    const [first, second] = models.requests.map(({ text }) => /<judged-output-([0-9a-f]{32})>/.exec(text)?.[1])
    expect(first).toBeDefined()
    expect(first).not.toBe(second)
  })

  it('uses no more than its bound, which includes the longest answer that it allows', async () => {
    const name = dialect === 'anthropic' ? 'claude-test' : dialect === 'openai' ? 'gpt-test' : 'test-model:1b'
    const judge = judgeOver(dialect, { settings: { MODEL_PRICES: JSON.stringify({ [name]: { input: 3, output: 15 } }) } })
    const question = { ...QUESTION, output: `${QUESTION.output} ${'漢字 🤖 '.repeat(200)}`, answerTokensMax: 500 }
    const { tokens, costUsdMicros } = judge.bound(question)
    models.reply(calling({ verdicts: [] }))
    await judge.judge(question, new AbortController().signal)
    const { body } = await models.request(1)
    // No tokenizer makes more tokens than there are bytes.
    const bytes = Buffer.byteLength(JSON.stringify(body))
    expect(tokens).toBeGreaterThan(Buffer.byteLength(question.output) + 500)
    expect(tokens).toBeLessThan(bytes + 2_500)
    expect(costUsdMicros).toBe((tokens - 500) * 3 + 500 * 15)
    expect(JSON.stringify(body)).toMatch(/"max_(output_|completion_)?tokens":500[,}]/)
  })

  it('takes verdicts that come as text', async () => {
    const answer = await answerOf(dialect, { text: ['Here:\n```json\n', JSON.stringify({ verdicts: VERDICTS }), '\n```'] })
    expect(answer).toMatchObject({ kind: 'judged', verdicts: [{ verdict: 'met' }, { verdict: 'unmet' }] })
  })

  it.each<[string, ScriptedTurn]>([
    ['arguments that are no JSON', { toolCalls: [{ name: 'give_verdicts', rawInput: '{"verdicts": [' }] }],
    ['arguments of another form', { toolCalls: [{ name: 'give_verdicts', input: { verdicts: [{ criterion: 1, verdict: 'approve', quote: 'x' }] } }] }],
    ['a text', { text: 'All criteria are met.' }],
    ['nothing', { text: '' }],
  ])('may be asked again after %s', async (_, turn) => {
    const answer = await answerOf(dialect, { ...turn, usage: { input: 7, output: 3 } })
    expect(answer).toMatchObject({
      kind: 'failed',
      retryable: true,
      error: expect.stringContaining('not in the form'),
      usage: { inputTokens: 7, outputTokens: 3 },
    })
  })

  it('says that its answer was cut off', async () => {
    const answer = await answerOf(dialect, { text: '{"verdicts": [{"criterion": 1', finish: 'length' })
    expect(answer).toMatchObject({ kind: 'failed', retryable: true, error: expect.stringContaining('cut off at its limit') })
  })

  it('is not asked again once it has refused, where that can be told from no answer', async () => {
    const isHandedOn = dialect !== 'openai'
    expect(await answerOf(dialect, { text: 'I cannot judge this.', finish: 'refusal' })).toMatchObject({
      kind: 'failed',
      retryable: !isHandedOn,
      error: expect.stringContaining(isHandedOn ? 'refused to judge' : 'not in the form'),
    })
  })

  it.each<[string, ScriptedTurn, { retryable: boolean; retryAfterMs: number | null }]>([
    ['a limit, with the wait it asks for', { status: 429, headers: { 'retry-after': '17' } }, { retryable: true, retryAfterMs: 17_000 }],
    ['an error of the server', { status: 500 }, { retryable: true, retryAfterMs: null }],
    ['a key that is refused', { status: 401 }, { retryable: false, retryAfterMs: null }],
    ['a model that is not there', { status: 404 }, { retryable: false, retryAfterMs: null }],
    ['a stream that is cut', { text: '{"verdicts"', ending: 'cut' }, { retryable: true, retryAfterMs: null }],
  ])('asks once, and says what %s means', async (_, turn, expected) => {
    expect(await answerOf(dialect, turn)).toMatchObject({ kind: 'failed', usage: NO_USAGE, ...expected })
    expect(models.requests).toHaveLength(1)
  })

  it('shows no key in what it says of a failure', async () => {
    const answer = await answerOf(dialect, { status: 500, error: `failed for ${KEYS.ANTHROPIC_API_KEY} ${KEYS.OPENAI_API_KEY}` })
    expect(JSON.stringify(answer)).not.toContain('secret-of-the-operator')
  })

  it('gives a model up that has fallen silent', async () => {
    const answer = await answerOf(dialect, { text: '{', ending: 'stall' }, { overrides: { idleSeconds: 0.05 } })
    expect(answer).toMatchObject({ kind: 'failed', retryable: true, error: expect.stringContaining('MODEL_IDLE_TIMEOUT') })
  })

  it('gives a model up that takes too long in all', async () => {
    const answer = await answerOf(dialect, { text: '{', ending: 'stall' }, { overrides: { answerSeconds: 0.05 } })
    expect(answer).toMatchObject({ kind: 'failed', retryable: true, error: expect.stringContaining('not done after 0.05 s') })
  })

  it('breaks the call off when it is told to', async () => {
    models.reply({ text: '{', ending: 'stall' })
    const stop = new AbortController()
    const answer = judgeOver(dialect).judge(QUESTION, stop.signal)
    await models.request(1)
    stop.abort()
    expect(await answer).toEqual({ kind: 'aborted' })
    await models.hungUp()
  })
})

describe('a judge', () => {
  it('takes the model of the question before that of the settings', async () => {
    models.reply(calling({ verdicts: [] }))
    const answer = await judgeOver('anthropic').judge({ ...QUESTION, model: 'haiku' }, new AbortController().signal)
    expect(answer).toMatchObject({ kind: 'judged', model: 'anthropic:claude-haiku-5-5' })
    expect((await models.request(1)).model).toBe('claude-haiku-5-5')
  })

  it('says what to set for a model that it cannot ask, and asks nobody', async () => {
    const answer = await judgeOver('anthropic').judge({ ...QUESTION, model: 'openai:gpt-5' }, new AbortController().signal)
    expect(answer).toMatchObject({ kind: 'failed', retryable: false, error: expect.stringContaining('OPENAI_API_KEY') })
    expect(models.requests).toEqual([])
  })

  it('asks nobody for verdicts on nothing', async () => {
    const answer = await judgeOver('anthropic').judge({ ...QUESTION, criteria: [] }, new AbortController().signal)
    expect(answer).toEqual({ kind: 'judged', verdicts: [], model: 'anthropic:claude-test', usage: NO_USAGE })
    expect(models.requests).toEqual([])
  })

  it.each<[string, Record<string, string>, string | null, RegExp | null]>([
    ['no provider', {}, null, /ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL, and JUDGE_MODEL/],
    ['no provider, for a model by name', {}, 'haiku', /ANTHROPIC_API_KEY/],
    ['no model', { OPENAI_BASE_URL: 'http://localhost:1/v1' }, null, /set JUDGE_MODEL/],
    ['a model of a provider that is not set', { ANTHROPIC_API_KEY: 'key', JUDGE_MODEL: 'openai:gpt-5' }, null, /OPENAI_API_KEY/],
    ['nothing: a model by name', { OPENAI_BASE_URL: 'http://localhost:1/v1' }, 'llama', null],
    ['nothing: the model of the settings', { OPENAI_BASE_URL: 'http://localhost:1/v1', JUDGE_MODEL: 'llama' }, null, null],
    ['nothing: the model of the runner ai', { ANTHROPIC_API_KEY: 'key' }, null, null],
  ])('lacks %s', (_, environment, model, expected) => {
    const missing = missingForJudge(parseSettings(environment), model).join()
    if (expected === null) expect(missing).toBe('')
    else expect(missing).toMatch(expected)
  })

  it('has a bound in dollars only where the price of its model is known, and uses nothing where it is not asked', () => {
    const question = { ...QUESTION, answerTokensMax: 1 }
    expect(judgeOver('openai-compatible').bound(question)).toMatchObject({ costUsdMicros: null })
    expect(judgeOver('anthropic').bound({ ...question, model: 'openai:gpt-5' })).toEqual({ tokens: 0, costUsdMicros: 0 })
    expect(judgeOver('anthropic').bound({ ...question, criteria: [] })).toEqual({ tokens: 0, costUsdMicros: 0 })
  })

  it('is not there without a provider', () => {
    expect(createJudge(parseSettings({}), { environment: {} })).toBeNull()
    expect(createJudge(parseSettings({ OPENAI_BASE_URL: 'http://localhost:1/v1' }), { environment: {} })).not.toBeNull()
  })
})
