import { defaultRunner, followsDefinitions, type RunnerOffer, type Settings } from '@muster/domain'
import { type AiRunnerSettings, missingForAi } from './ai/models.ts'
import { createAiRunner } from './ai/runner.ts'
import { createClaudeCodeRunner } from './claude-code/runner.ts'
import { type ClaudeCodeSettings, locateClaude } from './claude-code/settings.ts'
import type { Guard, RunnerLog } from './command/guard.ts'
import { type Environment, locateProgram } from './command/program.ts'
import { createCommandRunner } from './command/runner.ts'
import type { Runner } from './port.ts'
import { type FoundSandbox, findSandbox, type Sandbox, type SandboxLimits, type SandboxSettings } from './sandbox/sandbox.ts'

/** The part of the settings that decides which runners there are. */
export type RunnerSettings = Pick<Settings, 'COMMAND_RUNNERS' | 'DEFAULT_RUNNER'> & AiRunnerSettings & ClaudeCodeSettings & SandboxSettings

/** Where to look for the programs of a configuration. */
export interface RunnerSurroundings {
  /** Variables of this process; PATH decides what a bare program name means. */
  environment: Environment
  /** What relative paths in the settings start from; default: the current folder. */
  baseFolder?: string
}

export interface RunnerDeps extends RunnerSurroundings {
  guard: Guard
  log: RunnerLog
  /** What confines programs and commands; null or absent where nothing does. */
  sandbox?: Sandbox | null
}

/** One line of `GET /runners`. */
export interface RunnerDescription extends RunnerOffer {
  /** True for exactly one: the runner of a plain subtask that names none. */
  default: boolean
  /** True for the runner of a sub-agent that names none; for none of them where no runner follows definitions. */
  defaultForSubagents: boolean
  steerable: boolean
  /** Whether an update that asks for it breaks off what the run is doing. */
  interruptible: boolean
  /** Of a program that says which it is. */
  version?: string
  /** What of its runs is confined on this machine: the program, or the commands that a model runs. */
  sandbox: 'program' | 'commands' | 'none'
  /** Why nothing is, where something could be. */
  sandboxProblem?: string
  /** What the processes of one sandbox may use together; absent where nothing is confined. */
  sandboxLimits?: SandboxLimits
}

/** Work for external workers that claim it over HTTP. No worker of ours runs it. */
const EXTERNAL = 'external'
const AI = 'ai'
const CLAUDE_CODE = 'claude-code'
const EXEMPT: FoundSandbox = { sandbox: null, problem: 'Its entry in COMMAND_RUNNERS has sandbox: false.' }
const INTERRUPTIBLE = new Set([AI, CLAUDE_CODE])

/**
 * The runners that a worker can execute, by name. Programs that are missing at the moment are among them: they may be there
 * when the subtask is, and a run of one says what is missing. Models and Claude Code are there only where they are set up: that takes
 * a restart, and another worker may have what this one lacks. A runner with heavy dependencies imports them in its `run`.
 */
export function createRunners(settings: RunnerSettings, deps: RunnerDeps): Map<string, Runner> {
  const baseFolder = deps.baseFolder ?? process.cwd()
  const runners = Object.entries(settings.COMMAND_RUNNERS).map(([name, command]) => createCommandRunner(name, command, { ...deps, baseFolder }))
  if (missingForAi(settings).length === 0) runners.push(createAiRunner(settings, { ...deps, baseFolder }))
  if (locateClaude(settings, deps.environment, baseFolder).missing.length === 0) runners.push(createClaudeCodeRunner(settings, { ...deps, baseFolder }))
  return new Map(runners.map((runner) => [runner.name, runner]))
}

/**
 * Every runner that can be named in a subtask, with what it lacks: the configured programs in their order, then the built-in
 * kinds. Looks at the disk at every call and changes nothing.
 */
export function describeRunners(settings: RunnerSettings, surroundings: RunnerSurroundings): { items: RunnerDescription[] } {
  const baseFolder = surroundings.baseFolder ?? process.cwd()
  const found = findSandbox(settings, surroundings.environment, baseFolder)
  const commandsOfModels = settings.ENABLE_BASH_TOOL ? confines('commands', found) : confines('none', null)
  const commands = Object.entries(settings.COMMAND_RUNNERS).map(([name, command]) => {
    const { missing } = locateProgram(command, surroundings.environment, baseFolder)
    const by = command.sandbox === false ? EXEMPT : found
    return { name, available: missing.length === 0, missing, steerable: command.steerable ?? false, ...confines('program', by) }
  })
  const { missing: claudeMissing, version } = locateClaude(settings, surroundings.environment, baseFolder)
  const items = [
    ...commands,
    { name: EXTERNAL, available: true, missing: [], steerable: true, ...confines('none', null) },
    { name: AI, available: missingForAi(settings).length === 0, missing: missingForAi(settings), steerable: true, ...commandsOfModels },
    {
      name: CLAUDE_CODE,
      available: claudeMissing.length === 0,
      missing: claudeMissing,
      steerable: true,
      ...(version !== null && { version }),
      ...commandsOfModels,
    },
  ]
  const offers = items.map((item) => ({ ...item, followsDefinitions: followsDefinitions(settings.COMMAND_RUNNERS, item.name) }))
  const [plain, forSubagents] = [false, true].map((subagent) => defaultRunner(offers, { subagent, configured: settings.DEFAULT_RUNNER })?.runner.name)
  return {
    items: offers.map((offer) => ({
      ...offer,
      default: offer.name === plain,
      defaultForSubagents: offer.name === forSubagents,
      interruptible: INTERRUPTIBLE.has(offer.name),
    })),
  }
}

function confines(what: RunnerDescription['sandbox'], by: FoundSandbox | null): Pick<RunnerDescription, 'sandbox' | 'sandboxProblem' | 'sandboxLimits'> {
  if (by === null) return { sandbox: 'none' }
  return by.sandbox === null ? { sandbox: 'none', sandboxProblem: by.problem } : { sandbox: what, sandboxLimits: by.sandbox.limits }
}
