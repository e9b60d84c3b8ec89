import type { Event, Step, Subtask, Update } from '../generated/openapi.ts'
import { type FollowOptions, followEvents } from '../http/follow.ts'
import type { BodyOf } from '../http/operation.ts'
import { pollUntil, WAIT_SECONDS } from '../http/poll.ts'
import type { CallOptions, Transport } from '../http/transport.ts'

/** What a follower of a subtask receives. */
export type Followed = { kind: 'event'; event: Event } | { kind: 'step'; step: Step }

const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

/** A subtask, to wait for, follow, steer and cancel. */
export class SubtaskHandle {
  readonly id: string
  /** As it was when it was spawned; undefined for a handle that was made of an id. */
  readonly subtask: Subtask | undefined
  readonly #transport: Transport

  constructor(transport: Transport, id: string, subtask?: Subtask) {
    this.#transport = transport
    this.id = id
    this.subtask = subtask
  }

  /** The subtask as it is now. */
  get(options?: CallOptions): Promise<Subtask> {
    return this.#transport.call('getSubtask', { path: { id: this.id } }, options)
  }

  /**
   * The subtask when it has ended, whatever its outcome: read `status` and `final_outcome`. Waits as long as it takes, also over restarts of the
   * server; a signal such as `AbortSignal.timeout(60_000)` limits that.
   */
  result(options: Pick<CallOptions, 'signal'> = {}): Promise<Subtask> {
    if (this.subtask !== undefined && FINAL.has(this.subtask.status)) return Promise.resolve(this.subtask)
    return pollUntil(
      () => this.#transport.call('getSubtask', { path: { id: this.id }, query: { wait_seconds: WAIT_SECONDS } }, options),
      ({ status }) => FINAL.has(status),
      options.signal,
    )
  }

  /** Its events from the first, until it ends. */
  events(options: FollowOptions = {}): AsyncGenerator<Event> {
    // A server that closes its streams goes away: it is waited for, as the stream is.
    const isOver = async () => FINAL.has((await this.get({ signal: options.signal, retries: Number.POSITIVE_INFINITY })).status)
    return followEvents(this.#transport, 'streamSubtaskEvents', { path: { id: this.id } }, { ...options, isOver })
  }

  /** Its events and the steps of its transcript as they happen, until it ends. Needs the scopes `events:read` and `subtasks:read`. */
  async *follow(options: FollowOptions = {}): AsyncGenerator<Followed> {
    const steps = new StepReader(this.#transport, this.id, options.signal)
    for await (const event of this.events(options)) {
      for await (const step of steps.since()) yield { kind: 'step', step }
      yield { kind: 'event', event }
    }
  }

  /** Sends an update to the run. Its receipt is in `updates`. */
  steer(update: string | BodyOf<'steerSubtask'>, options?: CallOptions): Promise<Update> {
    const body = typeof update === 'string' ? { content: update } : update
    return this.#transport.call('steerSubtask', { path: { id: this.id }, body }, options)
  }

  /** Asks for its end. A pending subtask is cancelled at once, a running one as soon as its worker stops it. */
  cancel(options?: CallOptions): Promise<Subtask> {
    return this.#transport.call('cancelSubtask', { path: { id: this.id } }, options)
  }
}

/** A subtask that is being spawned: await it for its handle, or use it as one at once. */
export class Spawning extends Promise<SubtaskHandle> {
  /** What `then` returns is an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  static begin(handle: Promise<SubtaskHandle>): Spawning {
    return new Spawning((resolve) => resolve(handle))
  }

  async result(options?: Pick<CallOptions, 'signal'>): Promise<Subtask> {
    return (await this).result(options)
  }

  async *events(options?: FollowOptions): AsyncGenerator<Event> {
    yield* (await this).events(options)
  }

  async *follow(options?: FollowOptions): AsyncGenerator<Followed> {
    yield* (await this).follow(options)
  }

  async steer(update: string | BodyOf<'steerSubtask'>, options?: CallOptions): Promise<Update> {
    return (await this).steer(update, options)
  }

  async cancel(options?: CallOptions): Promise<Subtask> {
    return (await this).cancel(options)
  }
}

/** Reads a transcript on, from where it was read before. */
class StepReader {
  readonly #transport: Transport
  readonly #id: string
  readonly #signal: AbortSignal | undefined
  /** Of the last page, which may have grown since. */
  #cursor: string | undefined
  #lastSeq = 0

  constructor(transport: Transport, id: string, signal: AbortSignal | undefined) {
    this.#transport = transport
    this.#id = id
    this.#signal = signal
  }

  async *since(): AsyncGenerator<Step> {
    for (;;) {
      const query = this.#cursor === undefined ? {} : { cursor: this.#cursor }
      // The events outlive an outage, and so must what is read between two of them.
      const options = { signal: this.#signal, retries: Number.POSITIVE_INFINITY }
      const page = await this.#transport.call('listSubtaskSteps', { path: { id: this.#id }, query }, options)
      for (const step of page.items) {
        if (step.seq <= this.#lastSeq) continue
        this.#lastSeq = step.seq
        yield step
      }
      if (page.next_cursor === null) return
      this.#cursor = page.next_cursor
    }
  }
}
