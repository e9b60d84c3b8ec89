import type { ModelPrice } from '../settings/settings.ts'

/** When the prices below were last compared with the price lists of the providers. */
export const MODEL_PRICES_DATE = '2026-11-06'

/**
 * List prices of known models in US dollars per million tokens, for the standard tier and prompts of ordinary length. The setting MODEL_PRICES comes
 * before them. A model whose price depends on the length of each prompt from 100,000 tokens on (claude-haiku-5-5) is left out: sums of tokens do not
 * tell its cost, and an unknown cost is better than a wrong one.
 */
export const KNOWN_MODEL_PRICES: Readonly<Record<string, ModelPrice>> = {
  'claude-fable-5-1': { input: 10, cached_input: 0.25, output: 50 },
  'claude-fable-5': { input: 10, cached_input: 1, output: 50 },
  'claude-opus-5-5': { input: 4, cached_input: 0.2, output: 20 },
  'claude-opus-5': { input: 5, cached_input: 0.5, output: 25 },
  'claude-opus-4-8': { input: 5, cached_input: 0.5, output: 25 },
  'claude-opus-4-7': { input: 5, cached_input: 0.5, output: 25 },
  'claude-opus-4-6': { input: 5, cached_input: 0.5, output: 25 },
  'claude-opus-4-5': { input: 5, cached_input: 0.5, output: 25 },
  'claude-opus-4-1': { input: 15, cached_input: 1.5, output: 75 },
  'claude-opus-4': { input: 15, cached_input: 1.5, output: 75 },
  'claude-sonnet-5-5': { input: 2, cached_input: 0.1, output: 10 },
  'claude-sonnet-5': { input: 2, cached_input: 0.2, output: 10 },
  'claude-sonnet-4-6': { input: 3, cached_input: 0.3, output: 15 },
  'claude-sonnet-4-5': { input: 3, cached_input: 0.3, output: 15 },
  'claude-sonnet-4': { input: 3, cached_input: 0.3, output: 15 },
  'claude-haiku-4-5': { input: 1, cached_input: 0.1, output: 5 },
  'claude-3-5-haiku': { input: 0.8, cached_input: 0.08, output: 4 },
  'gpt-6.1-sol': { input: 2, cached_input: 0.1, output: 10 },
  'gpt-6.1-terra': { input: 1, cached_input: 0.05, output: 5 },
  'gpt-6-sol': { input: 2, cached_input: 0.2, output: 10 },
  'gpt-6-luna': { input: 0.1, cached_input: 0.01, output: 0.5 },
  'gpt-5.6-sol': { input: 5, cached_input: 0.5, output: 30 },
  'gpt-5.6-terra': { input: 2, cached_input: 0.2, output: 12 },
  'gpt-5.6-luna': { input: 0.2, cached_input: 0.02, output: 1.2 },
  'gpt-5.1': { input: 1.25, cached_input: 0.125, output: 10 },
  'gpt-5': { input: 1.25, cached_input: 0.125, output: 10 },
  'gpt-5-mini': { input: 0.25, cached_input: 0.025, output: 2 },
  'gpt-5-nano': { input: 0.05, cached_input: 0.005, output: 0.4 },
  'gpt-4.1': { input: 2, cached_input: 0.5, output: 8 },
  'gpt-4.1-mini': { input: 0.4, cached_input: 0.1, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, cached_input: 0.025, output: 0.4 },
  'gpt-4o': { input: 2.5, cached_input: 1.25, output: 10 },
  'gpt-4o-mini': { input: 0.15, cached_input: 0.075, output: 0.6 },
}

/** Tokens of model calls. `inputTokens` includes those that the provider read from its cache, as far as they are known. */
export interface TokenCounts {
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
}

const PROVIDER = /^(?:anthropic|openai):/
/** Providers add the date of a version to the name of a model: `-20250929`, `-2025-04-14`. */
const VERSION_DATE = /-(?:20\d{6}|20\d{2}-\d{2}-\d{2})$/

/** The price of a model by its name, with or without provider and date of version: as the operator sets it, or else the known list price; null for neither. */
export function priceOfModel(model: string, own: Readonly<Record<string, ModelPrice>>): ModelPrice | null {
  const bare = model.replace(PROVIDER, '')
  const undated = bare.replace(VERSION_DATE, '')
  const names = [...new Set([model, bare, undated])]
  const keys = names.flatMap((name) => [name, `anthropic:${name}`, `openai:${name}`])
  for (const key of keys) if (Object.hasOwn(own, key)) return own[key] as ModelPrice
  for (const name of names) if (Object.hasOwn(KNOWN_MODEL_PRICES, name)) return KNOWN_MODEL_PRICES[name] as ModelPrice
  return null
}

/** The cost of tokens in millionths of a US dollar. Cached ones cost as much as others where their price is not set. */
export function microsAt(price: ModelPrice, { inputTokens, cachedInputTokens, outputTokens }: TokenCounts): number {
  const cached = Math.min(cachedInputTokens, inputTokens)
  // Dollars per million tokens are millionths of a dollar per token.
  return Math.round((inputTokens - cached) * price.input + cached * (price.cached_input ?? price.input) + outputTokens * price.output)
}
