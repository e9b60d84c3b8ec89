import type { NewSubtaskRow, Tx } from '@muster/db'
import { DomainError, type Schedule } from '@muster/domain'
import type { Ctx, Deps } from '../core/ctx.ts'
import { inBackground, type Prepared, prepareSubtask } from '../subtasks/create-subtask.ts'

/**
 * The subtask of one run, with the fields of its schedule. The schedule is the actor.
 *
 * @throws DomainError `subtasks_disabled`
 */
export function scheduledSubtask(deps: Deps, schedule: Schedule, engaged?: Engagement): Prepared {
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
    parentSessionId: schedule.parentSessionId ?? undefined,
    runner: schedule.runner,
    model: schedule.model ?? undefined,
    budget: { maxSteps: budget.maxSteps, maxTokens: budget.maxTokens ?? undefined, maxCostUsdMicros: budget.maxCostUsdMicros ?? undefined },
    metadata: schedule.metadata,
  })
  return { ctx, row: { ...row, ...engaged, scheduleId: schedule.id } }
}

/** The same for a slot that fires: where spans are recorded it begins a trace, linked to the span that asked for the schedule. */
export function firedSubtask(deps: Deps, schedule: Schedule, engaged?: Engagement): Prepared {
  const prepared = scheduledSubtask(deps, schedule, engaged)
  const span = deps.tracing?.start('fire_schedule', {
    parent: null,
    ...(schedule.traceparent !== null && { links: [schedule.traceparent] }),
    attributes: { 'muster.schedule.id': schedule.id, 'muster.subtask.id': prepared.row.id },
  })
  span?.end()
  return { ...prepared, row: { ...prepared.row, traceparent: span?.traceparent ?? null } }
}

/** What its sub-agent makes of a run. */
export type Engagement = Pick<NewSubtaskRow, 'subagentName' | 'subagentVersion' | 'background' | 'model'>

/**
 * Pins the sub-agents of some locked schedules for the runs that are made now. One that cannot be run at the moment is a fault of its schedule,
 * which is left as it is. In the order of their names, so that two who do this do not wait for each other.
 */
export async function engageForSchedules(
  deps: Deps,
  tx: Tx,
  schedules: readonly Schedule[],
): Promise<{ engaged: Map<string, Engagement>; faults: { scheduleId: string; error: DomainError }[] }> {
  const engaged = new Map<string, Engagement>()
  const faults: { scheduleId: string; error: DomainError }[] = []
  const known = new Map<string, Engagement | DomainError>()
  const named = [...new Set(schedules)].filter((schedule) => schedule.subagent !== null)
  for (const schedule of named.sort((one, other) => ((one.subagent as string) < (other.subagent as string) ? -1 : 1))) {
    const key = JSON.stringify([schedule.subagent, schedule.model, schedule.runner])
    const found = known.get(key) ?? (await engage(deps, tx, schedule))
    known.set(key, found)
    if (found instanceof DomainError) faults.push({ scheduleId: schedule.id, error: found })
    else engaged.set(schedule.id, found)
  }
  return { engaged, faults }
}

async function engage(deps: Deps, tx: Tx, schedule: Schedule): Promise<Engagement | DomainError> {
  const { ctx, row } = scheduledSubtask(deps, schedule)
  try {
    const { subagentName, subagentVersion, background, model } = await inBackground(ctx, tx, row, schedule.runner, schedule.subagent)
    return { subagentName, subagentVersion, background, model }
  } catch (error) {
    // Refused before anything was asked of the database that could have failed: the transaction goes on.
    if (error instanceof DomainError && error.code !== 'unavailable') return error
    throw error
  }
}
