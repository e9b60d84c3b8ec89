import { setTimeout as delay } from 'node:timers/promises'

export interface Loop {
  /** Runs the work at once, or once more right after the run that is under way. */
  wake(): void
  /** Ends the loop after the run that is under way. */
  stop(): Promise<void>
}

export interface LoopOptions {
  /** Longest sleep between two runs, in milliseconds. */
  everyMs: number
  /** Shortest time from one run to the next, in milliseconds: what comes in between is done together. */
  restMs?: number
  /** A run that throws is reported here and the loop goes on, after at most `everyMs`. */
  onError: (error: unknown) => void
}

/**
 * Runs `work` whenever it is woken and at least every `everyMs`, never twice at once. Work that answers true has more to do and
 * is run again at once; work that answers a number has more to do after so many milliseconds.
 */
export function startLoop(work: () => Promise<boolean | number | undefined>, { everyMs, restMs = 0, onError }: LoopOptions): Loop {
  let woken = true
  let stopped = false
  let interrupt = () => {}
  let endedMs = Number.NEGATIVE_INFINITY

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      interrupt = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const running = (async () => {
    let sleepMs = everyMs
    while (!stopped) {
      if (!woken) await sleep(sleepMs)
      if (stopped) return
      const restedMs = performance.now() - endedMs
      if (restedMs < restMs) await delay(restMs - restedMs)
      woken = false
      sleepMs = everyMs
      try {
        const more = await work()
        if (more === true) woken = true
        // Timers count whole milliseconds and drop the rest: what is due in 0.7 ms is not due yet after 0.
        else if (typeof more === 'number') sleepMs = Math.min(Math.ceil(more), everyMs)
      } catch (error) {
        onError(error)
        // Woken or not: whatever failed is not helped by asking again at once.
        woken = false
      }
      endedMs = performance.now()
    }
  })()

  return {
    wake() {
      woken = true
      interrupt()
    },
    async stop() {
      stopped = true
      interrupt()
      await running
    },
  }
}
