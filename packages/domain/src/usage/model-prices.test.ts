import { describe, expect, it } from 'vitest'
import { KNOWN_MODEL_PRICES, MODEL_PRICES_DATE, microsAt, priceOfModel } from './model-prices.ts'

describe('priceOfModel', () => {
  const own = { 'claude-sonnet-5-5': { input: 1, output: 2 }, 'openai:llama3.1:8b': { input: 0, output: 0 } }

  it.each([
    ['claude-sonnet-5-5', own['claude-sonnet-5-5']],
    ['anthropic:claude-sonnet-5-5', own['claude-sonnet-5-5']],
    ['claude-sonnet-5-5-20260915', own['claude-sonnet-5-5']],
    ['llama3.1:8b', own['openai:llama3.1:8b']],
    ['claude-opus-5-5', KNOWN_MODEL_PRICES['claude-opus-5-5']],
    ['gpt-4.1-2025-04-14', KNOWN_MODEL_PRICES['gpt-4.1']],
    ['openai:gpt-4.1-mini', KNOWN_MODEL_PRICES['gpt-4.1-mini']],
    ['claude-haiku-5-5', null],
    ['constructor', null],
    ['sonnet', null],
    ['', null],
  ])('%j costs %j', (model, price) => expect(priceOfModel(model, own)).toEqual(price))

  it('says of which day its table is', () => expect(MODEL_PRICES_DATE).toMatch(/^20\d\d-\d\d-\d\d$/))
})

describe('microsAt', () => {
  it.each([
    [
      { input: 2, cached_input: 0.1, output: 10 },
      { inputTokens: 1_000_000, cachedInputTokens: 400_000, outputTokens: 100_000 },
      1_200_000 + 40_000 + 1_000_000,
    ],
    [{ input: 2, output: 10 }, { inputTokens: 10, cachedInputTokens: 10, outputTokens: 1 }, 30],
    [{ input: 2, cached_input: 0, output: 10 }, { inputTokens: 10, cachedInputTokens: 20, outputTokens: 0 }, 0],
  ])('at %j, %j cost %d', (price, tokens, micros) => expect(microsAt(price, tokens)).toBe(micros))
})
