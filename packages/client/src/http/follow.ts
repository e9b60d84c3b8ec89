import { MusterError } from '../errors.ts'
import type { Event } from '../generated/openapi.ts'
import { readServerSentEvents } from './event-source.ts'
import type { InputOf } from './operation.ts'
import { backoffMs, pause } from './pause.ts'
import type { CallOptions, Transport } from './transport.ts'

/** A stream of events, and where in the log it begins. */
export interface FollowOptions extends Pick<CallOptions, 'signal'> {
  /** Continue after this event id; 0 begins with the oldest that is stored. Default: now, and for a subtask its first event. */
  after?: number | undefined
  /** Called when a stream without `after` has begun: what is read from then on misses no event that the stream does not bring. */
  onStart?: (() => void) | undefined
}

type StreamId = 'streamEvents' | 'streamSubtaskEvents'

/** The server sends at least a comment every 15 seconds. A connection that is silent for longer is dead. */
const SILENT_MS = 45_000

/**
 * Follows a stream of events over lost connections and restarts of the server: each event once, in order. Ends where the server says that there
 * is no more. @throws MusterError where a repetition would not help, such as `cursor_pruned`
 */
export async function* followEvents<O extends StreamId>(
  transport: Transport,
  operation: O,
  input: InputOf<O>,
  { signal, after, onStart, isOver }: FollowOptions & { isOver?: () => Promise<boolean> },
): AsyncGenerator<Event> {
  let lastId = after === undefined ? undefined : String(after)
  let failures = 0
  for (;;) {
    signal?.throwIfAborted()
    let received = 0
    try {
      for await (const { id, data } of readStream(transport, operation, input, lastId, signal, onStart)) {
        failures = 0
        if (id !== undefined) lastId = id
        if (data === '') continue
        received += 1
        const event = JSON.parse(data) as Event
        yield event
        if (operation === 'streamSubtaskEvents' && ENDS.has(event.type)) return
      }
    } catch (error) {
      if (error instanceof EndOfStream) return
      if (!(error instanceof MusterError) || !error.retryable) throw error
      failures += 1
      await pause(Math.max(backoffMs(failures - 1), (error.retryAfterSeconds ?? 0) * 1000), signal)
      continue
    }
    // A server that stops closes its streams. One without a single event may also be of a subtask whose events were removed.
    if (received === 0 && (await isOver?.()) === true) return
    await pause(backoffMs(failures), signal)
  }
}

const ENDS = new Set(['subtask.completed', 'subtask.failed', 'subtask.cancelled'])

class EndOfStream extends Error {}

async function* readStream<O extends StreamId>(
  transport: Transport,
  operation: O,
  input: InputOf<O>,
  lastId: string | undefined,
  signal: AbortSignal | undefined,
  onStart: (() => void) | undefined,
): ReturnType<typeof readServerSentEvents> {
  const silence = new AbortController()
  const hangUp = () => silence.abort(new MusterError('connection_failed', `The stream was silent for ${SILENT_MS / 1000} s.`))
  let timer = setTimeout(hangUp, SILENT_MS)
  const either = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal])
  const headers = { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) }
  try {
    const response = await transport.open(operation, input, { signal: either, headers, retries: 0 })
    if (response.status === 204 || response.body === null) throw new EndOfStream()
    if (lastId === undefined) onStart?.()
    yield* readServerSentEvents(response.body, () => {
      clearTimeout(timer)
      timer = setTimeout(hangUp, SILENT_MS)
    })
  } catch (error) {
    if (error instanceof MusterError || error instanceof EndOfStream) throw error
    if (either.aborted) throw either.reason
    throw new MusterError('connection_failed', 'The connection of the stream broke.', { cause: error })
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}
