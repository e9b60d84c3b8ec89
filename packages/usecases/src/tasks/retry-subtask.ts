import { DomainError, isTerminal, type Subtask } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { createSubtask, type NewSubtask } from '../subtasks/create-subtask.ts'
import { getSubtask } from '../subtasks/read-subtasks.ts'
import { dispatchTask } from './dispatch-task.ts'

/**
 * Runs the work of a subtask that ended without a result once more, as a new subtask: its task, if it ran one, and otherwise the same text with the same
 * sub-agent, runner and limits.
 *
 * @throws DomainError `not_found`, `invalid_transition` unless it ended without a result, and what creating a subtask or dispatching a task is refused for
 */
export async function retrySubtask(ctx: Ctx, id: string): Promise<Subtask> {
  const ended = await getSubtask(ctx, id)
  if (!isTerminal(ended.status) || ended.status === 'completed') {
    throw new DomainError('invalid_transition', `This subtask is ${ended.status}; only one that failed or was cancelled can be retried.`, {
      status_now: ended.status,
    })
  }
  const again = sameAs(ended)
  if (ended.taskId !== null) return await dispatchTask(ctx, ended.taskId, () => again)
  return await createSubtask(ctx, { ...again, task: ended.task, requiredOutputs: ended.requiredOutputs })
}

function sameAs(ended: Subtask): Omit<NewSubtask, 'task'> {
  const { budget } = ended
  return {
    agentId: ended.agentId,
    priority: ended.priority,
    timeoutSeconds: ended.timeoutSeconds,
    notify: ended.notify,
    parentSessionId: ended.parentSessionId ?? undefined,
    runner: ended.runner,
    model: ended.model ?? undefined,
    subagent: ended.subagentName ?? undefined,
    maxAttempts: ended.maxAttempts,
    budget: { maxSteps: budget.maxSteps, maxTokens: budget.maxTokens ?? undefined, maxCostUsdMicros: budget.maxCostUsdMicros ?? undefined },
    metadata: ended.metadata,
    maxRevisions: ended.maxRevisions,
  }
}
