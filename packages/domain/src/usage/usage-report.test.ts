import { describe, expect, it } from 'vitest'
import { sumUsage, type UsagePart } from './usage-report.ts'

const part = (given: Partial<UsagePart>): UsagePart => ({
  ...{ key: null, model: 'm', isCostReported: false, hasTokens: true, runs: 1, attempts: 1, judgements: 0 },
  ...{ inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 100, costUsdMicros: 0, durationMs: 5 },
  ...given,
})
const PRICES = { m: { input: 1, output: 10 } }

describe('sumUsage', () => {
  it.each([
    ['nothing', [], { costUsdMicros: 0, costSource: null }],
    ['a reported cost', [part({ isCostReported: true, costUsdMicros: 7 })], { costUsdMicros: 7, costSource: 'reported' }],
    ['tokens with a price', [part({})], { costUsdMicros: 2_000, costSource: 'priced', inputTokens: 1_000, outputTokens: 100, durationMs: 5 }],
    ['both', [part({}), part({ isCostReported: true, costUsdMicros: 7 })], { costUsdMicros: 2_007, costSource: 'mixed', runs: 2 }],
    ['an unknown model', [part({ model: 'x', attempts: 2 })], { costUsdMicros: null, costSource: null, unpricedRuns: 2, unpricedModels: ['x'] }],
    ['a model without a name', [part({ model: null })], { costUsdMicros: null, unpricedRuns: 1, unpricedModels: [] }],
    [
      'known and unknown models',
      [part({ model: 'z' }), part({ model: 'x', attempts: 0, judgements: 1 }), part({})],
      { costUsdMicros: 2_000, costSource: 'priced', unpricedRuns: 2, unpricedModels: ['x', 'z'] },
    ],
    ['runs that said nothing', [part({ hasTokens: false, inputTokens: 0, outputTokens: 0 })], { costUsdMicros: null, unpricedRuns: 0, unreportedRuns: 1 }],
    ['a model that is free', [part({ model: 'free' })], { costUsdMicros: 0, costSource: 'priced', unpricedRuns: 0 }],
  ])('of %s', (_, parts, expected) => expect(sumUsage(parts, { ...PRICES, free: { input: 0, output: 0 } })).toMatchObject(expected))
})
