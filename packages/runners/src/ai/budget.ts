import { type ModelPrice, microsAt } from '@muster/domain'
import type { Run, UsageDelta } from '../port.ts'

/** What one model call has used. `costUsd` is the provider's own word, where it gives one. */
export interface CallUsage {
  inputTokens: number
  /** Of the input tokens, as far as they are known. */
  cachedInputTokens?: number
  outputTokens: number
  costUsd: number | null
}

/** What a call has cost, in millionths of a US dollar: as the provider says, else by the price; 0 if none is set. */
export function costMicros({ inputTokens, cachedInputTokens = 0, outputTokens, costUsd }: CallUsage, price: ModelPrice | null): number {
  if (costUsd !== null) return Math.round(costUsd * 1_000_000)
  return price === null ? 0 : microsAt(price, { inputTokens, cachedInputTokens, outputTokens })
}

/** Counts what a run uses against what it may. */
export interface BudgetMeter {
  /** A model has answered: with the tools that it asks for, that is one step. */
  addStep(): void
  /** Counts what a call, or a part of one, has used, and answers what that adds to the run's usage. */
  addCall(usage: CallUsage): UsageDelta
  /** Which budget is used up, in a sentence, so that there can be no further step; null while something of each is left. */
  exceeded(): string | null
  /** The same of tokens and dollars alone: the tools of the last step still belong to it. */
  spent(): string | null
}

/** @param turnsMax steps that a definition allows of one run; null: any number */
export function createBudgetMeter(budget: Run['budget'], price: ModelPrice | null, turnsMax: number | null): BudgetMeter {
  let steps = 0
  let tokens = 0
  let costUsdMicros = 0
  function spent() {
    if (budget.tokens !== null && tokens >= budget.tokens) return 'The budget of tokens (max_tokens) is used up.'
    if (budget.costUsdMicros !== null && costUsdMicros >= budget.costUsdMicros) return 'The budget in dollars (max_cost_usd) is used up.'
    return null
  }

  return {
    addStep() {
      steps += 1
    },
    addCall(usage) {
      const { inputTokens, cachedInputTokens = 0, outputTokens } = usage
      const micros = costMicros(usage, price)
      tokens += inputTokens + outputTokens
      costUsdMicros += micros
      return { inputTokens, cachedInputTokens, outputTokens, costUsdMicros: micros }
    },
    exceeded() {
      if (steps >= budget.steps) return 'The budget of steps (max_steps) is used up.'
      if (turnsMax !== null && steps >= turnsMax) return `The sub-agent's ${turnsMax} turns (maxTurns) are used up.`
      return spent()
    },
    spent,
  }
}
