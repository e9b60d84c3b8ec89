import type { BudgetMeter } from '../ai/budget.ts'
import type { Run } from '../port.ts'
import type { ProgramMessage, ResultMessage } from './messages.ts'

type StreamEvent = Extract<ProgramMessage, { type: 'stream_event' }>['event']
type ReportedUsage = NonNullable<StreamEvent['usage']>

/** Longer names of models are cut. */
const MODEL_LENGTH_MAX = 200

/** What a session has used so far, as the program reports it. */
export interface SessionUsage {
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  costUsd: number
}

export const NO_SESSION_USAGE: SessionUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 }

/** Counts what the model calls of a session use, as they end. */
export interface UsageCounter {
  /** All that was counted, with what earlier attempts of the session have used. */
  readonly total: SessionUsage
  /** Takes in an event of a model's stream. */
  take(event: StreamEvent): void
  /** Makes up for what no stream has told: calls that were broken off, those beside the conversation, and costs. */
  settle(result: ResultMessage): void
}

/** @param earlier what was counted in earlier attempts of the same session */
export function createUsageCounter(run: Pick<Run, 'usage'>, meter: BudgetMeter, earlier: SessionUsage): UsageCounter {
  let call = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 }
  let model: string | undefined
  const counted = { ...earlier }

  function count(inputTokens: number, cachedInputTokens: number, outputTokens: number, costUsd: number) {
    if (inputTokens <= 0 && outputTokens <= 0 && costUsd <= 0) return
    const delta = {
      inputTokens: Math.max(0, inputTokens),
      cachedInputTokens: Math.max(0, cachedInputTokens),
      outputTokens: Math.max(0, outputTokens),
      costUsd: Math.max(0, costUsd),
    }
    counted.inputTokens += delta.inputTokens
    counted.cachedInputTokens += delta.cachedInputTokens
    counted.outputTokens += delta.outputTokens
    counted.costUsd += delta.costUsd
    run.usage({ ...meter.addCall(delta), ...(model !== undefined && { model }) })
  }

  return {
    total: counted,
    take({ type, message, usage }) {
      if (type === 'message_start') {
        call = { inputTokens: inputOf(message?.usage), cachedInputTokens: message?.usage?.cache_read_input_tokens ?? 0, outputTokens: 0 }
        model = message?.model?.slice(0, MODEL_LENGTH_MAX) ?? model
      }
      if (type !== 'message_delta') return
      // Totals of the call so far, and it may come more than once.
      const inputTokens = inputOf(usage) || call.inputTokens
      const cachedInputTokens = usage?.cache_read_input_tokens || call.cachedInputTokens
      count(inputTokens, Math.min(cachedInputTokens, inputTokens), (usage?.output_tokens ?? 0) - call.outputTokens, 0)
      call = { inputTokens: 0, cachedInputTokens: 0, outputTokens: usage?.output_tokens ?? 0 }
    },
    settle({ modelUsage = {}, total_cost_usd = 0 }) {
      const all = Object.values(modelUsage)
      const inputTokens = all.reduce((sum, each) => sum + (each.inputTokens ?? 0) + (each.cacheReadInputTokens ?? 0) + (each.cacheCreationInputTokens ?? 0), 0)
      const outputTokens = all.reduce((sum, each) => sum + (each.outputTokens ?? 0), 0)
      const cachedInputTokens = all.reduce((sum, each) => sum + (each.cacheReadInputTokens ?? 0), 0)
      // The model that cost most: it made the result, and others only helped.
      model ??= Object.entries(modelUsage)
        .sort(([, a], [, b]) => (b.costUSD ?? 0) - (a.costUSD ?? 0))[0]?.[0]
        ?.slice(0, MODEL_LENGTH_MAX)
      count(
        inputTokens - counted.inputTokens,
        cachedInputTokens - counted.cachedInputTokens,
        outputTokens - counted.outputTokens,
        total_cost_usd - counted.costUsd,
      )
    },
  }
}

function inputOf(usage: ReportedUsage | undefined): number {
  return (usage?.input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0)
}
