import type { Answer, QuestionKind, QuestionStatus, RequiredOutput, Span, StepKind, SubagentDefinition, Tracing } from '@muster/domain'

/**
 * The port between the worker and whatever executes a subtask. A runner gets one `Run`, does the work, and answers with one
 * `RunOutcome`; it never touches the database, and a failure of the work is an outcome, not an exception. What it throws
 * counts as `errored`, retryable.
 */

/** Why a run is asked to stop: the `reason` of `Run.signal`. The worker, not the runner, turns it into the recorded outcome. */
export type StopReason = 'cancelled' | 'timed_out' | 'released' | 'lease_lost' | 'blocked'

export interface Criterion {
  id: string
  text: string
}

/** The input of a runner. */
export interface Brief {
  subtaskId: string
  /** The subtask's own session, `subtask-<id>`. */
  sessionId: string
  attempt: number
  agentId: string
  parentSessionId: string | null
  taskId: string | null
  /** The complete text to show an agent: what it is, the task, updates so far, feedback on a refused result. */
  text: string
  /** The task alone, as it was given. */
  task: string
  criteria: Criterion[]
  requiredOutputs: RequiredOutput[]
  /** Revision of the brief that this run was given; null for a plain subtask. */
  revision: number | null
  /** Why the last result was refused; null at the first try. */
  feedback: string | null
  /**
   * For a run that goes on after a wait: the `continuation` with which its last waiting attempt ended, and as one text what has reached it since, which is the
   * answer and whatever else was sent. Absent or null for every other run, and where no continuation was left: then `text` has the answer too.
   */
  continuation?: { state: string; updates: string } | null
  model: string | null
  metadata: Record<string, unknown>
  /** Without a waiting caller, and without MCP tools except Muster's own for sub-agents. Absent counts as true. */
  background?: boolean
  /**
   * The sub-agent that it is a run of, without what the background takes from it. `text` says its role and its instructions already; its tools
   * are for the runner to keep to (`effectiveTools`, `checkTool` of the domain), as is `maxTurns`. `model` is decided, and not to be read here.
   */
  subagent?: SubagentDefinition | null
  /** Rules about uses of tools that are asked about before they are executed: of the definition and of the project. Absent counts as none. */
  ask?: readonly string[]
}

/** What a run asks its parent, and waits for. */
export interface RunQuestion {
  kind: QuestionKind
  prompt: string
  /** For an approval: exactly what it permits. */
  arguments: Record<string, unknown> | null
}

/** How a question ended. `answer` is null where there is none. */
export interface RunAnswer {
  questionId: string
  status: Exclude<QuestionStatus, 'open'>
  answer: Answer | null
}

/** A change that reaches the run while it is under way. */
export interface RunUpdate {
  updateId: string
  text: string
  delivery: 'next_step' | 'interrupt'
}

export interface RunStep {
  kind: StepKind
  content: unknown
}

/** What a runner has sent first in an attempt. */
export interface SentPrompt {
  /** The instructions above the conversation; null where the runner gives one text. What a program adds of its own is not known, and not in it. */
  system: string | null
  /** The first message; null in an attempt that goes on with the result of a tool. */
  message: string | null
  /** The attempt goes on after a wait: the conversation so far stands between `system` and `message`. */
  isContinued: boolean
}

/** What a run has used since it last said so: amounts to add, not totals. `costUsdMicros` is in millionths of a US dollar. */
export interface UsageDelta {
  inputTokens?: number
  /** Of the input tokens, as far as they are known. */
  cachedInputTokens?: number
  outputTokens?: number
  costUsdMicros?: number
  toolCalls?: number
  /** The model that was used. */
  model?: string
}

/** What an attempt may still use, of what all attempts of its subtask together may. Null: as much as it likes. */
export interface RunBudget {
  /** Answers of a model: one, with all the tools that it asks for, is a step. */
  steps: number
  /** Read and written. */
  tokens: number | null
  costUsdMicros: number | null
}

export interface Run {
  readonly brief: Brief
  /** A runner that can tell what it uses ends with `budget_exceeded` when nothing is left. */
  readonly budget: RunBudget
  /**
   * The folder to work in: absolute, and existing for runners that use one. Of the attempt's own, and removed afterwards; or, for a dispatched brief,
   * of the task's own or its client folder, which stay.
   */
  readonly workspace: string
  /** Whether the workspace is a folder that Muster has made. What encloses it is no business of the work. */
  readonly ownsWorkspace: boolean
  /** How the work can call Muster back, with the subtask's own credential. */
  readonly access: { url: string; token: string }
  /** Aborted with a `StopReason`. The runner then ends within about two seconds, leaving no process behind. */
  readonly signal: AbortSignal
  /** Updates in order, each once; the iteration ends with the run. A runner that is not steerable leaves it alone. */
  readonly updates: AsyncIterable<RunUpdate>
  /** The span of this attempt, or what asked for the subtask where nothing is traced; null where there is neither. Programs get it as TRACEPARENT. */
  readonly traceparent?: string | null
  /** Records spans below that of the attempt. Absent where nothing is traced. */
  readonly tracing?: Tracing
  /** Adds to the transcript. Returns at once; written in order at the next checkpoint. */
  step(step: RunStep): void
  /** Keeps what is sent first, without secrets, for people to read. Called once, when it is sent. Returns at once, as `step` does. */
  prompt(sent: SentPrompt): void
  usage(delta: UsageDelta): void
  /** Has a folder that the runner made for this attempt, beside the workspace, counted with it: both together have a limit. */
  alsoUses(folder: string): void
  /**
   * Asks for the updates that have been sent by now, so that `updates` has them when this resolves. A runner asks before each request to a model. Resolves in any
   * case, without the updates while the database is unavailable.
   */
  fetchUpdates(): Promise<void>
  /**
   * Asks the parent session, and resolves with its answer, or when none can come any more. The timeout stands still meanwhile. Rejects where the signal is aborted, with
   * its reason, and where the question cannot be asked.
   */
  ask(question: RunQuestion, signal: AbortSignal): Promise<RunAnswer>
  /** Records that an update stands in a request that was sent, or was written to the program. Without it, the update counts as undelivered when the run ends. */
  delivered(updateId: string): void
  /** Records that the work has taken an update in. Unknown ids are ignored. */
  acknowledge(updateId: string): void
}

export type RunOutcome =
  | {
      kind: 'completed'
      result: string
      /** True where the runner itself had to cut the result at its limit. */
      truncated?: boolean
      outputs?: Record<string, unknown>
      summary?: string
    }
  | { kind: 'blocked'; reason: string; partialResult?: string }
  | { kind: 'errored'; error: string; retryable: boolean; partialResult?: string }
  /** `continuation` is what the run goes on from if its budget is raised, as with `waiting`. */
  | { kind: 'budget_exceeded'; error: string; partialResult?: string; continuation?: string }
  /**
   * It cannot go on without the answer to a question that it has asked. The slot is freed, and another attempt starts when the question is closed.
   * `continuation` is given to that attempt, unless it has more than `CONTINUATION_BYTES_MAX` bytes of UTF-8.
   */
  | { kind: 'waiting'; questionId: string; continuation?: string }
  /** The answer after `signal`. */
  | { kind: 'stopped'; partialResult?: string }

export interface Runner {
  readonly name: string
  /** Whether updates reach a run that is under way. */
  readonly steerable: boolean
  /** Whether a run is given a folder to work in. */
  readonly usesWorkspace: boolean
  /** Whether it acts on `Brief.subagent`. A run of a sub-agent is given to no other runner. */
  readonly followsDefinitions: boolean
  /** Whether it asks before the uses of tools in `Brief.ask`. Absent: it does not. */
  readonly asksFirst?: boolean
  run(run: Run): Promise<RunOutcome>
}

/** A span below that of the attempt; undefined where nothing is traced. */
export function startSpan({ tracing, traceparent = null }: Pick<Run, 'tracing' | 'traceparent'>, ...[name, options]: SpanOfRun): Span | undefined {
  return tracing?.start(name, { ...options, parent: traceparent })
}

type SpanOfRun = [name: string, options: Omit<Parameters<Tracing['start']>[1], 'parent'>]
