import { DomainError } from '../core/errors.ts'
import type { CommandRunnerSettings } from '../settings/settings.ts'

/** A runner as a request may name it. */
export interface RunnerOffer {
  name: string
  available: boolean
  /** What the operator has to set or install; empty when it is available. */
  missing: string[]
  /** Whether it acts on the role, the instructions and the tools of a sub-agent definition. */
  followsDefinitions: boolean
}

export interface RunnerQuestion {
  /** The runner that the request names; null for none. */
  name: string | null
  /** The sub-agent that the subtask is a run of; null for a plain subtask. */
  subagent: string | null
  /** `DEFAULT_RUNNER`. */
  configured: string | undefined
}

export interface RunnerChoice {
  name: string
  /** One sentence for people and models. */
  reason: string
}

/** Chooses the runner of a subtask, given the sub-agent that it is a run of. @throws DomainError `runner_unavailable` */
export type RunnerChooser = (subagent: string | null) => RunnerChoice

/** Work that any client may claim over HTTP. It is always available, and no worker of this server serves it. */
const EXTERNAL = 'external'
const AI = 'ai'
const CLAUDE_CODE = 'claude-code'
/** The built-in runners that come before programs where no runner is named. */
const PREFERRED = [AI, CLAUDE_CODE]

/**
 * The runner of a subtask that names none. `DEFAULT_RUNNER` comes first, also where it is unavailable: the operator chose it. Then `ai`,
 * `claude-code` and the programs in their order, as far as they are available. A sub-agent has only runners that follow definitions, and never
 * `external` unless the operator chose it: no outside worker may be there. Null where a sub-agent has none.
 */
export function defaultRunner<Offer extends RunnerOffer>(
  offers: readonly Offer[],
  { subagent, configured }: { subagent: boolean; configured: string | undefined },
): { runner: Offer; reason: string } | null {
  const suited = subagent ? offers.filter((offer) => offer.followsDefinitions) : offers
  const chosen = suited.find(({ name }) => name === configured)
  if (chosen !== undefined) return { runner: chosen, reason: 'DEFAULT_RUNNER names it.' }
  const available = suited.filter((offer) => offer.available && offer.name !== EXTERNAL)
  const preferred = PREFERRED.map((name) => available.find((offer) => offer.name === name)).find((offer) => offer !== undefined)
  const runner = preferred ?? available[0]
  if (runner !== undefined) return { runner, reason: reasonFor(runner.name, subagent) }
  const external = subagent ? undefined : offers.find(({ name }) => name === EXTERNAL)
  return external === undefined ? null : { runner: external, reason: 'No other runner is available: an outside worker has to claim the subtask.' }
}

function reasonFor(name: string, subagent: boolean): string {
  if (name === AI) return 'A model provider is set.'
  return subagent ? 'It is the first available runner that follows sub-agent definitions.' : 'It is the first available runner, and no model provider is set.'
}

/**
 * The one choice of a runner, for every request that starts a subtask or stores how one will be started.
 *
 * @throws DomainError `runner_unavailable`, saying what to set or which other runner to name
 */
export function chooseRunner(offers: readonly RunnerOffer[], { name, subagent, configured }: RunnerQuestion): RunnerChoice {
  const choice = name === null ? defaultRunner(offers, { subagent: subagent !== null, configured }) : namedRunner(offers, name)
  if (choice === null && name === null && subagent !== null) throw noneFollows(subagent, offers)
  if (choice === null) {
    throw new DomainError('runner_unavailable', `There is no runner ${name}.${listAvailable(offers, subagent)} Programs are added in COMMAND_RUNNERS.`)
  }
  const { runner, reason } = choice
  if (subagent !== null && !runner.followsDefinitions) throw followsNone(runner.name, subagent, listAvailable(offers, subagent))
  if (!runner.available) {
    const message = `The runner ${runner.name} is not available: ${runner.missing.join(' ')}${listAvailable(offers, subagent)}`
    throw new DomainError('runner_unavailable', message, { missing: runner.missing })
  }
  return { name: runner.name, reason }
}

function namedRunner(offers: readonly RunnerOffer[], name: string): { runner: RunnerOffer; reason: string } | null {
  const runner = offers.find((offer) => offer.name === name)
  return runner === undefined ? null : { runner, reason: 'The request names it.' }
}

function listAvailable(offers: readonly RunnerOffer[], subagent: string | null): string {
  const names = offers.filter((offer) => offer.available && (subagent === null || offer.followsDefinitions)).map(({ name }) => name)
  return names.length === 0 ? '' : ` Available: ${names.join(', ')}.`
}

/** No runner can be the default of a sub-agent. */
function noneFollows(subagent: string, offers: readonly RunnerOffer[]): DomainError {
  const missing = offers.find(({ name }) => name === AI)?.missing ?? []
  const message =
    `No runner on this server follows the definition of ${subagent}. For the runner ai: ${missing.join(' ')} ` +
    'Or set follows_definitions: true on a program of COMMAND_RUNNERS that does, or name the runner external where an outside worker claims such work.'
  return new DomainError('runner_unavailable', message, { missing })
}

function followsNone(runner: string, subagent: string, available: string): DomainError {
  const message =
    `The runner ${runner} does not follow sub-agent definitions, and the subtask is a run of ${subagent}.${available} ` +
    'A program of COMMAND_RUNNERS that follows them says so with follows_definitions: true.'
  return new DomainError('runner_unavailable', message)
}

/** Whether a runner, by its name, follows sub-agent definitions. An outside worker is given the definition with its claim, and is trusted to follow it. */
export function followsDefinitions(programs: Readonly<Record<string, CommandRunnerSettings>>, runner: string): boolean {
  if (Object.hasOwn(programs, runner)) return programs[runner]?.follows_definitions ?? false
  return [...PREFERRED, EXTERNAL].includes(runner)
}

/**
 * Refuses to run a sub-agent on a runner that ignores its role.
 *
 * @throws DomainError `runner_unavailable`
 */
export function requireFollowsDefinitions(programs: Readonly<Record<string, CommandRunnerSettings>>, runner: string, subagent: string): void {
  if (!followsDefinitions(programs, runner)) throw followsNone(runner, subagent, '')
}
