/** Knows whether anybody needs what costs something even while nothing comes of it, such as listening to the database. */
export interface Demand {
  /** @returns ends the need */
  need(): () => void
  /** Whether somebody needs it, or did so lately: who comes back soon finds it going. */
  isWanted(): boolean
  /** Tells one watcher of every beginning and every end, and at once when it is wanted by now. */
  watch(onBegin: () => void, onEnd: () => void): void
}

/** @param lingerMs how long it is still wanted after the last need has ended, in milliseconds */
export function createDemand(lingerMs: number): Demand {
  const needs = new Set<symbol>()
  let isWanted = false
  let timer: NodeJS.Timeout | undefined
  let watcher = { onBegin: () => {}, onEnd: () => {} }
  return {
    need() {
      const own = Symbol()
      needs.add(own)
      clearTimeout(timer)
      if (!isWanted) {
        isWanted = true
        watcher.onBegin()
      }
      return () => {
        if (!needs.delete(own) || needs.size > 0) return
        timer = setTimeout(() => {
          isWanted = false
          watcher.onEnd()
        }, lingerMs).unref()
      }
    },
    isWanted: () => isWanted,
    watch(onBegin, onEnd) {
      watcher = { onBegin, onEnd }
      if (isWanted) onBegin()
    },
  }
}
