import { type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Guard, startGuard } from '../command/guard.ts'
import { aiRunner, type DialectName } from '../testing/ai.ts'
import { createTestRun, SILENT_LOG } from '../testing/command.ts'

let guard: Guard
let models: ScriptedModels
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())
beforeEach(async () => {
  models = await startScriptedModels()
})
afterEach(() => models.close())

async function runOf(dialect: DialectName, turns: ScriptedTurn[]) {
  models.reply(...turns)
  using test = createTestRun({ requiredOutputs: [] })
  const outcome = await aiRunner(dialect, models, guard, { overrides: { waitMsMax: 20 } }).run(test.run)
  return { outcome, steps: test.steps, usage: test.usage }
}

describe.each<DialectName>(['anthropic', 'openai'])('a call over %s', (dialect) => {
  it('is given up where its answer never ends, whatever that consists of', async () => {
    const endless = { name: 'Write', rawInput: `{"content":"${'x'.repeat(9 * 1024 * 1024)}` }
    const { outcome, steps } = await runOf(dialect, [{ toolCalls: [endless] }, { text: 'In short: yes.' }])
    expect(outcome).toEqual({ kind: 'completed', result: 'In short: yes.' })
    expect(steps[0]).toEqual({ kind: 'error', content: expect.stringContaining('has more than 8388608 characters') })
  })

  it.each([
    ['negative', { input: -50, output: -1 }],
    ['beyond all measure', { input: 1e300, output: 1e300 }],
  ])('counts tokens by the length of texts where what its server says is %s', async (_, said) => {
    const { usage } = await runOf(dialect, [{ text: 'one two three', usage: said }])
    const [{ inputTokens, outputTokens }] = usage as [{ inputTokens: number; outputTokens: number }]
    // Thirteen characters of text, and the two of an empty list of tool calls.
    expect(outputTokens).toBe(4)
    expect(inputTokens).toBeGreaterThan(20)
    expect(inputTokens).toBeLessThan(2_000)
    expect(Number.isInteger(inputTokens)).toBe(true)
  })

  it('counts whole tokens, also where its server says otherwise', async () => {
    const { usage } = await runOf(dialect, [{ text: 'one two three', usage: { input: 10.4, output: 4.6 } }])
    expect(usage).toMatchObject([{ inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, costUsdMicros: 0, model: expect.stringContaining('test') }])
  })

  it('is tried again when the date of Retry-After has come, by the clock of its server', async () => {
    const limited = (date: string, until: string): ScriptedTurn => ({ status: 429, headers: { date, 'retry-after': until } })
    const { outcome, steps } = await runOf(dialect, [
      limited('Wed, 21 Oct 2015 07:28:00 GMT', 'Wed, 21 Oct 2015 07:28:00 GMT'),
      limited('Wed, 21 Oct 2015 07:28:00 GMT', 'Wed, 21 Oct 2015 07:27:00 GMT'),
      limited('Wed, 21 Oct 2015 07:28:00 GMT', 'Wed, 21 Oct 2015 07:30:00 GMT'),
      { text: 'late' },
    ])
    expect(outcome).toEqual({ kind: 'completed', result: 'late' })
    expect(steps.slice(0, 3).map(({ content }) => content)).toEqual(Array.from({ length: 3 }, () => expect.stringContaining('Trying again in 0.0 s')))
  })
})
