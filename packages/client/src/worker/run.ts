import type { Api } from '../api.ts'
import { MusterError } from '../errors.ts'
import type { Brief, ClaimedSubtask, CompleteRequest, Question, StepKind, Subtask, UsageDelta, WordedUpdate } from '../generated/openapi.ts'
import type { BodyOf } from '../http/operation.ts'
import { backoffMs, pause } from '../http/pause.ts'
import type { Transport } from '../http/transport.ts'
import { Outbox } from './outbox.ts'

/** Why a run has to stop: the reason of its signal. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped'
  readonly why: 'cancelled' | 'lease_lost' | 'worker_stopped'

  constructor(why: 'cancelled' | 'lease_lost' | 'worker_stopped') {
    super({ cancelled: 'The subtask was cancelled.', lease_lost: 'Another worker has the subtask.', worker_stopped: 'This worker stops.' }[why])
    this.why = why
  }
}

/** What `suspend` returns: return it from the function of the worker. */
export class Suspended {
  readonly questionId: string

  constructor(questionId: string) {
    this.questionId = questionId
  }
}

/** One attempt at a subtask, held by a worker under a lease that is renewed for it. */
export class Run {
  readonly id: string
  readonly subtask: Subtask
  readonly brief: Brief
  /** The complete prompt for an agent: the brief as one text. */
  readonly prompt: string
  /** Counts the attempts at the subtask, from 1. */
  readonly attempt: number
  /** What the attempt before left with `suspend`. */
  readonly continuation: string | undefined
  /** Aborted when the work is to stop; its reason is a RunStopped, or the error that made the lease useless. */
  readonly signal: AbortSignal
  /** A client with the subtask's own credential: it reads its own work and asks, and starts no work. */
  readonly muster: Api
  readonly #transport: Transport
  readonly #lease: { token: string; seconds: number }
  readonly #stopping = new AbortController()
  readonly #over = new AbortController()
  readonly #outbox = new Outbox()
  readonly #listeners = new Set<(update: WordedUpdate) => unknown>()
  readonly #seen = new Set<string>()
  #unread: WordedUpdate[] = []
  /** The worker stops, also where the run was to stop for another reason before. */
  #isLeaving = false
  #beating: Promise<void> = Promise.resolve()

  constructor(claimed: ClaimedSubtask, leaseSeconds: number, transport: Transport, muster: Api) {
    this.id = claimed.subtask.id
    this.subtask = claimed.subtask
    this.brief = claimed.brief
    this.prompt = claimed.brief.text
    this.attempt = claimed.lease.attempt
    this.continuation = claimed.brief.continuation?.state
    this.signal = this.#stopping.signal
    this.muster = muster
    this.#transport = transport
    this.#lease = { token: claimed.lease.token, seconds: leaseSeconds }
  }

  /** Adds a step to the transcript. It is sent with the next heartbeat or checkpoint. */
  step(kind: StepKind, content: unknown): void {
    this.#outbox.steps.push({ kind, content })
  }

  /** Reports what was used since the last report; amounts are added up. */
  use(usage: UsageDelta): void {
    this.#outbox.use(usage)
  }

  /**
   * Calls the listener with each update, those that wait already too. An update is acknowledged when the listener, or the promise that it returns, is done.
   * Without a listener, `checkpoint` returns updates.
   */
  onUpdate(listener: (update: WordedUpdate) => unknown): void {
    this.#listeners.add(listener)
    for (const update of this.#unread.splice(0)) this.#deliver(update)
  }

  /** Stores the steps so far now, and returns the updates that have come since, which are thereby acknowledged. @throws the reason of the signal if the work is to stop */
  async checkpoint(): Promise<WordedUpdate[]> {
    await this.#beat()
    this.signal.throwIfAborted()
    const updates = this.#unread.splice(0)
    for (const { id } of updates) this.#outbox.acknowledged.push(id)
    return updates
  }

  /** Asks the parent session, and waits for the answer while the run keeps its place and its lease. `suspend` waits without a process. */
  async ask(question: BodyOf<'askAboutSubtask'>): Promise<Question> {
    const { id } = await this.#ask(question)
    return this.muster.questions.closed(id, { signal: this.signal })
  }

  /**
   * Asks, and ends this attempt until the answer is there: `return run.suspend({ prompt: 'Which port?' }, state)`. The next attempt has `continuation`,
   * and the answer in its prompt.
   */
  async suspend(question: BodyOf<'askAboutSubtask'>, continuation: string): Promise<Suspended> {
    const { id } = await this.#ask(question)
    await this.#flush()
    await this.#write('waitForAnswer', { question_id: id, continuation })
    return new Suspended(id)
  }

  /** Renews the lease until the run is settled or its lease is lost. */
  async keepAlive(): Promise<void> {
    const everyMs = (this.#lease.seconds * 1000) / 3
    const over = this.#over.signal
    while (!over.aborted) {
      await pause(everyMs, over).catch(() => undefined)
      if (!over.aborted) await this.#beat().catch((error) => this.stop(error))
    }
  }

  /** Tells the work to stop. */
  stop(reason: unknown): void {
    if (reason instanceof RunStopped && reason.why === 'worker_stopped') this.#isLeaving = true
    this.#stopping.abort(reason)
  }

  /** Stores the result, after everything that was reported. The server is waited for. @throws MusterError if it refuses */
  async complete(result: Omit<CompleteRequest, 'lease_token'>): Promise<void> {
    await this.#flush()
    await this.#write('completeSubtask', { ...result })
  }

  /** Stores that the attempt failed, or returns the subtask. Reports that cannot be stored must not keep the end from being stored. */
  async giveUp(operation: 'failSubtask' | 'releaseSubtask', body: Record<string, unknown>): Promise<void> {
    await this.#flush().catch(() => undefined)
    await this.#write(operation, body)
  }

  /** Ends the heartbeats. */
  end(): void {
    this.#over.abort()
  }

  /** A server that is away is waited for, until the work is to stop. */
  #ask(question: BodyOf<'askAboutSubtask'>): Promise<Question> {
    return this.muster.subtasks.ask(this.id, question, { signal: this.signal, retries: Number.POSITIVE_INFINITY })
  }

  /** Sends everything that was reported. */
  async #flush(): Promise<void> {
    while (!this.#outbox.isEmpty) await this.#beat()
  }

  /** A write that must arrive, with one Idempotency-Key over all tries. */
  async #write(operation: 'completeSubtask' | 'failSubtask' | 'releaseSubtask' | 'waitForAnswer', body: Record<string, unknown>): Promise<void> {
    const idempotencyKey = crypto.randomUUID()
    const input = { path: { id: this.id }, body: { lease_token: this.#lease.token, ...body } as never }
    await this.#untilReached(() => this.#transport.call(operation, input, { idempotencyKey }))
  }

  /** One heartbeat after the other: a batch of steps has one place in the transcript. */
  #beat(): Promise<void> {
    const next = this.#beating.catch(() => undefined).then(() => this.#sendBatch())
    this.#beating = next
    return next
  }

  async #sendBatch(): Promise<void> {
    const { body, idempotencyKey } = this.#outbox.take()
    const input = { path: { id: this.id }, body: { lease_token: this.#lease.token, ...body } }
    const answer = await this.#untilReached(() => this.#transport.call('heartbeat', input, { idempotencyKey }))
    for (const update of answer.updates) {
      if (this.#seen.has(update.id)) continue
      this.#seen.add(update.id)
      this.#deliver(update)
    }
    if (answer.cancel_requested) this.stop(new RunStopped('cancelled'))
  }

  /** Repeats a write while the server is away. Its lease may run out meanwhile; then the server decides whether another worker has the subtask. */
  async #untilReached<Value>(write: () => Promise<Value>): Promise<Value> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await write()
      } catch (error) {
        if (MusterError.is(error, 'lease_lost')) {
          this.stop(new RunStopped('lease_lost'))
          this.end()
          throw new RunStopped('lease_lost')
        }
        // A worker that stops does not wait for a server that is away: the lease runs out.
        if (this.#isLeaving || !MusterError.is(error) || !error.retryable) throw error
        await pause(Math.max(backoffMs(failures), (error.retryAfterSeconds ?? 0) * 1000))
      }
    }
  }

  #deliver(update: WordedUpdate): void {
    if (this.#listeners.size === 0) return void this.#unread.push(update)
    const done = Promise.all([...this.#listeners].map(async (listener) => listener(update)))
    done.then(
      () => this.#outbox.acknowledged.push(update.id),
      (error) => this.stop(error),
    )
  }
}
