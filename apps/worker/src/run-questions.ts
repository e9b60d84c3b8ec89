import { setTimeout as sleep } from 'node:timers/promises'
import type { RunAnswer, RunQuestion } from '@muster/runners'
import {
  askAboutSubtask,
  authenticate,
  type ClaimedRun,
  type Ctx,
  getQuestion,
  isDatabaseUnavailable,
  postponeTimeout,
  withdrawQuestion,
} from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

const LOOK_EVERY_MS = 500
/** The reaper allows more than this beyond the timeout. */
const POSTPONE_EVERY_MS = 2_000
const EXPIRES_IN_SECONDS = 86_400

export interface RunQuestionsOptions {
  /** The run waits: its time does not count. */
  onWait: () => void
  /** It goes on. */
  onGoOn: () => void
  /** The answer is on its way to the work, and the update that brings it too is not needed. */
  onAnswer: (updateId: string) => void
}

/** The questions for whose answers a run waits in its place, while its timeout stands still. */
export class RunQuestions {
  readonly #deps: WorkerDeps
  readonly #run: ClaimedRun
  readonly #options: RunQuestionsOptions
  #waiting = 0
  #postponedMs = 0

  constructor(deps: WorkerDeps, run: ClaimedRun, options: RunQuestionsOptions) {
    this.#deps = deps
    this.#run = run
    this.#options = options
  }

  /** Asks the parent session, and waits. @throws DomainError as `askAboutSubtask`; the reason of the signal where it is aborted, and then the question is withdrawn */
  async ask({ kind, prompt, arguments: args }: RunQuestion, signal: AbortSignal): Promise<RunAnswer> {
    const { credential, id } = this.#run
    const ctx: Ctx = { ...this.#deps, actor: await authenticate(this.#deps, credential) }
    const rules = { options: null, schema: null, default: null, onExpiry: 'continue', expiresInSeconds: EXPIRES_IN_SECONDS } as const
    const question = await askAboutSubtask(ctx, id, { kind, prompt, arguments: args, ...rules })
    this.#begin()
    try {
      return await this.#wait(ctx, question.id, signal)
    } catch (error) {
      await withdrawQuestion(ctx, question.id).catch((cause: unknown) =>
        this.#deps.log.debug({ err: cause, question_id: question.id }, 'a question stays open'),
      )
      throw error
    } finally {
      this.#end()
    }
  }

  async #wait(ctx: Ctx, questionId: string, signal: AbortSignal): Promise<RunAnswer> {
    for (;;) {
      signal.throwIfAborted()
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      try {
        await this.#postpone()
        const { status, answer, updateId } = await getQuestion(ctx, questionId)
        if (status === 'open') continue
        if (updateId !== null) this.#options.onAnswer(updateId)
        return { questionId, status, answer }
      } catch (error) {
        // An outage delays the answer.
        if (!isDatabaseUnavailable(error)) throw error
      }
    }
  }

  #begin(): void {
    this.#waiting += 1
    if (this.#waiting > 1) return
    this.#postponedMs = performance.now()
    this.#options.onWait()
  }

  #end(): void {
    this.#waiting -= 1
    if (this.#waiting === 0) this.#options.onGoOn()
  }

  async #postpone(): Promise<void> {
    const now = performance.now()
    const ms = Math.round(now - this.#postponedMs)
    if (ms < POSTPONE_EVERY_MS) return
    this.#postponedMs = now
    await postponeTimeout(this.#deps, { projectId: this.#run.projectId, subtaskId: this.#run.id, attempt: this.#run.attempt }, ms)
  }
}
