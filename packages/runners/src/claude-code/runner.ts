import { createBudgetMeter } from '../ai/budget.ts'
import { createRedact, operatorSecrets, type Redact } from '../ai/redact.ts'
import { createStepLog } from '../ai/step-log.ts'
import { Approvals } from '../approvals.ts'
import type { Guard, RunnerLog } from '../command/guard.ts'
import { createLineReader } from '../command/lines.ts'
import { gateFailure, openCgroup, type Program, StartError, startProgram } from '../command/process.ts'
import type { Environment } from '../command/program.ts'
import { createTail } from '../command/text.ts'
import { LIMITS } from '../command/transcript.ts'
import type { Run, Runner, RunOutcome } from '../port.ts'
import type { Cgroup } from '../sandbox/cgroups.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { argumentsOf, environmentOf } from './command-line.ts'
import { decideOutcome } from './outcome.ts'
import { makePrivateFolder, type PrivateFolder } from './private-folder.ts'
import { restoreSession, saveSession } from './saved-session.ts'
import { Session } from './session.ts'
import { type ClaudeCodeSettings, locateClaude, modelOf } from './settings.ts'
import { toolRulesOf } from './tool-rules.ts'

const ERROR_TAIL_BYTES = 4096

export interface ClaudeCodeRunnerOptions {
  guard: Guard
  log: RunnerLog
  /** The worker's own environment; the program gets the few variables of it that any program needs. */
  environment: Environment
  /** What relative paths in the settings start from. */
  baseFolder: string
  /** What confines the commands of its model; null or absent where nothing does. The program itself is not confined: it needs the network, and its key. */
  sandbox?: Sandbox | null
}

/**
 * The runner `claude-code`: the program `claude`, headless, in the subtask's workspace. It is steered over its standard input, and calls Muster by
 * hooks and MCP with the subtask's own credential. It goes by rules of Muster alone: settings, hooks and logins of the machine's user are not read,
 * its file tools stay in the workspace, commands are there only with ENABLE_BASH_TOOL, and what no rule allows is denied. Policies that the
 * administrator of the machine has set for Claude Code hold as everywhere.
 *
 * How a run ends: with the program's result; `blocked` where the model refuses; `budget_exceeded` with what it has said so far; `errored`, retryable
 * where another try may help, not so where an operator has to install or set something first.
 */
export function createClaudeCodeRunner(settings: ClaudeCodeSettings, options: ClaudeCodeRunnerOptions): Runner {
  return {
    name: 'claude-code',
    steerable: true,
    usesWorkspace: true,
    followsDefinitions: true,
    asksFirst: true,
    async run(run) {
      if (run.signal.aborted) return { kind: 'stopped' }
      const { program, missing } = locateClaude(settings, options.environment, options.baseFolder)
      if (program === null || missing.length > 0) return cannotStart(missing.join(' '), false)
      const choice = modelOf(settings, run.brief.model)
      if ('problem' in choice) return { kind: 'errored', error: choice.problem, retryable: false }
      return await runProgram(run, { program, model: choice.model, settings, options })
    },
  }
}

function cannotStart(problem: string, retryable: boolean): RunOutcome {
  return { kind: 'errored', error: `The runner "claude-code" could not start its program. ${problem}`, retryable }
}

interface Chosen {
  program: string
  model: string | null
  settings: ClaudeCodeSettings
  options: ClaudeCodeRunnerOptions
}

async function runProgram(run: Run, { program: path, model, settings, options }: Chosen): Promise<RunOutcome> {
  // The program counts turns itself.
  const meter = createBudgetMeter(run.budget, null, null)
  const exceeded = meter.exceeded()
  if (exceeded !== null) return { kind: 'budget_exceeded', error: exceeded }
  const redact = createRedact(options.environment, { ...operatorSecrets(settings), MUSTER_TOKEN: run.access.token })
  const rules = toolRulesOf(run.brief, settings.ENABLE_BASH_TOOL)
  const { sandbox = null } = options
  let cgroup: Cgroup | null = null
  let folder: PrivateFolder | null = null
  try {
    // Of all commands of the run together: the program starts them, and not the worker.
    if (settings.ENABLE_BASH_TOOL && sandbox !== null) cgroup = await openCgroup(sandbox)
    folder = await makePrivateFolder(run, rules, sandbox, cgroup)
    run.alsoUses(folder.root)
    const saved = await restoreSession(run, folder)
    const args = argumentsOf(run, folder, saved, rules, model)
    const env = environmentOf(run, folder, settings, options.environment)
    const program = await startProgram({ program: path, args, cwd: run.workspace, env, guard: options.guard })
    const approvals = new Approvals(run.brief.ask ?? [], redact, saved.remembered)
    const session = new Session({ run, program, meter, rules, log: createStepLog(run, redact), approvals, session: saved })
    const { ending, errorTail } = await follow(program, session, run)
    options.log.debug({ runner: 'claude-code', subtask_id: run.brief.subtaskId, model, ...ending }, 'the program ended')
    const failure = gateFailure(ending, errorTail)
    if (failure !== null) return cannotStart(redact(failure), false)
    const awaitedId = session.awaitedQuestionId
    if (awaitedId !== null && !run.signal.aborted) {
      const continuation = await saveSession({ id: saved.id, used: session.used, remembered: approvals.remembered }, folder, redact)
      return { kind: 'waiting', questionId: awaitedId, ...(continuation !== undefined && { continuation }) }
    }
    return decideOutcome({ ending, session, errorTail, requiredOutputs: run.brief.requiredOutputs, model, redact })
  } catch (error) {
    if (error instanceof StartError) return cannotStart(redact(error.message), error.isTransient)
    throw withoutSecrets(error, redact)
  } finally {
    await cgroup?.remove()
    await folder?.remove().catch((error) => options.log.warn({ err: error }, 'could not remove the folder of a session'))
  }
}

/** Its words become the error of the subtask. */
function withoutSecrets(error: unknown, redact: Redact): Error {
  return new Error(redact(error instanceof Error ? error.message : String(error)))
}

/** Passes on the output and the input of the program until it has ended. */
async function follow(program: Program, session: Session, run: Run) {
  const errors = createTail(ERROR_TAIL_BYTES)
  let failure: { error: unknown } | null = null
  const lines = createLineReader(LIMITS, ({ text, isCut }) => {
    if (!isCut) session.take(text)
  })
  const stop = () => session.stop()

  program.stderr.on('data', (chunk: Buffer) => errors.add(chunk))
  program.stdout.on('data', (chunk: Buffer) => {
    // After a failure of the worker's own the output is read on, so that the program can end, and thrown away.
    if (failure !== null) return
    try {
      lines.add(chunk)
    } catch (error) {
      failure = { error }
      program.end('lingering')
    }
    // One chunk a turn: a program that prints without pause must not keep the worker from its heartbeats.
    program.stdout.pause()
    setImmediate(() => program.stdout.resume())
  })
  run.signal.addEventListener('abort', stop, { once: true })
  session.begin()
  if (run.signal.aborted) stop()

  const ending = await program.ended
  run.signal.removeEventListener('abort', stop)
  if (failure === null) lines.end()
  session.close()
  if (failure !== null) throw (failure as { error: unknown }).error
  return { ending, errorTail: errors.text }
}
