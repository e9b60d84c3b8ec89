import { clock, projects, schedules, type Tx } from '@muster/db'
import {
  DomainError,
  type MissedPolicy,
  nextFiring,
  type Overlap,
  type Phrase,
  readPhrase,
  requireScope,
  requireSpawnAllowed,
  type Schedule,
} from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { type Callback, insertCallback } from '../deliveries/insert-callback.ts'
import { requireSpawnable, resolveRunner } from '../subagents/engage-subagent.ts'
import { DEFAULT_AGENT, DEFAULT_MAX_STEPS, type NewSubtask } from '../subtasks/create-subtask.ts'
import { announce, requireSchedulesEnabled, stateEvent } from './locked-schedule.ts'

/** When a subtask is to be created, and how it is run then. */
export interface NewSchedule extends Omit<NewSubtask, 'taskId' | 'requiredOutputs' | 'maxAttempts' | 'callback'> {
  /** Where the end of each run is sent to. */
  callback?: Callback | undefined
  phrase: Phrase
  /** Counts where the phrase names none. Absent: the project's. */
  timezone?: string | undefined
  /** How often it fires at most. */
  maxFires?: number | undefined
  overlap?: Overlap | undefined
  missed?: MissedPolicy | undefined
  graceSeconds?: number | undefined
}

const DEFAULT_OVERLAP: Overlap = 'skip'
const DEFAULT_MISSED: MissedPolicy = 'run_once'
const DEFAULT_GRACE_SECONDS = 60

/**
 * Stores a schedule with the reading of its phrase, and notifies the workers that fire schedules. [011] schedule_task
 *
 * @throws DomainError `schedules_disabled`, `spawn_blocked`, `forbidden`, and what `readRule` and `requireSpawnable` refuse
 */
export async function createSchedule(ctx: Ctx, input: NewSchedule): Promise<Schedule> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  requireSchedulesEnabled(ctx)
  const { actor, settings } = ctx
  return await inProject(ctx, async (tx) => {
    const runner = await requireSchedulable(ctx, tx, input)
    const schedule = await schedules.insertSchedule(tx, {
      ...(await readRule(ctx, tx, input.phrase, input.timezone ?? null)),
      id: ctx.newId(),
      projectId: actor.projectId,
      agentId: actor.agentId ?? input.agentId ?? DEFAULT_AGENT,
      task: input.task,
      maxFires: input.maxFires ?? null,
      overlap: input.overlap ?? DEFAULT_OVERLAP,
      missed: input.missed ?? DEFAULT_MISSED,
      graceSeconds: input.graceSeconds ?? DEFAULT_GRACE_SECONDS,
      notify: input.notify ?? true,
      timeoutSeconds: input.timeoutSeconds ?? settings.SUBTASK_DEFAULT_TIMEOUT,
      priority: input.priority ?? 'normal',
      subagent: input.subagent ?? null,
      runner,
      model: input.model ?? null,
      budget: toBudget(input.budget),
      parentSessionId: input.parentSessionId ?? null,
      // The request names no other session than the parent.
      createdBySession: input.parentSessionId ?? null,
      traceparent: ctx.traceparent ?? null,
      metadata: input.metadata ?? {},
    })
    if (input.callback !== undefined) await insertCallback(ctx, tx, schedule.id, input.callback)
    await announce(ctx, tx, schedule, [stateEvent('schedule.created', schedule, actor)])
    tx.afterCommit(() => ctx.notifier.notify('schedule'))
    return schedule
  })
}

/**
 * Refuses a sub-agent that could not be run now. Each run is of it as it is then. Returns the runner of the runs.
 *
 * @throws DomainError as `requireSpawnable` and the choice of the runner do
 */
export async function requireSchedulable(
  ctx: Ctx,
  tx: Tx,
  run: Pick<NewSchedule, 'runner'> & { subagent?: string | null | undefined; model?: string | null | undefined },
): Promise<string> {
  if (run.subagent == null) return resolveRunner(run.runner, null).runner
  return (await requireSpawnable(ctx, tx, { name: run.subagent, model: run.model ?? null, runner: run.runner, runInBackground: true })).runner
}

/** Fills in what was left out of a budget. */
export function toBudget(budget: NewSchedule['budget']): Schedule['budget'] {
  return {
    maxSteps: budget?.maxSteps ?? DEFAULT_MAX_STEPS,
    maxTokens: budget?.maxTokens ?? null,
    maxCostUsdMicros: budget?.maxCostUsdMicros ?? null,
  }
}

/**
 * Reads a rule as creating a schedule would, and stores nothing. Also where schedules are switched off.
 *
 * @param from the instant to read it at; the present one by default
 * @param run the sub-agent that its runs would be of, if any, and the runner they would be given to
 * @throws DomainError `spawn_blocked`, `forbidden`, and what `readRule` and `requireSpawnable` refuse
 */
export async function previewSchedule(
  ctx: Ctx,
  phrase: Phrase,
  timezone: string | null,
  from: Date | undefined,
  run: Pick<NewSchedule, 'subagent' | 'model' | 'runner'>,
): Promise<ScheduleRule> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'schedules:write')
  return await reading(ctx, async (tx) => {
    await requireSchedulable(ctx, tx, run)
    return await readRule(ctx, tx, phrase, timezone, from)
  })
}

/** What a phrase means: the part of a schedule that is read from it. */
export type ScheduleRule = Pick<Schedule, 'phraseKind' | 'phrase' | 'canonical' | 'reading' | 'timezone' | 'timing' | 'warnings' | 'anchorAt' | 'nextFireAt'>

/**
 * Reads a phrase at an instant, by default the present one by the database's clock. A zone in the phrase takes precedence over `timezone`,
 * and that over the project's.
 *
 * @throws DomainError `schedule_ambiguous` with candidates, `schedule_unparseable`, `schedule_in_past`, `validation_failed` for an unknown zone
 */
export async function readRule(ctx: Ctx, tx: Tx, phrase: Phrase, timezone: string | null, from?: Date): Promise<ScheduleRule> {
  const [project, now] = await Promise.all([projects.findProject(tx, ctx.actor.projectId), from ?? clock.readClock(tx)])
  const { timing, ...read } = readPhrase(phrase, {
    now,
    timezone,
    projectTimezone: project?.settings.timezone ?? null,
    minIntervalSeconds: ctx.settings.SCHEDULE_MIN_INTERVAL_SECONDS,
  })
  const nextFireAt = nextFiring(timing, read.timezone, now)
  if (nextFireAt === null) throw new DomainError('schedule_unparseable', `“${phrase.text}” (${read.reading}) never comes.`)
  return { phraseKind: phrase.kind, phrase: phrase.text, ...read, timing, anchorAt: now, nextFireAt }
}
