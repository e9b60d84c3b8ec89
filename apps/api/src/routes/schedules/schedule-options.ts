import type { ErrorCode, Phrase } from '@muster/domain'
import type { NewSchedule, ScheduleRevision } from '@muster/usecases'
import type { z } from 'zod'
import type { ApiDeps } from '../../api-deps.ts'
import { pickRunner, requireTimeout, toBudgetOptions, toSpawnOptions } from '../subtasks/new-subtask-schema.ts'
import { type newScheduleSchema, phraseOf, type schedulePatchSchema } from './new-schedule-schema.ts'

/** What a rule, and what its runs are to be, can be refused for. */
export const RULE_ERRORS = [
  'spawn_blocked',
  'subagent_not_found',
  'subagent_invalid',
  'background_mcp_blocked',
  'schedule_ambiguous',
  'schedule_unparseable',
  'schedule_in_past',
  'runner_unavailable',
] as const satisfies readonly ErrorCode[]

type NewScheduleBody = z.output<typeof newScheduleSchema>

/** Everything of a new schedule but what its runs are to do. @throws DomainError as `toSpawnOptions` does */
export function toScheduleOptions(deps: ApiDeps, body: Omit<NewScheduleBody, 'task'>): Omit<NewSchedule, 'task'> {
  return {
    ...toSpawnOptions(deps, body),
    phrase: phraseOf(body) as Phrase,
    timezone: body.timezone ?? undefined,
    priority: body.priority,
    maxFires: body.max_fires ?? undefined,
    overlap: body.overlap,
    missed: body.missed,
    graceSeconds: body.grace_seconds,
  }
}

/** What a patch changes. Null where the schedule itself has a default is that default. @throws DomainError as `toSpawnOptions` does */
export function toScheduleRevision(deps: ApiDeps, body: z.output<typeof schedulePatchSchema>): ScheduleRevision {
  requireTimeout(deps, body.timeout_seconds)
  const { budget, runner } = body
  return {
    task: body.task,
    phrase: phraseOf(body) ?? undefined,
    timezone: body.timezone,
    agentId: body.agent_id,
    notify: body.notify,
    timeoutSeconds: body.timeout_seconds === null ? deps.settings.SUBTASK_DEFAULT_TIMEOUT : body.timeout_seconds,
    priority: body.priority,
    subagent: body.subagent,
    runner: runner === undefined ? undefined : pickRunner(deps, runner),
    model: body.model,
    budget: budget === null ? {} : budget && toBudgetOptions(budget),
    maxFires: body.max_fires,
    overlap: body.overlap,
    missed: body.missed,
    graceSeconds: body.grace_seconds,
    parentSessionId: body.parent_session_id,
    metadata: body.metadata,
  }
}
