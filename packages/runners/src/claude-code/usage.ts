import type { BudgetMeter } from '../ai/budget.ts'
import type { Run } from '../port.ts'
import type { ProgramMessage, ResultMessage } from './messages.ts'

type StreamEvent = Extract<ProgramMessage, { type: 'stream_event' }>['event']
type ReportedUsage = NonNullable<StreamEvent['usage']>

/** Counts what the model calls of a session use, as they end. */
export interface UsageCounter {
  /** Takes in an event of a model's stream. */
  take(event: StreamEvent): void
  /** Makes up for what no stream has told: calls that were broken off, those beside the conversation, and costs. */
  settle(result: ResultMessage): void
}

export function createUsageCounter(run: Pick<Run, 'usage'>, meter: BudgetMeter): UsageCounter {
  let call = { inputTokens: 0, outputTokens: 0 }
  const counted = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

  function count(inputTokens: number, outputTokens: number, costUsd: number) {
    if (inputTokens <= 0 && outputTokens <= 0 && costUsd <= 0) return
    const delta = { inputTokens: Math.max(0, inputTokens), outputTokens: Math.max(0, outputTokens), costUsd: Math.max(0, costUsd) }
    counted.inputTokens += delta.inputTokens
    counted.outputTokens += delta.outputTokens
    counted.costUsd += delta.costUsd
    run.usage(meter.addCall(delta))
  }

  return {
    take({ type, message, usage }) {
      if (type === 'message_start') call = { inputTokens: inputOf(message?.usage), outputTokens: 0 }
      if (type !== 'message_delta') return
      // Totals of the call so far, and it may come more than once.
      const inputTokens = inputOf(usage) || call.inputTokens
      count(inputTokens, (usage?.output_tokens ?? 0) - call.outputTokens, 0)
      call = { inputTokens: 0, outputTokens: usage?.output_tokens ?? 0 }
    },
    settle({ modelUsage = {}, total_cost_usd = 0 }) {
      const all = Object.values(modelUsage)
      const inputTokens = all.reduce((sum, each) => sum + (each.inputTokens ?? 0) + (each.cacheReadInputTokens ?? 0) + (each.cacheCreationInputTokens ?? 0), 0)
      const outputTokens = all.reduce((sum, each) => sum + (each.outputTokens ?? 0), 0)
      count(inputTokens - counted.inputTokens, outputTokens - counted.outputTokens, total_cost_usd - counted.costUsd)
    },
  }
}

function inputOf(usage: ReportedUsage | undefined): number {
  return (usage?.input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0)
}
