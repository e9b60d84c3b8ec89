import type { Event } from '@muster/client'
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { whenServerReturns } from './connection.ts'
import { followLive } from './events.ts'

/**
 * The first event is answered at once, those that follow it within this time by one refresh. A screen is older than the log by no more than this and
 * one request. What is read of one subject costs little, and a person who changed it waits for it.
 */
const COLLECT_MS = { one: 40, list: 100 }
/** A hidden page that has missed more than this reads everything again. */
const STALE_MAX = 1_000

/** What a screen shows of a subject is stored under its kind and id; lists are stored under the kind and `list`. */
export const keys = {
  list: (noun: string, ...more: unknown[]): QueryKey => [noun, 'list', ...more],
  one: (noun: string, id: string, ...more: unknown[]): QueryKey => [noun, 'one', id, ...more],
}

/** Keeps what is on the screen up to date: each event marks the queries that it may have changed, and those that are visible are read again. */
export function keepFresh(client: QueryClient): () => void {
  const ones = new Stale(client, COLLECT_MS.one)
  const lists = new Stale(client, COLLECT_MS.list)
  const flush = () => {
    ones.flush()
    lists.flush()
  }
  document.addEventListener('visibilitychange', flush)
  const stopWaiting = whenServerReturns(() => void client.invalidateQueries())
  const stop = followLive((live) => {
    if (!('event' in live)) return void readAgain(client)
    for (const key of keysOf(live.event)) (key[1] === 'one' ? ones : lists).mark(key)
  })
  return () => {
    stop()
    stopWaiting()
    ones.stop()
    lists.stop()
    document.removeEventListener('visibilitychange', flush)
  }
}

/**
 * Reads again the visible queries whose key begins with `queryKey`. What is on its way may have been read before the change: it is shown when it arrives,
 * and read again then. To begin it again would make a screen that opens wait twice, and a list that takes longer than events come would never arrive.
 */
async function readAgain(client: QueryClient, queryKey: QueryKey = []): Promise<void> {
  const underWay = client.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  await Promise.all([
    client.invalidateQueries({ queryKey, predicate: (query) => !underWay.includes(query) }),
    ...underWay.map(async (query) => {
      // Also where it fails: its error is shown by the screen that asked.
      await Promise.allSettled([query.promise])
      await client.invalidateQueries({ queryKey: query.queryKey, exact: true })
    }),
  ])
}

/** Queries that have to be read again, and when: not more often than every so many milliseconds. */
class Stale {
  readonly #client: QueryClient
  readonly #collectMs: number
  readonly #keys = new Map<string, QueryKey>()
  readonly #reading = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #readAtMs = 0

  constructor(client: QueryClient, collectMs: number) {
    this.#client = client
    this.#collectMs = collectMs
  }

  mark(key: QueryKey): void {
    this.#keys.set(JSON.stringify(key), key)
    if (this.#keys.size > STALE_MAX) {
      this.#keys.clear()
      this.#keys.set('everything', [])
    }
    this.#soon()
  }

  flush(): void {
    this.stop()
    // A hidden page is read when it is looked at.
    if (document.hidden) return
    this.#readAtMs = performance.now()
    for (const [name, queryKey] of this.#keys) {
      if (this.#reading.has(name)) continue
      this.#keys.delete(name)
      this.#reading.add(name)
      void readAgain(this.#client, queryKey).finally(() => {
        this.#reading.delete(name)
        if (this.#keys.has(name)) this.#soon()
      })
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#readAtMs + this.#collectMs - performance.now()))
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
