import { DomainError } from '@muster/domain'
import { createSubtask } from '@muster/usecases'
import type { ApiDeps } from '../../api-deps.ts'
import { endpoint } from '../../endpoint.ts'
import { toMicros } from '../../schemas/fields.ts'
import { newSubtaskSchema, toRequiredOutputs } from '../../schemas/new-subtask.ts'
import { presentSubtask, subtaskSchema } from '../../schemas/subtask.ts'
import { fieldProblem, validationFailed } from '../../validation.ts'

export const createSubtaskEndpoint = endpoint({
  operationId: 'createSubtask',
  method: 'POST',
  path: '/subtasks',
  tag: 'Subtasks',
  summary: 'Spawn a subtask',
  description:
    'Stores the subtask and answers at once; a worker starts it within milliseconds. Follow it by `Location`, by its events, or wait for the result in the inbox of the parent session.',
  access: 'subtasks:write',
  spawns: true,
  body: newSubtaskSchema,
  answers: { 202: { description: 'Accepted and stored.', schema: subtaskSchema, headers: { Location: 'Where the subtask can be read.' } } },
  errors: ['spawn_blocked', 'runner_unavailable', 'pending_limit_reached', 'subtasks_disabled'],
  async handle({ ctx, deps, body }) {
    const longest = deps.settings.SUBTASK_MAX_TIMEOUT
    if (body.timeout_seconds !== undefined && body.timeout_seconds > longest) {
      throw validationFailed([fieldProblem('/timeout_seconds', `must be at most ${longest}, the SUBTASK_MAX_TIMEOUT of this server`, body.timeout_seconds)])
    }
    const { budget } = body
    return createSubtask(ctx, {
      task: body.task,
      agentId: body.agent_id,
      priority: body.priority,
      timeoutSeconds: body.timeout_seconds,
      notify: body.notify,
      parentSessionId: body.parent_session_id ?? undefined,
      taskId: body.task_id ?? undefined,
      runner: pickRunner(deps, body.runner ?? null),
      model: body.model ?? undefined,
      requiredOutputs: toRequiredOutputs(body.required_outputs),
      maxAttempts: body.max_attempts,
      budget: budget && {
        maxSteps: budget.max_steps,
        maxTokens: budget.max_tokens ?? undefined,
        maxCostUsdMicros: budget.max_cost_usd == null ? undefined : toMicros(budget.max_cost_usd),
      },
      metadata: body.metadata,
    })
  },
  answer: (subtask) => ({ status: 202, headers: { location: `/subtasks/${subtask.id}` }, body: presentSubtask(subtask) }),
})

/** @throws DomainError `runner_unavailable`, saying what to set or what else to name */
function pickRunner(deps: ApiDeps, name: string | null): string {
  const runners = deps.runners()
  const runner = name === null ? runners.find((each) => each.default) : runners.find((each) => each.name === name)
  if (runner?.available === true) return runner.name
  const others = runners.filter((each) => each.available).map((each) => each.name)
  const instead = others.length === 0 ? '' : ` Available: ${others.join(', ')}.`
  if (runner === undefined) {
    throw new DomainError('runner_unavailable', `There is no runner ${name ?? 'that is the default'}.${instead} Programs are added in COMMAND_RUNNERS.`)
  }
  throw new DomainError('runner_unavailable', `The runner ${runner.name} is not available: ${runner.missing.join(' ')}${instead}`, { missing: runner.missing })
}
