import type { Guard, RunnerLog } from '../command/guard.ts'
import type { Environment } from '../command/program.ts'
import type { Run, Runner, RunOutcome } from '../port.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { AiRunnerSettings } from './models.ts'
import { operatorSecrets } from './redact.ts'
import type { ToolboxOptions } from './tools/assemble.ts'
import type { WebFetchOptions } from './tools/web-fetch.ts'

export interface AiRunnerOptions {
  guard: Guard
  log: RunnerLog
  /** Variables of this process. Commands get a few of them; secrets among them are taken out of whatever leaves a run. */
  environment: Environment
  /** What relative paths in the settings start from. */
  baseFolder: string
  /** What confines commands; null or absent where nothing does. */
  sandbox?: Sandbox | null
  /** For tests: how long to wait, where pages and models really are. */
  overrides?: {
    firstWaitMs?: number
    waitMsMax?: number
    idleSeconds?: number
    web?: WebFetchOptions
    mcp?: ToolboxOptions['mcp']
    fetch?: typeof globalThis.fetch
  }
}

/** A call is tried this often beyond the first: with the waits below, that is about half a minute of trouble. */
const RETRIES_MAX = 5
const FIRST_WAIT_MS = 1_000
const WAIT_MS_MAX = 30_000

/**
 * The runner `ai`: a model and its tools in a loop, over the AI SDK. It is steerable: updates are delivered before the next model call, or at
 * once where they ask for that. Everything heavy is imported by the first run.
 *
 * How a run ends: with the model's last answer; `blocked` where the model refuses; `budget_exceeded` with what it has said so far; `errored`,
 * retryable where the provider may answer later, not so where an operator has to set something first.
 */
export function createAiRunner(settings: AiRunnerSettings, options: AiRunnerOptions): Runner {
  return {
    name: 'ai',
    steerable: true,
    usesWorkspace: true,
    followsDefinitions: true,
    asksFirst: true,
    async run(run) {
      if (run.signal.aborted) return { kind: 'stopped' }
      return await runModel(run, settings, options)
    },
  }
}

async function runModel(
  run: Run,
  settings: AiRunnerSettings,
  { guard, log, environment, baseFolder, sandbox = null, overrides = {} }: AiRunnerOptions,
): Promise<RunOutcome> {
  const parts = await loadParts()
  const model = chooseModel(parts, run, settings)
  if ('error' in model) return { kind: 'errored', error: model.error, retryable: false }
  const { choice } = model
  const redact = parts.createRedact(environment, { ...operatorSecrets(settings), MUSTER_TOKEN: run.access.token })
  const meter = parts.createBudgetMeter(run.budget, choice.price, run.brief.subagent?.maxTurns ?? null)
  const toolbox = await parts.assembleTools(run, {
    guard,
    environment,
    baseFolder,
    sandbox,
    hasBash: settings.ENABLE_BASH_TOOL,
    search: parts.searchOf(settings),
    servers: settings.MCP_SERVERS,
    ...(overrides.web !== undefined && { web: overrides.web }),
    ...(overrides.mcp !== undefined && { mcp: overrides.mcp }),
  })
  const inbox = parts.openInbox(run, (error) => log.warn({ err: error, subtask_id: run.brief.subtaskId }, 'updates do not reach this run any more'))
  try {
    const stepLog = parts.createStepLog(run, redact)
    for (const problem of toolbox.problems) stepLog.error(problem)
    const conversation = new parts.Conversation({
      run,
      choice,
      model: await parts.loadModel(choice, settings, overrides.fetch),
      toolbox,
      toolSet: Object.fromEntries([...toolbox.tools.values()].map(({ name, description, inputSchema }) => [name, { description, inputSchema }])),
      inbox,
      meter,
      log: stepLog,
      redact,
      onGuidesFailed: (error) => log.warn({ err: error, subtask_id: run.brief.subtaskId }, 'guides for a failed tool could not be searched'),
      patience: {
        retriesMax: RETRIES_MAX,
        firstWaitMs: overrides.firstWaitMs ?? FIRST_WAIT_MS,
        waitMsMax: overrides.waitMsMax ?? WAIT_MS_MAX,
        idleSeconds: overrides.idleSeconds ?? settings.MODEL_IDLE_TIMEOUT,
      },
    })
    const outcome = await conversation.run()
    log.debug({ runner: 'ai', subtask_id: run.brief.subtaskId, provider: choice.provider, model: choice.modelId, outcome: outcome.kind }, 'the model ended')
    return outcome
  } finally {
    inbox.close()
    await toolbox.close()
  }
}

/** The model of the brief, or why there is none. */
function chooseModel({ resolveModel, ModelUnavailable }: Parts, { brief, budget }: Run, settings: AiRunnerSettings) {
  try {
    const choice = resolveModel(settings, brief.model)
    if (budget.costUsdMicros === null || choice.price !== null) return { choice }
    return { error: `The subtask has a budget in dollars (max_cost_usd), and the price of "${choice.modelId}" is unknown. Add it to MODEL_PRICES.` }
  } catch (error) {
    if (error instanceof ModelUnavailable) return { error: error.message }
    throw error
  }
}

type Parts = Awaited<ReturnType<typeof loadParts>>

/** Loaded by the first run: a worker that only runs programs should not carry a model's tools. */
async function loadParts() {
  const [
    { createBudgetMeter },
    { Conversation },
    { openInbox },
    { ModelUnavailable, resolveModel },
    { loadModel },
    { createRedact },
    { createStepLog },
    tools,
    { searchOf },
  ] = await Promise.all([
    import('./budget.ts'),
    import('./conversation.ts'),
    import('./inbox.ts'),
    import('./models.ts'),
    import('./providers.ts'),
    import('./redact.ts'),
    import('./step-log.ts'),
    import('./tools/assemble.ts'),
    import('./tools/web-search.ts'),
  ])
  return {
    createBudgetMeter,
    Conversation,
    openInbox,
    ModelUnavailable,
    resolveModel,
    loadModel,
    createRedact,
    createStepLog,
    assembleTools: tools.assembleTools,
    searchOf,
  }
}
