import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunBudget } from '../port.ts'
import { createTestRun, SILENT_LOG, script, testRunner } from '../testing/command.ts'
import { type Guard, startGuard } from './guard.ts'

let guard: Guard
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())

/** Says as many times what a model has used, then that it goes on, or the given line. */
const USING = `
  const use = (times, line) => {
    for (let n = 0; n < times; n += 1) console.log(JSON.stringify({ type: 'usage', input_tokens: 90, output_tokens: 10, cost_usd: 0.001 }))
    console.log(line === undefined ? 'going on' : JSON.stringify(line))
    if (line === undefined) setInterval(() => {}, 1_000)
  }`

async function runOf(source: string, budget: Partial<RunBudget>) {
  using test = createTestRun({}, budget)
  return { outcome: await testRunner(guard, script(`${USING}\n${source}`)).run(test.run), usage: test.usage }
}

describe('the budget of a program', () => {
  it.each<[string, Partial<RunBudget>, string]>([
    ['steps, one for each answer that it reports', { steps: 3 }, 'max_steps'],
    ['tokens', { tokens: 300 }, 'max_tokens'],
    ['dollars', { costUsdMicros: 3_000 }, 'max_cost_usd'],
  ])('of %s ends it with what it has printed', async (_, budget, name) => {
    const { outcome, usage } = await runOf('use(3)', budget)
    expect(outcome).toEqual({ kind: 'budget_exceeded', error: expect.stringContaining(name), partialResult: 'going on' })
    expect(usage).toHaveLength(3)
  })

  it('that its last answer has used up does not take that answer away', async () => {
    const { outcome } = await runOf(`use(3, { type: 'result', result: 'in time' })`, { steps: 3, tokens: 300 })
    expect(outcome).toEqual({ kind: 'completed', result: 'in time' })
  })

  it('of steps is not touched by what it prints, nor by usage without a model', async () => {
    const source = `for (let n = 0; n < 20; n += 1) console.log('line ' + n, '\\n' + JSON.stringify({ type: 'usage', tool_calls: 1 })); use(1, { type: 'result', result: 'done' })`
    expect((await runOf(source, { steps: 2 })).outcome).toEqual({ kind: 'completed', result: 'done' })
  })

  it('that earlier attempts have used up starts nothing', async () => {
    expect((await runOf(`use(1, { type: 'result', result: 'done' })`, { tokens: 0 })).outcome).toEqual({
      kind: 'budget_exceeded',
      error: expect.stringContaining('max_tokens'),
    })
  })
})
