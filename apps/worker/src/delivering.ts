import { type Loop, startLoop } from '@muster/jobs'
import { type Channels, claimDeliveries, type Deps, sendDelivery } from '@muster/usecases'
import type { RestoreWatch } from './restore-watch.ts'

/** Finds deliveries that come due without a notification, such as another attempt: while any is open, and otherwise. */
const LOOK_EVERY_MS = { open: 1_000, idle: 5_000 }
/** Deliveries that end in these milliseconds make room together. */
const COLLECT_MS = 10
/** Another process claims for a few milliseconds. */
const CLAIM_AGAIN_MS = 15
/** Deliveries that are being sent when the worker stops get this long, in milliseconds. Then they are given back, and sent again by another worker. */
const STOP_MS = 2_000

export interface Delivering {
  wake(): void
  stop(): Promise<void>
}

/** Sends deliveries, many at once. One that waits for its receiver keeps only its own place. */
export function startDelivering(
  deps: Deps & { channels: Channels },
  onError: (what: string) => (error: unknown) => void,
  restores: Pick<RestoreWatch, 'isHeldNow'>,
): Delivering {
  const { channels, settings, log } = deps
  const stopping = new AbortController()
  const sent = new Set<Promise<void>>()
  let isStopping = false
  let everyMs = LOOK_EVERY_MS.open

  const take = async () => {
    const free = settings.DELIVERY_CONCURRENCY - sent.size
    if (free <= 0 || isStopping || (await restores.isHeldNow())) return undefined
    const claimed = await claimDeliveries(deps, free)
    if (claimed === null) return CLAIM_AGAIN_MS
    everyMs = claimed.isAnyOpen ? LOOK_EVERY_MS.open : LOOK_EVERY_MS.idle
    for (const held of claimed.held) {
      const sending = sendDelivery(deps, channels, held, stopping.signal)
        .then((status) => log.debug({ delivery_id: held.id, receiver_id: held.receiverId, attempt: held.tries, status }, 'delivery attempted'))
        // Its lease expires, and it is sent again.
        .catch(onError('send a delivery'))
        .finally(() => {
          sent.delete(sending)
          loop.wake()
        })
      sent.add(sending)
    }
    return undefined
  }
  const loop: Loop = startLoop(take, { everyMs: () => everyMs, restMs: COLLECT_MS, onError: onError('take deliveries') })

  return {
    wake: () => loop.wake(),
    async stop() {
      isStopping = true
      await loop.stop()
      const timer = setTimeout(() => stopping.abort(), STOP_MS)
      await Promise.all(sent)
      clearTimeout(timer)
    },
  }
}
