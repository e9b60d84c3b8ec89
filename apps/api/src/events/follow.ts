import { DomainError, isTerminalSubtaskEvent, type LoggedEvent } from '@muster/domain'
import { type Ctx, latestEventSeq, readEvents } from '@muster/usecases'
import type { EventFeed } from './feed.ts'
import type { EventSink } from './sink.ts'

const PAGE = 200
/** New events to keep while older ones are being sent. Beyond that, they are read from the log again. */
const WAITING_MAX = 1_000

export interface Following {
  /** Events after this number are sent. */
  afterSeq: number
  type?: string | undefined
  subjectId?: string | undefined
  /** Ends the stream after the event that ends the subtask. */
  endsWithSubtask?: boolean
}

/**
 * Sends the events of the log after a number, then new events, in order and each once, until the sink is closed.
 *
 * It subscribes before it reads the log, so that no event is missed. New events wait until the log has been read, and are sent if their number is
 * higher than the last one read.
 */
export async function follow(ctx: Ctx, feed: EventFeed, sink: EventSink, { afterSeq, type, subjectId, endsWithSubtask }: Following): Promise<void> {
  let last = afterSeq
  let waiting: LoggedEvent[] | null = []
  let hasOverflown = false

  const deliver = (event: LoggedEvent) => {
    if (event.id <= last) return
    last = event.id
    if (type === undefined || type === event.type) sink.send(event)
    if (endsWithSubtask === true && isTerminalSubtaskEvent(event.type)) sink.end()
  }
  const unsubscribe = feed.subscribe({ projectId: ctx.actor.projectId, subjectId }, (event) => {
    if (waiting === null) return deliver(event)
    if (waiting.length < WAITING_MAX) waiting.push(event)
    else hasOverflown = true
  })
  try {
    await Promise.race([feed.ready(), aborted(sink.closed)])
    if (sink.closed.aborted) return
    do {
      hasOverflown = false
      waiting = []
      let page: LoggedEvent[]
      do {
        page = await readEvents(ctx, { afterSeq: last, types: type === undefined ? undefined : [type], subjectId, limit: PAGE })
        for (const event of page) deliver(event)
        await sink.drained()
      } while (page.length === PAGE && !sink.closed.aborted)
    } while (hasOverflown && !sink.closed.aborted)
    for (const event of waiting) deliver(event)
    waiting = null
    await aborted(sink.closed)
  } finally {
    unsubscribe()
  }
}

/**
 * Refuses a place in the log from which a reader would miss events without noticing.
 *
 * @throws DomainError `cursor_pruned` before the oldest event that is kept, `cursor_invalid` after the last event
 */
export async function checkCursor(ctx: Ctx, afterSeq: number): Promise<void> {
  if (afterSeq === 0) return
  await readEvents(ctx, { afterSeq, limit: 1 })
  const latest = await latestEventSeq(ctx)
  if (afterSeq > latest) {
    throw new DomainError('cursor_invalid', `The last event of the log is ${latest}, so ${afterSeq} is not a place in it.`)
  }
}

const LAST_EVENT_ID = /^\d{1,15}$/

/**
 * The place in the log where a reader continues. The header takes precedence: a browser that reconnects repeats the old URL.
 *
 * @throws DomainError `cursor_invalid`
 */
export function cursorOf(headers: Record<string, string | string[] | undefined>, after: number | undefined): number | undefined {
  const header = headers['last-event-id']
  if (header === undefined || header === '') return after
  if (typeof header !== 'string' || !LAST_EVENT_ID.test(header))
    throw new DomainError('cursor_invalid', 'Last-Event-ID must be the id of an event: a whole number.')
  return Number(header)
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
