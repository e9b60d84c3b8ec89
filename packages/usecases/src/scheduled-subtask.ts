import { type Schedule, scheduleSessionId } from '@muster/domain'
import { type Prepared, prepareSubtask } from './create-subtask.ts'
import type { Ctx, Deps } from './ctx.ts'

/**
 * The subtask that a run of a schedule is: as the schedule says, asked for by the schedule itself.
 *
 * @throws DomainError `subtasks_disabled`
 */
export function scheduledSubtask(deps: Deps, schedule: Schedule): Prepared {
  const { budget } = schedule
  const ctx: Ctx = {
    ...deps,
    actor: { kind: 'schedule', id: schedule.id, projectId: schedule.projectId, scopes: ['subtasks:write'], agentId: null, lineage: null },
  }
  const row = prepareSubtask(ctx, {
    task: schedule.task,
    agentId: schedule.agentId,
    priority: schedule.priority,
    timeoutSeconds: schedule.timeoutSeconds,
    notify: schedule.notify,
    parentSessionId: schedule.parentSessionId ?? scheduleSessionId(schedule.id),
    runner: schedule.runner,
    model: schedule.model ?? undefined,
    budget: { maxSteps: budget.maxSteps, maxTokens: budget.maxTokens ?? undefined, maxCostUsdMicros: budget.maxCostUsdMicros ?? undefined },
    metadata: schedule.metadata,
  })
  return { ctx, row: { ...row, scheduleId: schedule.id } }
}
