import { type AttemptEnd, noteEvaluation, type Span, traceIdOf } from '@muster/domain'
import type { Brief, RunBudget, Runner, RunOutcome, StopReason } from '@muster/runners'
import {
  attemptAttributes,
  buildPrompt,
  type ClaimedRun,
  isDatabaseUnavailable,
  isDiskFailure,
  isFailure,
  listAskRules,
  type RunPrompt,
  type RunSignal,
  startWait,
  stepsUsed,
} from '@muster/usecases'
import { endOfThrown, toAttemptEnd } from './attempt-end.ts'
import type { WorkerDeps } from './deps.ts'
import { FolderQuota } from './folder-quota.ts'
import { PausableTimer } from './pausable-timer.ts'
import { openRunFolder, unusedFolder } from './run-folder.ts'
import { RunJournal } from './run-journal.ts'
import { RunQuestions } from './run-questions.ts'
import { RunUpdates } from './run-updates.ts'
import type { Settler } from './settler.ts'
import { Silence } from './silence.ts'

/** One claimed subtask while this worker runs it. */
export class ActiveRun {
  readonly subtaskId: string
  readonly attempt: number
  readonly #deps: WorkerDeps
  readonly #claimed: ClaimedRun
  readonly #runner: Runner
  readonly #abort = new AbortController()
  readonly #updates: RunUpdates
  readonly #journal: RunJournal
  readonly #onDiskFailure: () => void
  readonly #silence: Silence
  readonly #questions: RunQuestions
  #timer: PausableTimer | null = null
  #folder: FolderQuota | null = null
  #blockedFor = ''
  #traceparent: string | null = null

  /** @param onDiskFailure is called when the run is released because this machine cannot write its files */
  constructor(deps: WorkerDeps, claimed: ClaimedRun, runner: Runner, onDiskFailure: () => void) {
    this.subtaskId = claimed.id
    this.attempt = claimed.attempt
    this.#deps = deps
    this.#claimed = claimed
    this.#runner = runner
    this.#onDiskFailure = onDiskFailure
    this.#updates = new RunUpdates(claimed.updateSeq)
    this.#silence = new Silence(deps, claimed)
    this.#questions = new RunQuestions(deps, claimed, {
      onWait: () => {
        this.#timer?.pause()
        this.#silence.pause()
      },
      onGoOn: () => {
        this.#timer?.resume()
        this.#silence.broken(performance.now())
      },
      onAnswer: (updateId) => this.#updates.withhold(updateId),
    })
    this.#journal = new RunJournal(deps, claimed, {
      takesUpdates: runner.steerable,
      onAnswer: ({ cancelRequested, updates, blocked }) => {
        if (cancelRequested) this.stop('cancelled')
        if (blocked !== null) this.#block(blocked)
        for (const { updateId, content } of this.#updates.pass(updates)) {
          this.#journal.step({ kind: 'update', content: { update_id: updateId, text: content } })
        }
      },
      onLost: () => this.stop('lease_lost'),
    })
  }

  /** Ends the run as blocked. */
  #block(reason: string): void {
    if (this.#abort.signal.aborted) return
    this.#blockedFor = reason
    this.stop('blocked')
  }

  /** Looks after a run that has made no step for long. @param nowMs of the process's steady clock */
  async lookForSilence(nowMs: number): Promise<void> {
    if (this.#abort.signal.aborted) return
    const reason = await this.#silence.look(nowMs)
    if (reason !== null) this.#block(reason)
  }

  /** Measures the folders of the run, and ends a run whose folders are too large. @param nowMs of the process's steady clock */
  async lookAtFolder(nowMs: number): Promise<void> {
    const reason = await this.#folder?.look(nowMs)
    if (reason != null) this.#block(reason)
  }

  /** Asks the run to stop. The first reason counts. */
  stop(reason: StopReason): void {
    if (!this.#abort.signal.aborted) this.#abort.abort(reason)
  }

  /** Acts on the state of the run in the database: null when it is no longer this worker's. */
  applySignal(signal: RunSignal | null): void {
    if (signal === null) this.stop('lease_lost')
    else if (signal.cancelRequested) this.stop('cancelled')
    else if (this.#runner.steerable && this.#updates.announces(signal)) this.#journal.look()
  }

  /** Runs the subtask and settles its end. Never throws: every failure is an end of the attempt. */
  async complete(settler: Settler): Promise<void> {
    const { log } = this.#deps
    const span = this.#startSpan()
    const fields = {
      ...{ subtask_id: this.subtaskId, attempt: this.attempt, runner: this.#claimed.runner },
      ...(this.#traceparent !== null && { trace_id: traceIdOf(this.#traceparent) }),
    }
    // The worker's own timer comes before the reaper's, and lets the runner end its work in order.
    this.#timer = new PausableTimer(this.#claimed.timeoutSeconds * 1_000, () => this.stop('timed_out'))
    log.debug(fields, 'run started')
    const end = await this.#attempt(fields)
    this.#timer.pause()
    this.#updates.end()
    const usage = await this.#journal.close()
    if (this.#stopReason() === 'lease_lost') {
      log.warn(fields, 'run stopped: the subtask was taken over or has ended elsewhere')
      span?.end('lease_lost')
      return
    }
    const { taskId, subagentName } = this.#claimed
    const ref = { subtaskId: this.subtaskId, attempt: this.attempt, taskId, subagentName }
    const storing = this.#deps.tracing?.start('settle', { parent: this.#traceparent })
    const settlement = await settler.settle(this.#claimed.projectId, {
      ...{ ...ref, end, usage, undeliveredUpdateIds: this.#updates.undeliveredIds },
      ...(span && { onEvaluated: (result) => noteEvaluation(span, 'rules', result) }),
    })
    storing?.end()
    span?.set({ 'muster.end': end.kind })
    span?.end(isFailure(end) ? end.kind : undefined)
    log.info({ ...fields, end: end.kind, settlement }, 'run ended')
  }

  /** The span of this attempt. Its parent is what asked for the subtask, so that all attempts and rounds are in one trace. */
  #startSpan(): Span | undefined {
    const { tracing } = this.#deps
    const { traceparent, agentId } = this.#claimed
    this.#traceparent = traceparent
    if (tracing === undefined) return undefined
    // A subtask that nothing traced asked for begins its trace with the wait.
    const wait = this.attempt > 1 ? undefined : startWait(this.#deps, this.#claimed)
    wait?.end()
    const span = tracing.start(`invoke_agent ${agentId}`, {
      parent: traceparent ?? wait?.traceparent ?? null,
      attributes: attemptAttributes(this.#claimed),
    })
    this.#traceparent = span.traceparent
    return span
  }

  async #attempt(fields: object): Promise<AttemptEnd> {
    const { log } = this.#deps
    try {
      return toAttemptEnd(await this.#run(), this.#stopReason(), this.#blockedFor)
    } catch (error) {
      if (isDatabaseUnavailable(error)) {
        // It never began, and an outage is no failure of its own.
        log.warn({ ...fields, err: error }, 'run released: its prompt could not be read')
        return { kind: 'released' }
      }
      if (isDiskFailure(error)) {
        log.warn({ ...fields, err: error }, 'run released: the disk of this worker is full or fails')
        this.#onDiskFailure()
        return { kind: 'released' }
      }
      log.error({ ...fields, err: error }, 'run threw')
      return endOfThrown(error)
    }
  }

  async #run(): Promise<RunOutcome> {
    const { settings } = this.#deps
    const claimed = this.#claimed
    const prompt = await buildPrompt(this.#deps, claimed)
    if (this.#updates.promptBuilt(prompt.delivered)) this.#journal.look()
    // The API refuses this too. Its settings may differ, and a row may be older than the rule.
    if (prompt.subagent !== null && !this.#runner.followsDefinitions) {
      const error = `The runner ${claimed.runner} does not follow sub-agent definitions, and this subtask is a run of ${prompt.subagent.name}.`
      return { kind: 'errored', error, retryable: false }
    }
    const folder = this.#runner.usesWorkspace ? await openRunFolder(this.#deps, claimed, prompt) : unusedFolder(this.#deps, claimed, prompt)
    // That of a client is the client's.
    const quota = new FolderQuota(this.#deps)
    if (this.#runner.usesWorkspace && !folder.isClients) quota.add(folder.path)
    this.#folder = quota
    let goesOn = false
    try {
      const outcome = await this.#runner.run({
        brief: { ...briefOf(claimed, prompt, folder.note), ask: await this.#askRules(prompt) },
        budget: budgetOf(claimed, claimed.stepSeq === 0 ? 0 : await stepsUsed(this.#deps, claimed)),
        workspace: folder.path,
        ownsWorkspace: !folder.isClients,
        access: { url: settings.PUBLIC_URL ?? `http://${settings.HOST}:${settings.PORT}`, token: claimed.credential },
        signal: this.#abort.signal,
        traceparent: this.#traceparent,
        ...(this.#deps.tracing && { tracing: this.#deps.tracing }),
        updates: this.#updates,
        step: (step) => {
          this.#silence.broken(performance.now())
          this.#journal.step(step)
        },
        prompt: (sent) => this.#journal.prompt(sent),
        usage: (delta) => this.#journal.usage(delta),
        alsoUses: (path) => quota.add(path),
        fetchUpdates: async () => {
          await this.#journal.fetch()
          // What has come passes through the iteration before the runner goes on.
          await new Promise((resolve) => setImmediate(resolve))
        },
        ask: (question, signal) => this.#questions.ask(question, signal),
        delivered: (updateId) => this.#updates.delivered(updateId),
        acknowledge: (updateId) => this.#journal.acknowledge(updateId),
      })
      goesOn = this.#mayGoOn(outcome)
      return outcome
    } finally {
      this.#folder = null
      await folder.close({ goesOn })
    }
  }

  /** Whether a later attempt may go on from what this one leaves: after an answer, or with a budget that was raised. */
  #mayGoOn(outcome: RunOutcome): boolean {
    const reason = this.#stopReason()
    // Another attempt has begun anew.
    if (reason === 'lease_lost') return false
    return ['waiting', 'budget_exceeded'].includes(toAttemptEnd(outcome, reason).kind)
  }

  /** The uses of tools that are asked about first, where the runner can do that. */
  async #askRules({ subagent }: RunPrompt): Promise<string[]> {
    if (this.#runner.asksFirst !== true) return []
    return [...new Set([...(subagent?.ask ?? []), ...(await listAskRules(this.#deps, this.#claimed.projectId))])]
  }

  #stopReason(): StopReason | null {
    return this.#abort.signal.aborted ? (this.#abort.signal.reason as StopReason) : null
  }
}

function briefOf(claimed: ClaimedRun, prompt: RunPrompt, folderNote: string): Brief {
  const { sessionId, task, criteria, requiredOutputs, revision, feedback, subagent, continuation } = prompt
  const { id, attempt, agentId, parentSessionId, taskId, model, metadata, background } = claimed
  const text = `${prompt.text}${folderNote}`
  return {
    ...{ subtaskId: id, sessionId, attempt, agentId, parentSessionId, taskId },
    ...{ text, task, criteria, requiredOutputs, revision, feedback, continuation, model, metadata, background, subagent },
  }
}

/** What earlier attempts have left of the budget. */
function budgetOf(claimed: ClaimedRun, stepsUsed: number): RunBudget {
  const left = (most: number | null, used: number) => (most === null ? null : Math.max(0, most - used))
  return {
    steps: Math.max(0, claimed.budgetMaxSteps - stepsUsed),
    tokens: left(claimed.budgetMaxTokens, claimed.inputTokens + claimed.outputTokens),
    costUsdMicros: left(claimed.budgetMaxCostMicros, claimed.costMicros),
  }
}
