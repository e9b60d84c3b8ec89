import type { ServerResponse } from 'node:http'
import type { LoggedEvent } from '@muster/domain'
import { presentEvent } from '../routes/events/event-schema.ts'

/** A reader with more unread bytes is disconnected. It reconnects with `Last-Event-ID` and misses nothing. */
const UNREAD_BYTES_MAX = 1_048_576
const HEARTBEAT_MS = 15_000
const RECONNECT_MS = 1_000

/** The receiver of one stream of events. */
export interface EventSink {
  send(event: LoggedEvent): void
  /** Says after which number the stream begins, so that a reader whose connection breaks before the first event continues there. */
  beginAfter(seq: number): void
  /** Resolves when the reader has read most of what was sent, or is gone. */
  drained(): Promise<void>
  /** Ends the stream after the last event sent. */
  end(): void
  /** Aborted when the stream has ended, the reader is gone, or the server stops. */
  readonly closed: AbortSignal
}

/** Sends server-sent events over a raw response. */
export function createEventSink(response: ServerResponse, stopping: AbortSignal): EventSink {
  const closing = new AbortController()
  const end = () => {
    if (closing.signal.aborted) return
    closing.abort()
    response.end()
  }
  const timer = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS)
  closing.signal.addEventListener('abort', () => {
    clearInterval(timer)
    stopping.removeEventListener('abort', end)
  })
  stopping.addEventListener('abort', end)
  response.on('close', end)
  response.on('error', end)
  response.write(`retry: ${RECONNECT_MS}\n\n`)
  // A reader that left while its request was judged has closed the response already, and it says so only once.
  if (stopping.aborted || response.destroyed) end()

  return {
    send(event) {
      if (closing.signal.aborted) return
      response.write(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`)
      if (response.writableLength > UNREAD_BYTES_MAX) {
        end()
        response.destroy()
      }
    },
    beginAfter(seq) {
      // Without data it is no message, but every reader keeps the id.
      response.write(`id: ${seq}\n\n`)
    },
    drained() {
      if (!response.writableNeedDrain || closing.signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          response.off('drain', done)
          closing.signal.removeEventListener('abort', done)
          resolve()
        }
        response.on('drain', done)
        closing.signal.addEventListener('abort', done)
      })
    },
    end,
    closed: closing.signal,
  }
}
