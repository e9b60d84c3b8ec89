import { type Event, MusterError } from '@muster/client'
import { muster } from '../muster.ts'
import { wallClockMs } from './clock.ts'

/** The tab that holds this lock follows the event log, and passes what it reads to the others: one connection for each browser. */
const LOCK = 'muster-events'
const CHANNEL = 'muster-events'
/** After an error that is no outage, such as a sign-out. In milliseconds. */
const AGAIN_MS = 5_000
/** How often a visible tab asks the following one whether it still runs: browsers freeze hidden tabs. Nothing is sent to the server. In milliseconds. */
const ASK_MS = 2_000
/** A timer that comes this late was in a machine that slept: its connection may be dead without a word. Timers of hidden tabs come once a minute. */
const SLEPT_MS = 90_000

/** What a tab receives: an event, or that events may be missing and everything has to be read again. */
export type Live = { event: Event } | { isGap: true }

const listeners = new Set<(live: Live) => void>()
let stop: (() => void) | undefined

/**
 * Calls back with each event of the project, from now on. If the following tab is closed or does not answer, another takes over, and reports the gap.
 *
 * @returns stops it
 */
export function followLive(onLive: (live: Live) => void): () => void {
  listeners.add(onLive)
  stop ??= start()
  return () => {
    listeners.delete(onLive)
    if (listeners.size > 0) return
    stop?.()
    stop = undefined
  }
}

function start(): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  const channel = new BroadcastChannel(CHANNEL)
  let lastId = 0
  /** Ends the wait for the lock, to take it from a tab that does not answer; undefined while this tab holds it. */
  let waiting: AbortController | undefined
  /** Begins the stream anew; undefined while another tab follows. */
  let stream: AbortController | undefined

  const tell = (live: Live) => {
    // A tab that was frozen passes on what it had read before, and others have read since.
    if ('event' in live && live.event.id <= lastId) return
    lastId = 'event' in live ? live.event.id : 0
    for (const listener of listeners) listener(live)
  }
  const publish = (live: Live) => {
    channel.postMessage(live)
    tell(live)
  }

  async function follow(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      const current = new AbortController()
      stream = current
      try {
        // Not before the stream has begun: what happens between reading a screen and that would never be seen.
        const onStart = () => publish({ isGap: true })
        for await (const event of muster.events.follow({ signal: AbortSignal.any([ended, current.signal]), onStart })) publish({ event })
      } catch (error) {
        if (ended.aborted || current.signal.aborted || MusterError.is(error, 'cursor_pruned')) continue
        // A tab that may not follow may not read: the screens find out why, and say it.
        publish({ isGap: true })
        await pause(AGAIN_MS, AbortSignal.any([ended, current.signal]))
      } finally {
        stream = undefined
      }
    }
  }

  async function lead(): Promise<void> {
    // Pages that are served without TLS from another machine have no locks: there, each tab follows by itself.
    if (navigator.locks === undefined) return await follow(signal)
    let takesOver = false
    while (!signal.aborted) {
      const term = new AbortController()
      const wait = new AbortController()
      waiting = wait
      const hold = () => {
        waiting = undefined
        return follow(AbortSignal.any([signal, term.signal]))
      }
      try {
        await navigator.locks.request(LOCK, takesOver ? { steal: true } : { signal: AbortSignal.any([signal, wait.signal]) }, hold)
      } catch (error) {
        // It ended, another tab took over, or this one is about to.
        if (!(error instanceof DOMException) || error.name !== 'AbortError') throw error
      }
      term.abort()
      takesOver = wait.signal.aborted
    }
  }

  let isAsked = false
  channel.onmessage = ({ data }: MessageEvent<Live | 'are you there' | 'yes'>) => {
    if (data === 'are you there') {
      if (stream !== undefined) channel.postMessage('yes')
      return
    }
    isAsked = false
    if (data !== 'yes') tell(data)
  }
  const ask = () => {
    if (document.hidden || waiting === undefined) return
    // Asked a while ago, and nothing came.
    if (isAsked) waiting.abort()
    isAsked = !isAsked
    if (isAsked) channel.postMessage('are you there')
  }
  let tickedAtMs = wallClockMs()
  const tick = () => {
    const lateMs = wallClockMs() - tickedAtMs
    tickedAtMs = wallClockMs()
    if (lateMs > SLEPT_MS) stream?.abort()
    ask()
  }
  const timer = setInterval(tick, ASK_MS)
  const onOnline = () => stream?.abort()
  document.addEventListener('visibilitychange', tick)
  window.addEventListener('online', onOnline)
  void lead()
  return () => {
    stopping.abort()
    clearInterval(timer)
    document.removeEventListener('visibilitychange', tick)
    window.removeEventListener('online', onOnline)
    channel.close()
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
