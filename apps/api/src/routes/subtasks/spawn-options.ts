import { chooseRunner, type RunnerChooser } from '@muster/domain'
import type { NewSubtask } from '@muster/usecases'
import type { z } from 'zod'
import type { ApiDeps } from '../../api-deps.ts'
import { toMicros } from '../../http/fields-schemas.ts'
import { fieldProblem, validationFailed } from '../../http/validation.ts'
import type { newSubtaskSchema } from './new-subtask-schema.ts'

type SpawnBody = Pick<
  z.output<typeof newSubtaskSchema>,
  'agent_id' | 'timeout_seconds' | 'notify' | 'parent_session_id' | 'subagent' | 'runner' | 'model' | 'budget' | 'metadata'
> & { max_attempts?: number | undefined }

/**
 * How a subtask is to be run, as every request that starts one says it.
 *
 * @throws DomainError `validation_failed` for a timeout above this server's
 */
export function toSpawnOptions(deps: ApiDeps, body: SpawnBody): Omit<NewSubtask, 'task' | 'taskId' | 'requiredOutputs' | 'priority'> {
  requireTimeout(deps, body.timeout_seconds)
  return {
    agentId: body.agent_id,
    timeoutSeconds: body.timeout_seconds,
    notify: body.notify,
    parentSessionId: body.parent_session_id ?? undefined,
    subagent: body.subagent ?? undefined,
    runner: pickRunner(deps, body.runner),
    model: body.model ?? undefined,
    maxAttempts: body.max_attempts,
    budget: body.budget && toBudgetOptions(body.budget),
    metadata: body.metadata,
  }
}

/** @throws DomainError `validation_failed` for a timeout above this server's */
export function requireTimeout(deps: ApiDeps, seconds: number | null | undefined): void {
  const longest = deps.settings.SUBTASK_MAX_TIMEOUT
  if (seconds == null || seconds <= longest) return
  throw validationFailed([fieldProblem('/timeout_seconds', `must be at most ${longest}, the SUBTASK_MAX_TIMEOUT of this server`, seconds)])
}

export function toBudgetOptions(budget: NonNullable<SpawnBody['budget']>): NonNullable<NewSubtask['budget']> {
  return {
    maxSteps: budget.max_steps,
    maxTokens: budget.max_tokens ?? undefined,
    maxCostUsdMicros: budget.max_cost_usd == null ? undefined : toMicros(budget.max_cost_usd),
  }
}

/**
 * Chooses the runner of a subtask, or of the runs of a schedule. Every request that starts work asks here.
 *
 * @throws DomainError `runner_unavailable` when it is called, saying what to set or which other runner to name
 */
export function pickRunner(deps: ApiDeps, name: string | null | undefined): RunnerChooser {
  return (subagent) => chooseRunner(deps.runners(), { name: name ?? null, subagent, configured: deps.settings.DEFAULT_RUNNER })
}
