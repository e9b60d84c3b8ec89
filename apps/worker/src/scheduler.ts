import { startLoop } from '@muster/jobs'
import { type Deps, fireSchedules } from '@muster/usecases'
import type { RestoreWatch } from './restore-watch.ts'

/** Other processes shorten queues as well. */
const WAITING_EVERY_MS = 500
/** Under load a worker claims all the time; the slots that its claims make room for fire together. */
const COLLECT_ROOM_MS = 10
/** After a failure, such as an outage, due schedules do not wait for the next ordinary look. */
const RETRY_MS = 500
/** The pause of a schedule that could not be fired for a reason of its own. */
const FAILED_EVERY_MS = 60_000
/** While an operator has to decide about a restore. */
const HELD_EVERY_MS = 1_000
/** Schedules that are created close together are looked at together. */
const REST_MS = 5

export interface Scheduler {
  /** Looks at once, because a schedule is due at another time than was known. */
  wake(): void
  /** Looks at once if slots wait for room in a queue, which may have become shorter. */
  wakeIfWaiting(): void
  /** Finishes the running transaction, and ends. */
  stop(): Promise<void>
}

/**
 * Fires schedules when they are due. Sleeps until the next one is due by the database's clock, at most SCHEDULE_CHECK_INTERVAL. Several workers wake
 * at the same moment, and each fires what the others have not locked.
 */
export function startScheduler(deps: Deps, onError: (error: unknown) => void, restores: Pick<RestoreWatch, 'isHeldNow'>): Scheduler {
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
      if (await restores.isHeldNow()) return HELD_EVERY_MS
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
