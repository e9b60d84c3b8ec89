/** Tracks whether a costly background activity, such as listening to the database, is needed. */
export interface Demand {
  /** @returns ends the need */
  need(): () => void
  /** True while it is needed and for a short time after, so that a client that returns soon finds it running. */
  isWanted(): boolean
  /** Calls one watcher at every start and end of the need, and at once if it is needed now. */
  watch(onBegin: () => void, onEnd: () => void): void
}

/** @param lingerMs how long it stays needed after the last need has ended, in milliseconds */
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
