import type { Event } from '@muster/client'
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { whenServerReturns } from './connection.ts'
import { followLive } from './events.ts'

/** The first event is answered at once, those that follow it within this time by one refresh. A screen is older than the log by no more than this and one request. */
const COLLECT_MS = 100
/** A hidden page that has missed more than this reads everything again. */
const STALE_MAX = 1_000

/** What a screen shows of a subject is stored under its kind and id; lists are stored under the kind and `list`. */
export const keys = {
  list: (noun: string, ...more: unknown[]): QueryKey => [noun, 'list', ...more],
  one: (noun: string, id: string, ...more: unknown[]): QueryKey => [noun, 'one', id, ...more],
}

/** Keeps what is on the screen up to date: each event marks the queries that it may have changed, and those that are visible are read again. */
export function keepFresh(client: QueryClient): () => void {
  const stale = new Map<string, QueryKey>()
  const reading = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let readAtMs = 0
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    // A hidden page is read when it is looked at.
    if (document.hidden) return
    readAtMs = performance.now()
    for (const [name, queryKey] of stale) {
      // To begin again would end what is on its way: a list that takes longer than events come would never arrive.
      if (reading.has(name)) continue
      stale.delete(name)
      reading.add(name)
      void client.invalidateQueries({ queryKey }).finally(() => {
        reading.delete(name)
        if (stale.has(name)) soon()
      })
    }
  }
  const soon = () => {
    timer ??= setTimeout(flush, Math.max(0, readAtMs + COLLECT_MS - performance.now()))
  }
  const mark = (event: Event) => {
    for (const key of keysOf(event)) stale.set(JSON.stringify(key), key)
    if (stale.size > STALE_MAX) markAll()
    soon()
  }
  const markAll = () => {
    stale.clear()
    stale.set('everything', [])
  }
  document.addEventListener('visibilitychange', flush)
  const stopWaiting = whenServerReturns(() => void client.invalidateQueries())
  const stop = followLive((live) => {
    if ('event' in live) mark(live.event)
    else void client.invalidateQueries()
  })
  return () => {
    stop()
    stopWaiting()
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', flush)
  }
}

/** The queries that an event may have changed. */
function keysOf({ type, subject, data }: Event): QueryKey[] {
  const [noun = ''] = type.split('.')
  // Any event may be delivered to a receiver.
  const found: QueryKey[] = [keys.list(subject.kind), keys.one(subject.kind, subject.id), keys.list('event'), keys.list('delivery')]
  if (noun !== subject.kind) found.push([noun])
  // What belongs to a task changes with its subtasks, and a schedule with those that it starts.
  for (const [field, kind] of [
    ['task_id', 'task'],
    ['schedule_id', 'schedule'],
    ['subtask_id', 'subtask'],
  ] as const) {
    const id = data[field]
    if (typeof id === 'string' && kind !== subject.kind) found.push(keys.one(kind, id), keys.list(kind))
  }
  return found
}
