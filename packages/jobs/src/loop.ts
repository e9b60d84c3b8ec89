import { setTimeout as delay } from 'node:timers/promises'

export interface Loop {
  /** Runs the work at once, or again right after the current run. */
  wake(): void
  /** Ends the loop after the current run. */
  stop(): Promise<void>
}

export interface LoopOptions {
  /** Longest sleep between two runs, in milliseconds. A function is asked after each run. */
  everyMs: number | (() => number)
  /**
   * Shortest time between two runs, in milliseconds. What arrives in between is handled together. A function is asked once before each run, and says how
   * long that one has to wait.
   */
  restMs?: number | (() => number)
  /** Receives the error of a run that throws. The loop continues after `everyMs`. */
  onError: (error: unknown) => void
}

/** Sleeps of whole multiples of this end together with those of the other loops of the process, in milliseconds. */
const TICK_MS = 500

/** An idle process wakes up once for all loops that are due: each wake-up costs it more than most looks. Sleeps are shortened, by at most a half. */
export function untilTick(sleepMs: number, nowMs: number): number {
  if (sleepMs === 0 || sleepMs % TICK_MS !== 0) return sleepMs
  // Rounded up, because a timer that fires before the tick would find it still to come.
  const shortMs = Math.ceil(Math.floor((nowMs + sleepMs) / TICK_MS) * TICK_MS - nowMs)
  return shortMs >= sleepMs / 2 ? shortMs : sleepMs
}

/**
 * Runs `work` whenever it is woken and at least every `everyMs`, never twice at once. If `work` returns true, it runs again at once; if it returns a
 * number, after that many milliseconds.
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
    let sleepMs = 0
    while (!stopped) {
      if (!woken) await sleep(untilTick(sleepMs, performance.now()))
      if (stopped) return
      const waitMs = typeof restMs === 'number' ? endedMs + restMs - performance.now() : restMs()
      if (waitMs > 0) await delay(waitMs)
      woken = false
      let more: boolean | number | undefined
      try {
        more = await work()
        if (more === true) woken = true
      } catch (error) {
        onError(error)
        // Also if it was woken: trying again at once would fail again.
        woken = false
      }
      sleepMs = typeof everyMs === 'number' ? everyMs : everyMs()
      // Timers drop fractions of a millisecond: work that is due in 0.7 ms is not due after 0.
      if (typeof more === 'number') sleepMs = Math.min(Math.ceil(more), sleepMs)
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
