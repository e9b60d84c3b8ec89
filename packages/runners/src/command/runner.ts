import type { CommandRunnerSettings } from '@muster/domain'
import { createBudgetMeter } from '../ai/budget.ts'
import type { Run, Runner, RunOutcome, UsageDelta } from '../port.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { startFeed } from './feed.ts'
import type { Guard, RunnerLog } from './guard.ts'
import { createLineReader } from './lines.ts'
import { decideOutcome, type Ending } from './outcome.ts'
import { confinedBy, gateFailure, type Program, StartError, startProgram } from './process.ts'
import { type Environment, locateProgram, type MusterVariables, programEnvironment } from './program.ts'
import { createTail } from './text.ts'
import { createTranscript, LIMITS, type Transcript } from './transcript.ts'

/** How long plain lines wait for more, in milliseconds: long enough to share a step, short enough to be seen while the program runs. */
const PLAIN_LINES_MS = 250
const ERROR_TAIL_BYTES = 4096
/** How long a program may go on after its closing line. */
const LINGER_MS = 10_000
/** How long a program has for its closing line when its budget is used up: what it used may have been for the answer that it is about to give. */
const OVERSPENT_MS = 1_000

export interface CommandRunnerOptions {
  guard: Guard
  log: RunnerLog
  /** The worker's own environment; a program gets the few variables of it that any program needs. */
  environment: Environment
  /** What relative paths in the settings start from. */
  baseFolder: string
  /** What confines programs; null or absent where nothing does. */
  sandbox?: Sandbox | null
  /** Milliseconds a program may go on after its closing line; default: 10,000. */
  lingerMs?: number
}

/**
 * A runner that executes a subtask as a program of the operator's choice, by the protocol of `protocol.ts`. The program and
 * its arguments never come from a caller, and no shell reads them.
 */
export function createCommandRunner(name: string, settings: CommandRunnerSettings, options: CommandRunnerOptions): Runner {
  const isSteerable = settings.steerable ?? false
  return {
    name,
    steerable: isSteerable,
    usesWorkspace: true,
    followsDefinitions: settings.follows_definitions ?? false,
    async run(run) {
      if (run.signal.aborted) return { kind: 'stopped' }
      const exceeded = createBudgetMeter(run.budget, null, null).exceeded()
      if (exceeded !== null) return { kind: 'budget_exceeded', error: exceeded }
      const located = locateProgram(settings, options.environment, options.baseFolder)
      if (located.program === null) return cannotStart(name, located.missing.join(' '), false)
      const env = programEnvironment(options.environment, settings.env, musterVariables(run))
      const cwd = located.cwd ?? run.workspace
      try {
        // It is given the address of Muster, to call it: without a network it could not.
        const confined = confinedBy(options.sandbox, { ...settings, network: settings.network ?? true }, [run.workspace])
        const program = await startProgram({ program: located.program, args: settings.argv.slice(1), cwd, env, guard: options.guard, confined })
        const { ending, transcript, errorTail, exceeded } = await follow(program, run, isSteerable, options.lingerMs ?? LINGER_MS)
        options.log.debug({ runner: name, subtask_id: run.brief.subtaskId, ...ending }, 'the program ended')
        const failure = gateFailure(ending, errorTail)
        return failure === null ? decideOutcome(ending, transcript, errorTail, exceeded) : cannotStart(name, failure, false)
      } catch (error) {
        if (error instanceof StartError) return cannotStart(name, error.message, error.isTransient)
        throw error
      }
    },
  }
}

function cannotStart(name: string, problem: string, retryable: boolean): RunOutcome {
  return { kind: 'errored', error: `The runner "${name}" could not start its program. ${problem} Check "${name}" in COMMAND_RUNNERS.`, retryable }
}

/** How the program of a run reaches Muster. */
export function musterVariables({ brief, workspace, access, traceparent }: Run): MusterVariables {
  return {
    MUSTER_URL: access.url,
    MUSTER_TOKEN: access.token,
    MUSTER_SUBTASK_ID: brief.subtaskId,
    MUSTER_ATTEMPT: String(brief.attempt),
    MUSTER_SESSION_ID: brief.sessionId,
    MUSTER_WORKSPACE: workspace,
    ...(traceparent != null && { TRACEPARENT: traceparent }),
  }
}

/** Passes on the output and the input of the program until it has ended. */
async function follow(
  program: Program,
  run: Run,
  isSteerable: boolean,
  lingerMs: number,
): Promise<{ ending: Ending; transcript: Transcript; errorTail: string; exceeded: string | null }> {
  const feed = startFeed(program.stdin, run, isSteerable)
  const errors = createTail(ERROR_TAIL_BYTES)
  const meter = createBudgetMeter(run.budget, null, null)
  let lingerTimer: NodeJS.Timeout | undefined
  let overspentTimer: NodeJS.Timeout | undefined
  let plainTimer: NodeJS.Timeout | undefined
  let exceeded: string | null = null
  let failure: { error: unknown } | null = null

  function use(delta: UsageDelta) {
    run.usage(delta)
    const { inputTokens = 0, outputTokens = 0, costUsdMicros = 0 } = delta
    if (inputTokens + outputTokens > 0) meter.addStep()
    meter.addCall({ inputTokens, outputTokens, costUsd: costUsdMicros / 1_000_000 })
    overspentTimer ??= meter.exceeded() === null ? undefined : setTimeout(overspend, OVERSPENT_MS)
  }

  function overspend() {
    if (transcript.closing !== null) return
    exceeded = meter.exceeded()
    feed.end()
    program.end('lingering')
  }

  const reporting = { step: (step) => run.step(step), acknowledge: (updateId) => run.acknowledge(updateId), usage: use } satisfies Parameters<
    typeof createTranscript
  >[0]
  const transcript = createTranscript(reporting, () => {
    // Nothing can change any more: a program that reads its input to the end finds the end now.
    feed.end()
    lingerTimer = setTimeout(() => {
      run.step({ kind: 'message', content: `The program was ended: it still ran ${lingerMs / 1000} s after its closing line.` })
      program.end('lingering')
    }, lingerMs)
  })
  const lines = createLineReader(
    LIMITS,
    (line) => transcript.add(line),
    () => transcript.isPlainFull,
  )

  const stop = () => {
    feed.end()
    program.end('stop')
  }
  run.signal.addEventListener('abort', stop, { once: true })
  if (run.signal.aborted) stop()

  program.stderr.on('data', (chunk: Buffer) => errors.add(chunk))
  /** Does its work unless the worker itself has failed. After such a failure the output is read on, so that the program can end, and thrown away. */
  const attempt = (work: () => void) => {
    if (failure !== null) return
    try {
      work()
    } catch (error) {
      failure = { error }
      stop()
    }
  }
  program.stdout.on('data', (chunk: Buffer) => {
    attempt(() => lines.add(chunk))
    plainTimer ??= setTimeout(() => {
      plainTimer = undefined
      attempt(transcript.flush)
    }, PLAIN_LINES_MS)
    // One chunk a turn: a program that prints without pause must not keep the worker from its heartbeats.
    program.stdout.pause()
    setImmediate(() => program.stdout.resume())
  })

  const ending = await program.ended
  clearTimeout(lingerTimer)
  clearTimeout(overspentTimer)
  clearTimeout(plainTimer)
  run.signal.removeEventListener('abort', stop)
  feed.end()
  if (failure !== null) throw (failure as { error: unknown }).error
  lines.end()
  transcript.flush()
  return { ending, transcript, errorTail: errors.text, exceeded }
}
