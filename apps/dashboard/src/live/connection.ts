import { useSyncExternalStore } from 'react'

/** A short failure, such as a restart, is not worth a banner. In milliseconds. */
const SHOW_AFTER_MS = 1_500
/** How often the server is asked whether it is back, as long as the banner is shown. In milliseconds. */
const PROBE_MS = 1_000

let isAway = false
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()
const onReturn = new Set<() => void>()

/** The server did not answer, or has no database. */
export function reportOutage(): void {
  if (timer !== undefined) return
  timer = setTimeout(() => set(true), SHOW_AFTER_MS)
}

/** The server answered. */
export function reportAnswer(): void {
  clearTimeout(timer)
  timer = undefined
  if (isAway) set(false)
}

function set(next: boolean): void {
  timer = next ? setTimeout(probe, PROBE_MS) : undefined
  isAway = next
  for (const listener of listeners) listener()
  if (!next) for (const listener of onReturn) listener()
}

/** Nothing else may be on its way: a page reads only what has changed. */
async function probe(): Promise<void> {
  const isReady = await fetch('/readyz').then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isAway) return
  if (isReady) reportAnswer()
  else timer = setTimeout(probe, PROBE_MS)
}

/** Calls back whenever the server answers again after an outage. @returns ends it */
export function whenServerReturns(listener: () => void): () => void {
  onReturn.add(listener)
  return () => onReturn.delete(listener)
}

/** Whether the server has been away for longer than a moment. */
export function useIsServerAway(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isAway,
  )
}
