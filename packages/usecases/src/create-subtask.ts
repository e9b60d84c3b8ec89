import { lanes, subtasks } from '@muster/db'
import { DomainError, type Priority, type RequiredOutput, requireScope, requireSpawnAllowed, type Subtask } from '@muster/domain'
import { runQueue } from '@muster/jobs'
import type { Ctx } from './ctx.ts'
import { subtaskEvent } from './event-data.ts'
import { inProject } from './in-project.ts'

export interface NewSubtask {
  task: string
  agentId?: string | undefined
  priority?: Priority | undefined
  timeoutSeconds?: number | undefined
  notify?: boolean | undefined
  parentSessionId?: string | undefined
  taskId?: string | undefined
  /** A runner that is available here: the door has checked. */
  runner: string
  model?: string | undefined
  requiredOutputs?: RequiredOutput[] | undefined
  maxAttempts?: number | undefined
  budget?: { maxSteps?: number | undefined; maxTokens?: number | undefined; maxCostUsdMicros?: number | undefined } | undefined
  metadata?: Record<string, unknown> | undefined
}

export const DEFAULT_AGENT = 'default'
const DEFAULT_MAX_ATTEMPTS = 2
const DEFAULT_MAX_STEPS = 50

/**
 * Accepts a subtask: row, event and, where its agent has a free slot, the job, in one commit. [011] spawn_task
 *
 * @throws DomainError `subtasks_disabled`, `spawn_blocked`, `forbidden`, `pending_limit_reached`
 */
export async function createSubtask(ctx: Ctx, input: NewSubtask): Promise<Subtask> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'subtasks:write')
  const { settings, actor } = ctx
  if (!settings.SUBTASK_ENABLED) throw new DomainError('subtasks_disabled', 'Subtasks are switched off on this server (SUBTASK_ENABLED=false).')
  const { projectId } = actor
  const defaults = laneDefaults(ctx)
  const row = {
    id: ctx.newId(),
    projectId,
    agentId: actor.agentId ?? input.agentId ?? DEFAULT_AGENT,
    parentSessionId: input.parentSessionId ?? null,
    task: input.task,
    taskId: input.taskId ?? null,
    priority: input.priority ?? 'normal',
    runner: input.runner,
    model: input.model ?? null,
    timeoutSeconds: input.timeoutSeconds ?? settings.SUBTASK_DEFAULT_TIMEOUT,
    maxAttempts: input.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    budgetMaxSteps: input.budget?.maxSteps ?? DEFAULT_MAX_STEPS,
    budgetMaxTokens: input.budget?.maxTokens ?? null,
    budgetMaxCostMicros: input.budget?.maxCostUsdMicros ?? null,
    notify: input.notify ?? true,
    requiredOutputs: input.requiredOutputs ?? [],
    metadata: input.metadata ?? {},
    jobId: ctx.newId(),
  }

  const created = subtaskEvent('subtask.created', row, actor, { priority: row.priority, runner: row.runner })
  return await inProject(ctx, async (tx) => {
    // Statements in one packet: they run one after the other, and each sees what the one before it has waited for, or done.
    const queue = runQueue(row.runner, projectId)
    const [, inserted] = await Promise.all([
      lanes.lockLanes(tx, projectId, [row.agentId]),
      subtasks.insertSubtask(tx, row, created, defaults, settings.SUBTASK_AGEING_SECONDS),
      ctx.runJobs.insertForRow(tx, queue, row.id),
    ])
    if (inserted === null) {
      const limit = await subtasks.pendingLimit(tx, projectId, row.agentId, defaults.pending)
      throw new DomainError(
        'pending_limit_reached',
        `Agent ${row.agentId} already has ${limit} pending subtasks, which is its limit. Try again when one has started.`,
        {
          retryAfterSeconds: 1,
          limit,
          agent_id: row.agentId,
        },
      )
    }
    let hasSlot = inserted.slot
    if (inserted.outranksHolder) {
      const taken = await lanes.takeSlotFromLater(tx, projectId, row.agentId, inserted.rankAt)
      if (taken !== null) {
        await ctx.runJobs.deleteWaiting(tx, runQueue(taken.runner, projectId), [taken.jobId])
        await lanes.giveSlot(tx, row.id, row.jobId)
        await ctx.runJobs.insertForRow(tx, queue, row.id)
        hasSlot = true
      }
    }
    if (hasSlot) tx.afterCommit(() => ctx.bell.ring('run'))
    tx.afterCommit(() => ctx.bell.ring('outbox'))
    return newSubtask(row, inserted.createdAt)
  })
}

/** The limits of this server, for projects that set none of their own. */
export function laneDefaults({ settings }: Pick<Ctx, 'settings'>): { running: number; pending: number } {
  return { running: settings.SUBTASK_MAX_CONCURRENT, pending: settings.SUBTASK_MAX_PENDING }
}

/** What was just inserted, without reading it back. */
function newSubtask(row: Parameters<typeof subtasks.insertSubtask>[1], createdAt: Date): Subtask {
  return {
    id: row.id,
    projectId: row.projectId,
    agentId: row.agentId,
    parentSessionId: row.parentSessionId,
    task: row.task,
    taskId: row.taskId,
    taskRevision: null,
    scheduleId: null,
    subagentName: null,
    subagentVersion: null,
    background: true,
    priority: row.priority,
    status: 'pending',
    finalOutcome: null,
    result: null,
    resultTruncated: false,
    summary: null,
    error: null,
    outputs: null,
    requiredOutputs: row.requiredOutputs,
    workerId: null,
    attempt: 0,
    failures: 0,
    maxAttempts: row.maxAttempts,
    timeoutSeconds: row.timeoutSeconds,
    budget: { maxSteps: row.budgetMaxSteps, maxTokens: row.budgetMaxTokens, maxCostUsdMicros: row.budgetMaxCostMicros },
    notify: row.notify,
    runner: row.runner,
    model: row.model,
    usage: { inputTokens: 0, outputTokens: 0, costUsdMicros: 0, steps: 0, toolCalls: 0 },
    revisionOf: null,
    revisionRound: 0,
    createdAt,
    startedAt: null,
    completedAt: null,
    cancelRequestedAt: null,
    metadata: row.metadata,
  }
}
