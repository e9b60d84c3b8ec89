import { startLoop } from '@muster/jobs'
import { type Deps, fireSchedules } from '@muster/usecases'

/** A queue may become shorter without this process having a hand in it. */
const WAITING_EVERY_MS = 500
/** Under load a worker claims all the time; what it makes room for is filled together. */
const COLLECT_ROOM_MS = 10
/** After a failure, such as an outage, due schedules are not left waiting for the next ordinary look. */
const RETRY_MS = 500
/** What could not be fired although everything was there is tried again so often. */
const FAILED_EVERY_MS = 60_000
/** Schedules that are made close together are looked at together. */
const REST_MS = 5

export interface Scheduler {
  /** Looks at once: a schedule is due at another time than was known. */
  wake(): void
  /** Looks at once if slots wait for room: a queue may have become shorter. */
  wakeIfWaiting(): void
  /** Finishes the transaction that is under way, and ends. */
  stop(): Promise<void>
}

/**
 * Fires schedules when they are due: sleeps until the next one is, by the database's clock, and no longer than SCHEDULE_CHECK_INTERVAL.
 * Several workers wake at the same moment, and each fires what the others do not have in their hands.
 */
export function startScheduler(deps: Deps, onError: (error: unknown) => void): Scheduler {
  const { settings } = deps
  if (!settings.SCHEDULE_ENABLED || !settings.SUBTASK_ENABLED) return { wake() {}, wakeIfWaiting() {}, async stop() {} }
  const stopping = new AbortController()
  /** When each schedule that could not be fired is tried again. */
  const failed = new Map<string, number>()
  let hasWaiting = false
  let isCollecting = false

  const fire = async () => {
    const nowMs = performance.now()
    for (const [id, retryAtMs] of failed) if (retryAtMs <= nowMs) failed.delete(id)
    try {
      const pass = await fireSchedules(deps, { except: [...failed.keys()], signal: stopping.signal })
      for (const id of pass.failed) failed.set(id, nowMs + FAILED_EVERY_MS)
      hasWaiting = pass.hasWaiting
      if (pass.fired > 0) deps.log.debug({ count: pass.fired, took_ms: Math.round(performance.now() - nowMs) }, 'fired')
      if (pass.againInMs === 0) return true
      return Math.min(pass.againInMs ?? Number.POSITIVE_INFINITY, hasWaiting ? WAITING_EVERY_MS : Number.POSITIVE_INFINITY)
    } catch (error) {
      onError(error)
      return RETRY_MS
    }
  }

  const loop = startLoop(fire, { everyMs: settings.SCHEDULE_CHECK_INTERVAL * 1_000, restMs: REST_MS, onError })
  return {
    wake: () => loop.wake(),
    wakeIfWaiting() {
      if (!hasWaiting || isCollecting) return
      isCollecting = true
      setTimeout(() => {
        isCollecting = false
        loop.wake()
      }, COLLECT_ROOM_MS)
    },
    async stop() {
      stopping.abort()
      await loop.stop()
    },
  }
}
