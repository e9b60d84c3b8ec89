import type { ModelPrice } from '../settings/settings.ts'
import { microsAt, priceOfModel, type TokenCounts } from './model-prices.ts'

export const USAGE_GROUPINGS = ['day', 'project', 'agent', 'task', 'model', 'runner'] as const
export type UsageGrouping = (typeof USAGE_GROUPINGS)[number]

/** The runner under which judgements are counted. No runner can have this name. */
export const JUDGE_RUNNER = '(judge)'

/** Sums over attempts and judgements that used one model, and that are alike in what they reported. */
export interface UsagePart extends TokenCounts {
  key: string | null
  /** Null if the runner and the request named none. */
  model: string | null
  /** Whether their runners reported costs. */
  isCostReported: boolean
  /** Whether they reported tokens. */
  hasTokens: boolean
  /** Subtasks that ran, each counted with its last attempt. */
  runs: number
  attempts: number
  judgements: number
  costUsdMicros: number
  durationMs: number
}

/** Where a cost comes from: the runners said it, it was calculated from tokens and prices, or some of each. */
export type CostSource = 'reported' | 'priced' | 'mixed'

export interface UsageTotals extends TokenCounts {
  runs: number
  attempts: number
  judgements: number
  durationMs: number
  /** Of everything whose cost is known, in millionths of a US dollar; null if the cost of nothing is known, although there was something. */
  costUsdMicros: number | null
  costSource: CostSource | null
  /** Attempts and judgements that used tokens of a model whose price is unknown. */
  unpricedRuns: number
  /** The names of those models, sorted. */
  unpricedModels: string[]
  /** Attempts and judgements that reported no tokens and no cost. */
  unreportedRuns: number
}

export interface UsageGroup extends UsageTotals {
  key: string | null
}

/** Sums parts, and prices those without a reported cost. A cost that is unknown stays unknown: it never counts as 0. */
export function sumUsage(parts: readonly UsagePart[], prices: Readonly<Record<string, ModelPrice>>): UsageTotals {
  const total: UsageTotals = {
    ...{ runs: 0, attempts: 0, judgements: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, durationMs: 0 },
    ...{ costUsdMicros: parts.length === 0 ? 0 : null, costSource: null, unpricedRuns: 0, unpricedModels: [], unreportedRuns: 0 },
  }
  const unpriced = new Set<string>()
  for (const part of parts) {
    for (const amount of ['runs', 'attempts', 'judgements', 'inputTokens', 'cachedInputTokens', 'outputTokens', 'durationMs'] as const)
      total[amount] += part[amount]
    const count = part.attempts + part.judgements
    const cost = costOf(part, prices)
    if (cost !== null) {
      total.costUsdMicros = (total.costUsdMicros ?? 0) + cost.micros
      total.costSource = total.costSource === null || total.costSource === cost.source ? cost.source : 'mixed'
    } else if (part.hasTokens) {
      total.unpricedRuns += count
      if (part.model !== null) unpriced.add(part.model)
    } else {
      total.unreportedRuns += count
    }
  }
  return { ...total, unpricedModels: [...unpriced].sort() }
}

/** A cost that was reported counts before any calculated one: the runner knows its prices, its cache and its discounts. */
function costOf(part: UsagePart, prices: Readonly<Record<string, ModelPrice>>): { micros: number; source: 'reported' | 'priced' } | null {
  if (part.isCostReported) return { micros: part.costUsdMicros, source: 'reported' }
  const price = part.hasTokens && part.model !== null ? priceOfModel(part.model, prices) : null
  return price === null ? null : { micros: microsAt(price, part), source: 'priced' }
}
