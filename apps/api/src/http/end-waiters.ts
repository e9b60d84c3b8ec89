import type { Demand } from './demand.ts'

/** Wakes requests by the id of the subtask or task whose end they wait for. */
export interface EndWaiters {
  /** Calls back whenever one of these may have ended. @returns ends the subscription */
  subscribe(ids: readonly string[], onEnd: () => void): () => void
  /** @param ids of what has ended; without any, all waiting requests look again */
  wake(ids: readonly string[]): void
  /** The number of ids that are waited for. */
  size(): number
}

/** @param demand counts the subscriptions */
export function createEndWaiters(demand: Demand): EndWaiters {
  const waiting = new Map<string, Set<() => void>>()
  return {
    subscribe(ids, onEnd) {
      for (const id of ids) waiting.set(id, (waiting.get(id) ?? new Set()).add(onEnd))
      const release = demand.need()
      return () => {
        release()
        for (const id of ids) {
          const group = waiting.get(id)
          group?.delete(onEnd)
          if (group?.size === 0) waiting.delete(id)
        }
      }
    },
    wake(ids) {
      for (const id of ids.length > 0 ? ids : waiting.keys()) for (const onEnd of waiting.get(id) ?? []) onEnd()
    },
    size: () => waiting.size,
  }
}
