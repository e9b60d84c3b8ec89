import { useSyncExternalStore } from 'react'

const TICK_MS = 1_000
const listeners = new Set<() => void>()
let nowMs = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  nowMs = Date.now()
  timer ??= setInterval(() => {
    nowMs = Date.now()
    for (const each of listeners) each()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The current time in milliseconds, to the second. One timer serves the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs)
}

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' })
const ABSOLUTE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** How long ago, or how far ahead, something is: `3m ago`. */
function relativeTime(atMs: number, now: number): string {
  const seconds = Math.round((atMs - now) / 1000)
  for (const [unit, size] of UNITS) if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit)
  return Math.abs(seconds) < 2 ? 'now' : RELATIVE.format(seconds, 'second')
}

/** A point in time: how long ago, and the exact time on hovering. */
export function Time({ at, exact = false }: { at: string | null; exact?: boolean }) {
  const now = useNow()
  if (at === null) return <span className="meta">–</span>
  const date = new Date(at)
  const full = ABSOLUTE.format(date)
  return (
    <time className="meta" dateTime={at} title={full}>
      {exact ? full : relativeTime(date.getTime(), now)}
    </time>
  )
}

/** A length of time: `820 ms`, `4.2 s`, `3 m 05 s`, `2 h 10 m`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} m ${String(Math.floor((ms % 60_000) / 1000)).padStart(2, '0')} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} m`
}

/** How long something took, or how long it has been going on. */
export function Elapsed({ from, until }: { from: string | null; until: string | null }) {
  const now = useNow()
  if (from === null) return <span className="meta">–</span>
  const end = until === null ? now : new Date(until).getTime()
  return <span className="meta">{duration(Math.max(0, end - new Date(from).getTime()))}</span>
}
