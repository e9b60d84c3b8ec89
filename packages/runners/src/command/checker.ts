import { type CheckEnd, type Checker, type CheckRequest, type CheckSettings, couldNotRun } from '@muster/domain'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Guard } from './guard.ts'
import { describeEnding, type Ending } from './outcome.ts'
import { type CheckMarks, confinedBy, gateFailure, type Program, StartError, startProgram } from './process.ts'
import { killMarked } from './process-group.ts'
import { type Environment, inheritedBy, locateProgram } from './program.ts'
import { createTail } from './text.ts'

const DEFAULT_TIMEOUT_SECONDS = 600
/** What is kept of the output. */
const OUTPUT_TAIL_BYTES = 8_192

export interface CheckerOptions {
  guard: Guard
  /** The worker's own environment; a check gets the few variables of it that any program needs. */
  environment: Environment
  /** What relative paths of programs start from; default: the current folder. */
  baseFolder?: string
  /** What confines checks; null or absent where nothing does. */
  sandbox?: Sandbox | null
}

/**
 * Executes the configured checks as command runners execute their programs: in a process group of its own under the guard, without a shell and without
 * the worker's environment. It gets no access to Muster. Its output is read to the end, and the last part of it kept.
 */
export function createChecker(checks: Readonly<Record<string, CheckSettings>>, options: CheckerOptions): Checker {
  return {
    async check(request, signal) {
      if (signal.aborted) return null
      const settings = checks[request.name]
      if (settings === undefined) return couldNotRun(`This worker has no check "${request.name}" (CHECKS).`)
      const startedAt = performance.now()
      const end = await execute(settings, request, options, signal)
      return end === null ? null : { ...end, durationMs: Math.round(performance.now() - startedAt) }
    },
  }
}

async function execute(settings: CheckSettings, { id, tries, folder }: CheckRequest, options: CheckerOptions, signal: AbortSignal): Promise<CheckEnd | null> {
  const { argv, env: added, timeout_seconds: timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = settings
  const located = locateProgram({ argv, ...(added === undefined ? {} : { env: added }) }, options.environment, options.baseFolder ?? process.cwd())
  if (located.program === null) return failed(`It could not be started: ${located.missing.join(' ').replace('COMMAND_RUNNERS', 'CHECKS')}`)
  const marks: CheckMarks = { MUSTER_CHECK_ID: id, MUSTER_CHECK_TRY: String(tries) }
  const env = { ...inheritedBy(options.environment), ...added, MUSTER_WORKSPACE: folder, ...marks }
  try {
    const confined = confinedBy(options.sandbox, settings, [folder])
    const program = await startProgram({ program: located.program, args: argv.slice(1), cwd: folder, env, guard: options.guard, confined })
    const { ending, output, isLate } = await follow(program, timeoutSeconds * 1_000, signal)
    // Nothing of it outlives it, such as a server that it started for its tests.
    await killMarked(marks)
    if (isLate) return failed(`It had not ended after ${timeoutSeconds} s and was stopped.`, output)
    if (ending.endedBy !== null) return null
    if (ending.code === 0) return { status: 'met', exitCode: 0, reason: null, output, durationMs: null }
    const failure = gateFailure(ending, output)
    return failed(failure === null ? `${describeEnding(ending)}.` : `It could not be started: ${failure}`, output, ending.code)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return error.isTransient ? couldNotRun(error.message) : failed(`It could not be started: ${error.message}`)
  }
}

function failed(reason: string, output = '', exitCode: number | null = null): CheckEnd {
  return { status: 'unmet', exitCode, reason, output, durationMs: null }
}

async function follow(program: Program, timeoutMs: number, signal: AbortSignal): Promise<{ ending: Ending; output: string; isLate: boolean }> {
  const tail = createTail(OUTPUT_TAIL_BYTES)
  let isLate = false
  const stop = () => program.end('stop')
  const timer = setTimeout(() => {
    isLate = !signal.aborted
    stop()
  }, timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  program.stdin.end()
  for (const stream of [program.stdout, program.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      tail.add(chunk)
      // One chunk a turn: a program that prints without pause must not keep the worker from its heartbeats.
      stream.pause()
      setImmediate(() => stream.resume())
    })
  }
  const ending = await program.ended
  clearTimeout(timer)
  signal.removeEventListener('abort', stop)
  return { ending, output: tail.text, isLate: isLate && ending.endedBy !== null }
}
