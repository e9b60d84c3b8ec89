import type { EventDeliverySummary } from '@muster/client'
import { queryOptions } from '@tanstack/react-query'
import { wallClockMs } from '../../live/clock.ts'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

/** An attempt writes no event. While one is under way or due, it is read again this often. In milliseconds. */
const READ_MS = 1_000
/** A worker may try earlier than planned: after a webhook was enabled, for example. In milliseconds. */
const READ_MS_MAX = 60_000
/** Only the newest deliveries of a list are read again. */
const WATCHED = 200

/** When the next attempt of these deliveries may have ended, in milliseconds from now; false if none is left. */
export function nextAttemptMs(deliveries: readonly EventDeliverySummary[]): number | false {
  const open = deliveries.slice(0, WATCHED).filter(({ status }) => status === 'pending' || status === 'sending')
  if (open.length === 0) return false
  const due = open.map(({ next_attempt_at }) => (next_attempt_at === null ? 0 : Date.parse(next_attempt_at) - wallClockMs()))
  return Math.min(READ_MS_MAX, Math.max(READ_MS, Math.min(...due)))
}

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: keys.one('delivery', id),
    queryFn: ({ signal }) => muster.deliveries.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data === undefined ? false : nextAttemptMs([data])),
  })
