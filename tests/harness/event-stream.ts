import { createParser } from 'eventsource-parser'
import type { Client } from './client.ts'
import { componentSchema, schemaProblems } from './openapi.ts'
import { within } from './until.ts'
import type { MusterEvent } from './wire.ts'

const EVENT_WITHIN_MS = 20_000
const EVENT = componentSchema('Event')

/** Server-sent events as they arrive, each held against its schema. */
export class EventStream {
  readonly events: MusterEvent[] = []
  /** Resolves when the server has closed the stream, or the connection broke. */
  readonly closed: Promise<void>
  readonly status: number
  readonly #abort: AbortController
  #listeners = new Set<() => void>()
  #isClosed = false
  #problem: Error | null = null

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status
    this.#abort = abort
    this.closed = this.#read(response).finally(() => {
      this.#isClosed = true
      this.#tell()
    })
  }

  /** Opens a stream. @throws Error unless it is answered with 200 or 204 */
  static async open(client: Client, path: string, { lastEventId }: { lastEventId?: number } = {}): Promise<EventStream> {
    const abort = new AbortController()
    const headers = { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }) }
    const response = await fetch(new URL(path, client.address), { ...client.request({ headers }), signal: abort.signal })
    if (response.status !== 204 && (response.status !== 200 || !response.headers.get('content-type')?.startsWith('text/event-stream'))) {
      throw new Error(`GET ${path} was answered with ${response.status}: ${await response.text()}`)
    }
    return new EventStream(response, abort)
  }

  get types(): string[] {
    return this.events.map((event) => event.type)
  }

  get lastId(): number {
    return this.events.at(-1)?.id ?? 0
  }

  /** The first event that fits, also if it has come already. */
  async event(fits: string | ((event: MusterEvent) => boolean)): Promise<MusterEvent> {
    const isFitting = typeof fits === 'string' ? (event: MusterEvent) => event.type === fits : fits
    const what = typeof fits === 'string' ? fits : 'the awaited event'
    const found = new Promise<MusterEvent>((resolve, reject) => {
      const look = () => {
        const event = this.events.find(isFitting)
        if (event === undefined && !this.#isClosed) return
        this.#listeners.delete(look)
        if (event === undefined) reject(this.#problem ?? new Error(`The stream ended without ${what}; it had ${this.types.join(', ')}.`))
        else resolve(event)
      }
      this.#listeners.add(look)
      look()
    })
    return await within(`The event ${what} (so far: ${this.types.join(', ')})`, EVENT_WITHIN_MS, found)
  }

  /** Waits for the server to close it. */
  async ended(timeoutMs = EVENT_WITHIN_MS): Promise<void> {
    await within('The end of the stream', timeoutMs, this.closed)
    if (this.#problem !== null) throw this.#problem
  }

  /** Hangs up. */
  close(): void {
    this.#abort.abort()
  }

  async #read(response: Response): Promise<void> {
    if (response.body === null) return
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        const parsed = JSON.parse(data) as MusterEvent
        const problems = schemaProblems(EVENT, parsed)
        if (String(parsed.id) !== id || parsed.type !== event) problems.push(`id and event of the frame (${id}, ${event}) are not those of its data`)
        if (problems.length > 0) this.#problem = new Error(`An event is not as openapi.yaml says: ${problems.join('; ')}\n${data}`)
        this.events.push(parsed)
        this.#tell()
      },
    })
    try {
      for await (const text of response.body.pipeThrough(new TextDecoderStream())) parser.feed(text)
    } catch {
      // A server that was killed breaks the connection; the reader only has to know that it is over.
    }
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
