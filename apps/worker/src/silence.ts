import { QUIET_SECONDS_MIN } from '@muster/domain'
import { type ClaimedRun, judgeSilence } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

/** The rules of a project may change while a run is silent. */
const ASK_EVERY_MS = 10_000

/** How long a run has made no step. A run that never makes one is never silent: not every program reports what it does. */
export class Silence {
  readonly #deps: WorkerDeps
  readonly #run: Pick<ClaimedRun, 'id' | 'attempt' | 'projectId'>
  #sinceMs: number | null = null
  #askedMs = Number.NEGATIVE_INFINITY
  #noticeId: string | null = null

  constructor(deps: WorkerDeps, run: Pick<ClaimedRun, 'id' | 'attempt' | 'projectId'>) {
    this.#deps = deps
    this.#run = run
  }

  /** There was a step. */
  broken(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#noticeId = null
  }

  /** The run waits for an answer, and is not silent until it goes on. */
  pause(): void {
    this.#sinceMs = null
    this.#noticeId = null
  }

  /** Has the silence judged where it is long. Returns why the run has to end; null if it goes on. */
  async look(nowMs: number): Promise<string | null> {
    if (this.#sinceMs === null) return null
    const quietSeconds = Math.floor((nowMs - this.#sinceMs) / 1_000)
    if (quietSeconds < QUIET_SECONDS_MIN || nowMs - this.#askedMs < ASK_EVERY_MS) return null
    this.#askedMs = nowMs
    this.#noticeId ??= this.#deps.newId()
    const { id: subtaskId, attempt, projectId } = this.#run
    const answer = await judgeSilence(this.#deps, { projectId, subtaskId, attempt, quietSeconds, noticeId: this.#noticeId })
    // A step may have been made meanwhile, and only a silence that lasts counts.
    return answer.kind === 'blocked' && this.#noticeId !== null ? answer.reason : null
  }
}
