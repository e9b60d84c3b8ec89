import type { Event } from '@muster/client'
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { whenServerReturns } from './connection.ts'
import { followLive } from './events.ts'

/** Events that come within this time are answered by one refresh. A screen is older than the log by no more than this and one request. */
const COLLECT_MS = 100

/** What a screen shows of a subject is stored under its kind and id; lists are stored under the kind and `list`. */
export const keys = {
  list: (noun: string, ...more: unknown[]): QueryKey => [noun, 'list', ...more],
  one: (noun: string, id: string, ...more: unknown[]): QueryKey => [noun, 'one', id, ...more],
}

/** Keeps what is on the screen up to date: each event marks the queries that it may have changed, and those that are visible are read again. */
export function keepFresh(client: QueryClient): () => void {
  let stale = new Map<string, QueryKey>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    const marked = [...stale.values()]
    stale = new Map()
    timer = undefined
    for (const queryKey of marked) void client.invalidateQueries({ queryKey })
  }
  const mark = (event: Event) => {
    for (const key of keysOf(event)) stale.set(JSON.stringify(key), key)
    timer ??= setTimeout(flush, COLLECT_MS)
  }
  whenServerReturns(() => void client.invalidateQueries())
  const stop = followLive((live) => {
    if ('event' in live) mark(live.event)
    else void client.invalidateQueries()
  })
  return () => {
    stop()
    clearTimeout(timer)
  }
}

/** The queries that an event may have changed. */
function keysOf({ type, subject, data }: Event): QueryKey[] {
  const [noun = ''] = type.split('.')
  const found: QueryKey[] = [keys.list(subject.kind), keys.one(subject.kind, subject.id), keys.list('event')]
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
