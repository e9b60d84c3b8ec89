import { outbox } from '@muster/db'
import { type Loop, startLoop } from '@muster/jobs'
import type { Deps } from '../core/ctx.ts'
import type { FailureReport } from '../core/failure-report.ts'
import { underWay } from '../core/under-way.ts'

const BATCH = 1_000

/** The relay runs this often in any case, in milliseconds, and finds the events of a process that died before it moved them. */
const RELAY_EVERY_MS = 1_000
/**
 * Each move waits for the disk and wakes the followers of the log, so under load the events of these milliseconds travel together. While the log has
 * followers, a few moves may come without a rest, as long as there are no more of them on average: the events of a lone subtask need not wait for others.
 */
const PACES = { followed: { restMs: 25, inAdvance: 3 }, otherwise: { restMs: 500, inAdvance: 0 } }
/** A process with followers says so every second: after this many milliseconds without a word, there are none. */
const FOLLOWED_MS = 3_000
export const SAY_FOLLOWED_EVERY_MS = 1_000

/** The pace of a relay. */
interface RelayPace {
  everyMs: number
  /** How long the next move has to wait, in milliseconds. Asked once before each. */
  restMs(): number
  /** The log has followers now, in this process or another. */
  followed(): void
}

export function createRelayPace(): RelayPace {
  let untilMs = 0
  /** The rests of the moves so far that have not passed yet. */
  let owedMs = 0
  let askedMs = 0
  return {
    everyMs: RELAY_EVERY_MS,
    restMs() {
      const nowMs = performance.now()
      const { restMs, inAdvance } = nowMs < untilMs ? PACES.followed : PACES.otherwise
      owedMs = Math.min(Math.max(0, owedMs - (nowMs - askedMs)), restMs * (inAdvance + 1))
      askedMs = nowMs
      const waitMs = Math.max(0, owedMs - restMs * inAdvance)
      owedMs += restMs
      return waitMs
    },
    followed() {
      untilMs = performance.now() + FOLLOWED_MS
    },
  }
}

/** Every process has one. A process that writes events wakes its own. */
export interface Relay extends Loop {
  /** The log has followers now, in this process or another. */
  followed(): void
}

/** Moves waiting events into the log when it is woken. Otherwise it looks first whether there are any, together with the other looks of the process. */
export function startRelay(deps: Deps, report: FailureReport): Relay {
  const { followed, ...pace } = createRelayPace()
  let isWoken = true
  const move = async () => {
    if (!isWoken && !(await underWay(deps)).announces) return false
    isWoken = false
    const mayBeMore = await report.watch(relayOutbox(deps))
    if (mayBeMore) isWoken = true
    return mayBeMore
  }
  const loop = startLoop(move, { ...pace, onError: report.failed('relay events') })
  return {
    wake() {
      isWoken = true
      loop.wake()
    },
    stop: () => loop.stop(),
    followed,
  }
}

/**
 * Moves waiting events into the log. Returns whether there may be more, also while another process relays, because that may have begun
 * before the events of this process existed.
 */
export async function relayOutbox(deps: Deps): Promise<boolean> {
  const moved = await outbox.moveOutbox(deps.dispatchDb.sql, BATCH)
  if (moved !== null && moved > 0) deps.notifier.notify('logged')
  return moved === null || moved >= BATCH
}
