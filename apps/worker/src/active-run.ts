import { type AttemptEnd, renderRunFolder } from '@muster/domain'
import type { RunBudget, Runner, RunOutcome, StopReason } from '@muster/runners'
import {
  buildPrompt,
  type CheckpointAnswer,
  type ClaimedRun,
  findClientFolder,
  isDatabaseUnavailable,
  isDiskFailure,
  type RunPrompt,
  type RunSignal,
  stepsUsed,
  taskWorkspacePath,
} from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'
import { RunFeed } from './run-feed.ts'
import { RunJournal } from './run-journal.ts'
import type { Settler } from './settler.ts'
import { makeWorkspace, removeWorkspace, workspacePath } from './workspaces.ts'

/** One claimed subtask while this worker runs it. */
export class ActiveRun {
  readonly subtaskId: string
  readonly attempt: number
  readonly #deps: WorkerDeps
  readonly #claimed: ClaimedRun
  readonly #runner: Runner
  readonly #abort = new AbortController()
  readonly #feed = new RunFeed()
  readonly #journal: RunJournal
  readonly #onDiskFailure: () => void
  /** What was handed to the run: a repeated checkpoint brings it again. */
  readonly #pushedIds = new Set<string>()
  #seenUpdateSeq: number
  /** What its brief has told it, once it has been read: a repeated checkpoint may bring that too. */
  #told: RunPrompt['delivered'] | null = null
  /** There was news before the brief, which contains it if it came in time. */
  #wasEarly = false

  /** @param onDiskFailure hears that the run was given back since this machine could not write its files */
  constructor(deps: WorkerDeps, claimed: ClaimedRun, runner: Runner, onDiskFailure: () => void) {
    this.subtaskId = claimed.id
    this.attempt = claimed.attempt
    this.#deps = deps
    this.#claimed = claimed
    this.#runner = runner
    this.#onDiskFailure = onDiskFailure
    this.#seenUpdateSeq = claimed.updateSeq
    this.#journal = new RunJournal(deps, claimed, {
      takesUpdates: runner.steerable,
      onAnswer: (answer) => this.#take(answer),
      onLost: () => this.stop('lease_lost'),
    })
  }

  /** Asks the run to stop. The first reason counts. */
  stop(reason: StopReason): void {
    if (!this.#abort.signal.aborted) this.#abort.abort(reason)
  }

  /** Takes in what the database says of this run: null when it is no longer this worker's. */
  applySignal(signals: RunSignal | null): void {
    if (signals === null) this.stop('lease_lost')
    else if (signals.cancelRequested) this.stop('cancelled')
    else if ((signals.updateSeq > this.#seenUpdateSeq || signals.taskHasUpdates === true) && this.#runner.steerable) {
      // A note that a checkpoint fetched now would be part of the brief as well.
      if (this.#told === null) {
        this.#wasEarly = true
        return
      }
      this.#seenUpdateSeq = Math.max(this.#seenUpdateSeq, signals.updateSeq)
      this.#journal.look()
    }
  }

  /** Runs the subtask and settles its end. Never throws: whatever goes wrong is an end of the attempt. */
  async complete(settler: Settler): Promise<void> {
    const { log } = this.#deps
    const fields = { subtask_id: this.subtaskId, attempt: this.attempt, runner: this.#claimed.runner }
    // The worker's own timer comes before the reaper's, and lets the runner end its work in order.
    const timer = setTimeout(() => this.stop('timed_out'), this.#claimed.timeoutSeconds * 1_000)
    log.debug(fields, 'run started')
    let end: AttemptEnd
    try {
      end = toAttemptEnd(await this.#run(), this.#stopReason())
    } catch (error) {
      if (isDatabaseUnavailable(error)) {
        // It never began, and an outage is no failure of its own.
        log.warn({ ...fields, err: error }, 'run given back: its brief could not be read')
        end = { kind: 'released' }
      } else if (isDiskFailure(error)) {
        log.warn({ ...fields, err: error }, 'run given back: the disk of this worker is full or fails')
        end = { kind: 'released' }
        this.#onDiskFailure()
      } else {
        log.error({ ...fields, err: error }, 'run threw')
        end = { kind: 'errored', error: textOf(error), retryable: true, partialResult: null }
      }
    } finally {
      clearTimeout(timer)
      this.#feed.end()
    }
    const usage = await this.#journal.close()
    if (this.#stopReason() === 'lease_lost') {
      log.warn(fields, 'run stopped: the subtask was taken over or has ended elsewhere')
      return
    }
    const settlement = await settler.settle(this.#claimed.projectId, {
      subtaskId: this.subtaskId,
      attempt: this.attempt,
      taskId: this.#claimed.taskId,
      end,
      usage,
    })
    log.info({ ...fields, end: end.kind, settlement }, 'run ended')
  }

  async #run(): Promise<RunOutcome> {
    const { settings } = this.#deps
    const claimed = this.#claimed
    const brief = await buildPrompt(this.#deps, claimed)
    this.#told = brief.delivered
    this.#seenUpdateSeq = Math.max(this.#seenUpdateSeq, brief.delivered.noteSeq)
    if (this.#wasEarly) this.#journal.look()
    // The API refuses this too. Its settings may differ, and a row may be older than the rule.
    if (brief.subagent !== null && !this.#runner.followsDefinitions) {
      const error = `The runner ${claimed.runner} does not follow sub-agent definitions, and this subtask is a run of ${brief.subagent.name}.`
      return { kind: 'errored', error, retryable: false }
    }
    // Links may have changed since the task was created, so it is resolved now; the run gets the real path.
    const clientFolder = brief.clientCwd === null || !this.#runner.usesWorkspace ? null : await findClientFolder(this.#deps, brief.clientCwd)
    const workspace = clientFolder ?? this.#ownFolder(brief)
    if (this.#runner.usesWorkspace && clientFolder === null) await makeWorkspace(workspace)
    const folderText = brief.runsTask && this.#runner.usesWorkspace ? `\n\n${renderRunFolder(brief.clientCwd, clientFolder !== null)}` : ''
    try {
      return await this.#runner.run({
        brief: {
          subtaskId: claimed.id,
          sessionId: brief.sessionId,
          attempt: claimed.attempt,
          agentId: claimed.agentId,
          parentSessionId: claimed.parentSessionId,
          taskId: claimed.taskId,
          text: `${brief.text}${folderText}`,
          task: brief.task,
          criteria: brief.criteria,
          requiredOutputs: brief.requiredOutputs,
          revision: brief.revision,
          feedback: brief.feedback,
          model: claimed.model,
          metadata: claimed.metadata,
          background: claimed.background,
          subagent: brief.subagent,
        },
        budget: budgetOf(claimed, claimed.stepSeq === 0 ? 0 : await stepsUsed(this.#deps, claimed)),
        workspace,
        access: { url: settings.PUBLIC_URL ?? `http://${settings.HOST}:${settings.PORT}`, token: claimed.credential },
        signal: this.#abort.signal,
        updates: this.#feed,
        step: (step) => this.#journal.step(step),
        usage: (delta) => this.#journal.usage(delta),
        acknowledge: (updateId) => this.#journal.acknowledge(updateId),
      })
    } finally {
      // Never the folder of a task, nor one of the client's.
      if (this.#runner.usesWorkspace && !brief.runsTask) await removeWorkspace(this.#deps, workspace)
    }
  }

  /** Of a dispatched brief, the task's, which lasts: an attempt finds there what earlier ones have left. Otherwise one of the attempt's own. */
  #ownFolder(brief: RunPrompt): string {
    const { id, attempt, taskId } = this.#claimed
    return brief.runsTask ? taskWorkspacePath(this.#deps, taskId as string) : workspacePath(this.#deps, id, attempt)
  }

  #take(answer: CheckpointAnswer): void {
    if (answer.cancelRequested) this.stop('cancelled')
    for (const update of answer.updates) {
      const deliveredSeq = update.taskId === null ? this.#told?.noteSeq : this.#told?.taskSeq
      if (update.seq <= (deliveredSeq ?? 0) || this.#pushedIds.has(update.updateId)) continue
      this.#pushedIds.add(update.updateId)
      // Updates of the brief are numbered by themselves.
      if (update.taskId === null) this.#seenUpdateSeq = Math.max(this.#seenUpdateSeq, update.seq)
      this.#feed.push({ updateId: update.updateId, text: update.text, delivery: update.delivery })
      this.#journal.step({ kind: 'update', content: { update_id: update.updateId, text: update.content } })
    }
  }

  #stopReason(): StopReason | null {
    return this.#abort.signal.aborted ? (this.#abort.signal.reason as StopReason) : null
  }
}

/** What is stored of an error. The text of a database or of a file system names tables, values and files: it is for the log alone. */
function textOf(error: unknown): string {
  const hasCode = typeof (error as { code?: unknown } | null)?.code === 'string'
  return error instanceof Error && !hasCode ? error.message : 'The run failed inside of the worker, whose log has the cause.'
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

/** What the runner's answer means, given why it was asked to stop, if it was. */
export function toAttemptEnd(outcome: RunOutcome, stopReason: StopReason | null): AttemptEnd {
  const partialResult = 'partialResult' in outcome ? (outcome.partialResult ?? null) : outcome.kind === 'completed' ? outcome.result : null
  if (stopReason === 'timed_out') return { kind: 'timed_out', partialResult }
  switch (outcome.kind) {
    case 'completed':
      return {
        kind: 'completed',
        result: outcome.result,
        truncated: outcome.truncated ?? false,
        outputs: outcome.outputs ?? {},
        summary: outcome.summary ?? null,
      }
    case 'stopped':
      if (stopReason === 'cancelled') return { kind: 'cancelled', partialResult }
      if (stopReason === 'released' || stopReason === 'lease_lost') return { kind: 'released' }
      return { kind: 'errored', error: 'The runner stopped without being asked to.', retryable: true, partialResult }
    case 'blocked':
      return { kind: 'blocked', reason: outcome.reason, partialResult }
    case 'budget_exceeded':
      return { kind: 'budget_exceeded', error: outcome.error, partialResult }
    case 'errored':
      // A program that dies of the signal we sent it has not failed.
      if (stopReason === 'released') return { kind: 'released' }
      return { kind: 'errored', error: outcome.error, retryable: outcome.retryable, partialResult }
  }
}
