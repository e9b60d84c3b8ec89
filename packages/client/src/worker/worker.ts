import type { Api } from '../api.ts'
import { MusterError } from '../errors.ts'
import type { ClaimedSubtask, CompleteRequest } from '../generated/openapi.ts'
import { backoffMs, pause } from '../http/pause.ts'
import type { Transport } from '../http/transport.ts'
import { Run, RunStopped, Suspended } from './run.ts'

/** What a run delivers, where it is more than a text. */
export type RunResult = Omit<CompleteRequest, 'lease_token' | 'usage'>

/** The work itself: what it returns is the result of the subtask. What it throws is why the attempt failed. */
export type Work = (run: Run) => Promise<string | RunResult | Suspended>

export interface WorkerOptions {
  /** How many subtasks it works on at once. Default: 1. */
  concurrency?: number | undefined
  /** Its name, shown as `worker_id` of a subtask. Default: a random one. */
  name?: string | undefined
  /** After so long without a heartbeat another worker may take the subtask. Default: 60. */
  leaseSeconds?: number | undefined
  /** Stops the worker, as `stop()` does. */
  signal?: AbortSignal | undefined
}

/** Throw it from the work if another attempt cannot succeed. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/** A claim is not ended by `stop`, because the server may have granted it. So this is how long an idle worker takes to stop. */
const CLAIM_WAIT_SECONDS = 2

/** Claims the subtasks of a runner and works on them, until it is stopped. */
export class Worker {
  readonly name: string
  /** Resolves when it has stopped and no run is left. Rejects if the server refuses it, such as with `forbidden`. */
  readonly stopped: Promise<void>
  readonly #runner: string
  readonly #work: Work
  readonly #concurrency: number
  readonly #leaseSeconds: number
  readonly #transport: Transport
  readonly #withKey: (key: string) => Api
  readonly #stopping = new AbortController()
  readonly #runs = new Map<Run, Promise<void>>()

  constructor(runner: string, work: Work, options: WorkerOptions, transport: Transport, withKey: (key: string) => Api) {
    const { concurrency = 1, name = `worker-${crypto.randomUUID().slice(0, 8)}`, leaseSeconds = 60, signal } = options
    if (!Number.isInteger(concurrency) || concurrency < 1) throw new TypeError('concurrency must be a whole number of at least 1.')
    this.name = name
    this.#runner = runner
    this.#work = work
    this.#concurrency = concurrency
    this.#leaseSeconds = leaseSeconds
    this.#transport = transport
    this.#withKey = withKey
    if (signal?.aborted === true) this.#stopping.abort()
    signal?.addEventListener('abort', () => this.#stopping.abort(), { once: true })
    this.stopped = this.#claimUntilStopped()
  }

  /** How many runs it holds. */
  get running(): number {
    return this.#runs.size
  }

  /**
   * Claims no more, and resolves when the runs have ended. After `graceMs` the signals of those that are left are aborted, and what does not complete is returned
   * for another worker without counting as a failure. Default: no limit.
   */
  async stop({ graceMs }: { graceMs?: number } = {}): Promise<void> {
    this.#stopping.abort()
    const timer = graceMs === undefined ? undefined : setTimeout(() => this.#stopRuns(), graceMs)
    await this.stopped.finally(() => clearTimeout(timer))
  }

  #stopRuns(): void {
    for (const run of this.#runs.keys()) run.stop(new RunStopped('worker_stopped'))
  }

  async #claimUntilStopped(): Promise<void> {
    try {
      let key = crypto.randomUUID()
      for (let failures = 0; !this.#stopping.signal.aborted; ) {
        if (this.#runs.size >= this.#concurrency) {
          await Promise.race(this.#runs.values())
          continue
        }
        try {
          const claimed = await this.#claim(key)
          failures = 0
          key = crypto.randomUUID()
          if (claimed !== undefined) this.#start(claimed)
        } catch (error) {
          // The claim that it repeats was granted, and its answer was lost for longer than the lease.
          if (MusterError.is(error, 'lease_lost')) {
            key = crypto.randomUUID()
            continue
          }
          if (!MusterError.is(error) || !error.retryable) throw error
          await pause(Math.max(backoffMs(failures), (error.retryAfterSeconds ?? 0) * 1000), this.#stopping.signal).catch(() => undefined)
          failures += 1
        }
      }
    } finally {
      await Promise.all(this.#runs.values())
    }
  }

  /** With one key until there is an answer: a claim that was granted is answered again, instead of waiting for the end of its lease. */
  #claim(idempotencyKey: string): Promise<ClaimedSubtask | undefined> {
    const body = { runner: this.#runner, worker_id: this.name, lease_seconds: this.#leaseSeconds, wait_seconds: CLAIM_WAIT_SECONDS }
    return this.#transport.call('claimSubtask', { body }, { idempotencyKey })
  }

  #start(claimed: ClaimedSubtask): void {
    const run = new Run(claimed, this.#leaseSeconds, this.#transport, this.#withKey(claimed.credential))
    // It came while the worker was stopping.
    if (this.#stopping.signal.aborted) run.stop(new RunStopped('worker_stopped'))
    const kept = run.keepAlive()
    const done = this.#execute(run)
      .finally(() => run.end())
      .then(() => kept)
      .finally(() => this.#runs.delete(run))
    this.#runs.set(run, done)
  }

  async #execute(run: Run): Promise<void> {
    try {
      const result = await this.#resultOf(run)
      if (result instanceof Suspended) return
      await run.complete(typeof result === 'string' ? { result } : result)
    } catch (error) {
      await this.#giveUp(run, error)
    }
  }

  async #resultOf(run: Run): Promise<string | RunResult | Suspended> {
    run.signal.throwIfAborted()
    return this.#work(run)
  }

  /** Stores that an attempt failed, or returns its subtask. Where the lease is lost there is nothing to store. */
  async #giveUp(run: Run, error: unknown): Promise<void> {
    const stopped = run.signal.reason instanceof RunStopped ? run.signal.reason.why : undefined
    if (stopped === 'lease_lost') return
    try {
      if (stopped === 'worker_stopped') await run.giveUp('releaseSubtask', {})
      else await run.giveUp('failSubtask', { error: messageOf(error), retryable: stopped === undefined && !(error instanceof PermanentError) })
    } catch (refusal) {
      // The subtask has ended elsewhere, or another worker has it. Otherwise its lease runs out, and it is tried again.
      if (!(refusal instanceof RunStopped) && !MusterError.is(refusal)) throw refusal
    }
  }
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message === '' ? 'The work failed without a message.' : message
}
