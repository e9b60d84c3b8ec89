import { setTimeout as sleep } from 'node:timers/promises'
import { NO_USAGE, type UsageAdded } from '@muster/domain'
import type { RunStep, SentPrompt, UsageDelta } from '@muster/runners'
import { type CheckpointAnswer, type ClaimedRun, checkpointRun, isDatabaseUnavailable } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

const COLLECT_MS = 100
const STEPS_PER_CHECKPOINT = 200
const RETRY_MS = 500
/** Longest time that a run waits for updates before it asks its model, in milliseconds. A late one comes with the next request. */
const FETCH_MS = 2_000

interface Batch {
  steps: RunStep[]
  prompt: SentPrompt | null
  usage: UsageAdded
  acknowledgedIds: string[]
}

export interface JournalOptions {
  takesUpdates: boolean
  onAnswer: (answer: CheckpointAnswer) => void
  /** The attempt is no longer the current one. Nothing more of it is stored. */
  onLost: () => void
}

/**
 * The progress of a run on its way to the database. Steps, usage and acknowledgements are collected for a moment and stored by one checkpoint at a
 * time, whose answer brings cancels and updates. An outage of the database delays them and loses nothing.
 */
export class RunJournal {
  readonly #deps: WorkerDeps
  readonly #run: ClaimedRun
  readonly #options: JournalOptions
  #steps: RunStep[] = []
  #prompt: SentPrompt | null = null
  #usage: UsageAdded = NO_USAGE
  #acknowledgedIds: string[] = []
  #wanted = false
  #lost = false
  #isClosing = false
  /** Ends the collecting of the write that is about to begin; null where none is. */
  #collecting: AbortController | null = null
  #writing: Promise<void> | null = null
  #stepSeq: number
  /** The batch that was sent without an answer. It may have been stored, so it is sent again unchanged, before anything new. */
  #unsure: Batch | null = null

  constructor(deps: WorkerDeps, run: ClaimedRun, options: JournalOptions) {
    this.#deps = deps
    this.#run = run
    this.#options = options
    this.#stepSeq = run.stepSeq
  }

  step(step: RunStep): void {
    this.#steps.push(step)
    this.#schedule(COLLECT_MS)
  }

  prompt(sent: SentPrompt): void {
    this.#prompt = sent
    this.#schedule(COLLECT_MS)
  }

  usage(delta: UsageDelta): void {
    this.#usage = addUsage(this.#usage, delta)
    this.#schedule(COLLECT_MS)
  }

  acknowledge(updateId: string): void {
    this.#acknowledgedIds.push(updateId)
    this.#schedule(COLLECT_MS)
  }

  /** Makes a checkpoint now, even with nothing to store, because there is something to fetch. */
  look(): void {
    this.#wanted = true
    this.#collecting?.abort()
    this.#schedule(0)
  }

  /** The same, and resolves when the checkpoint has been answered, could not be made, or takes longer than a run should wait for it. */
  async fetch(): Promise<void> {
    const waiting = new AbortController()
    await Promise.race([this.#lookAndWait(), sleep(FETCH_MS, undefined, { signal: waiting.signal }).catch(() => {})])
    waiting.abort()
  }

  async #lookAndWait(): Promise<void> {
    // A checkpoint that is being made may have looked before the call.
    if (this.#collecting === null) await this.#writing
    if (this.#lost) return
    this.look()
    await this.#writing
  }

  /** Stores what is left, and fetches nothing more: the run is over. Returns the usage that no checkpoint has stored, which the settlement adds. */
  async close(): Promise<UsageAdded> {
    this.#isClosing = true
    while (this.#writing !== null || (!this.#lost && this.#hasMore())) {
      this.#schedule(0)
      await this.#writing
    }
    return this.#usage
  }

  #schedule(delayMs: number): void {
    if (this.#writing !== null || this.#lost) return
    this.#writing = this.#write(delayMs).finally(() => {
      this.#writing = null
      if (this.#wanted || this.#hasMore()) this.#schedule(this.#wanted ? 0 : COLLECT_MS)
    })
  }

  /** Waits for more to store, until something is to be fetched. */
  async #collect(delayMs: number): Promise<void> {
    const collecting = new AbortController()
    this.#collecting = collecting
    await sleep(delayMs, undefined, { signal: collecting.signal }).catch(() => {})
    this.#collecting = null
  }

  #hasMore(): boolean {
    return this.#unsure !== null || this.#prompt !== null || this.#steps.length > 0 || this.#acknowledgedIds.length > 0
  }

  #takeBatch(): Batch {
    const batch = { steps: this.#steps.splice(0, STEPS_PER_CHECKPOINT), prompt: this.#prompt, usage: this.#usage, acknowledgedIds: this.#acknowledgedIds }
    this.#prompt = null
    this.#usage = NO_USAGE
    this.#acknowledgedIds = []
    return batch
  }

  async #write(delayMs: number): Promise<void> {
    if (delayMs > 0) await this.#collect(delayMs)
    const isRepeat = this.#unsure !== null
    const batch = this.#unsure ?? this.#takeBatch()
    this.#unsure = null
    this.#wanted = false
    try {
      const answer = await checkpointRun(this.#deps, this.#run.projectId, {
        subtaskId: this.#run.id,
        attempt: this.#run.attempt,
        agentId: this.#run.agentId,
        task: this.#run.task,
        taskId: this.#run.taskId,
        parentSessionId: this.#run.parentSessionId,
        workerId: this.#deps.workerId,
        ...batch,
        // An earlier try may have taken updates, and its answer was lost: a repetition brings what it took.
        takesUpdates: this.#options.takesUpdates && (isRepeat || !this.#isClosing),
        afterStepSeq: this.#stepSeq,
        renewsLease: false,
        repeatUnacknowledged: isRepeat,
      })
      if (answer === null) {
        this.#lost = true
        this.#options.onLost()
      } else {
        this.#stepSeq = answer.stepSeq
        this.#options.onAnswer(answer)
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) {
        // The run and its result matter more than a step.
        this.#deps.log.error(
          { err: error, subtask_id: this.#run.id, steps: batch.steps.length },
          'steps could not be stored and are left out of the transcript',
        )
        return
      }
      this.#unsure = batch
      await sleep(RETRY_MS)
    }
  }
}

function addUsage(total: UsageAdded, delta: UsageDelta): UsageAdded {
  return {
    inputTokens: total.inputTokens + (delta.inputTokens ?? 0),
    cachedInputTokens: total.cachedInputTokens + (delta.cachedInputTokens ?? 0),
    outputTokens: total.outputTokens + (delta.outputTokens ?? 0),
    costUsdMicros: total.costUsdMicros + (delta.costUsdMicros ?? 0),
    toolCalls: total.toolCalls + (delta.toolCalls ?? 0),
    model: delta.model ?? total.model,
  }
}
