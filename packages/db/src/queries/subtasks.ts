import type { NewEvent, Priority, RequiredOutput, Subtask, SubtaskStatus } from '@muster/domain'
import { PRIORITY_RANKS, SUBTASK_STATUSES } from '@muster/domain'
import { and, desc, eq, lt } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { subtasks } from '../schema/subtasks.ts'
import { readBody } from './bodies.ts'
import type { LaneDefaults } from './lanes.ts'

type Row = typeof subtasks.$inferSelect

export interface NewSubtaskRow {
  id: string
  projectId: string
  agentId: string
  parentSessionId: string | null
  task: string
  taskId: string | null
  priority: Priority
  runner: string
  model: string | null
  timeoutSeconds: number
  maxAttempts: number
  budgetMaxSteps: number
  budgetMaxTokens: number | null
  budgetMaxCostMicros: number | null
  notify: boolean
  requiredOutputs: RequiredOutput[]
  metadata: Record<string, unknown>
  /** The job it gets if there is a free slot. */
  jobId: string
}

export interface InsertedSubtask {
  slot: boolean
  createdAt: Date
  rankAt: Date
  /** Whether a holder of a slot that nobody has claimed yet ranks after this row. */
  outranksHolder: boolean
}

/**
 * Inserts a subtask if its lane may hold one more, with a slot if one is free; null when the lane is full. The lane must be
 * locked by an earlier statement. Pending rows are counted up to the limit only. Its event goes out with it, in the same statement.
 */
export async function insertSubtask(
  tx: Tx,
  row: NewSubtaskRow,
  created: NewEvent,
  defaults: LaneDefaults,
  ageingSeconds: number,
): Promise<InsertedSubtask | null> {
  const rankSeconds = PRIORITY_RANKS[row.priority] * ageingSeconds
  const [inserted] = await tx.sql<{ slot: boolean; created_at: string; rank_at: string; outranks_holder: boolean }[]>`
    with moment as materialized (select muster_now() as now),
    lane as materialized (
      select
        coalesce((p.settings #>> array['limits', 'agents', ${row.agentId}, 'running'])::int, (p.settings #>> '{limits,running_per_agent}')::int, ${defaults.running}) as running_max,
        coalesce((p.settings #>> array['limits', 'agents', ${row.agentId}, 'pending'])::int, (p.settings #>> '{limits,pending_per_agent}')::int, ${defaults.pending}) as pending_max
      from projects p where p.id = ${row.projectId}
    ),
    holders as materialized (
      select status, rank_at from subtasks where project_id = ${row.projectId} and agent_id = ${row.agentId} and slot
    ),
    used as materialized (
      select (select count(*) from holders) as slots,
        (select count(*) from holders where status = 'pending') + (
          select count(*) from (
            select from subtasks where project_id = ${row.projectId} and agent_id = ${row.agentId} and status = 'pending' and not slot
            limit (select pending_max from lane)
          ) as waiting
        ) as pending
    ),
    inserted as (
      insert into subtasks (
        id, project_id, agent_id, parent_session_id, task, task_id, priority, runner, model, timeout_seconds, max_attempts,
        budget_max_steps, budget_max_tokens, budget_max_cost_micros, notify, required_outputs, metadata,
        created_at, rank_at, slot, slot_at, job_id
      )
      select ${row.id}, ${row.projectId}, ${row.agentId}, ${row.parentSessionId}, ${row.task}, ${row.taskId}::uuid, ${row.priority}, ${row.runner}, ${row.model},
        ${row.timeoutSeconds}, ${row.maxAttempts}, ${row.budgetMaxSteps}, ${row.budgetMaxTokens}::bigint, ${row.budgetMaxCostMicros}::bigint, ${row.notify},
        ${JSON.stringify(row.requiredOutputs)}::jsonb, ${JSON.stringify(row.metadata)}::jsonb,
        moment.now, moment.now + ${rankSeconds} * interval '1 second',
        used.slots < lane.running_max,
        case when used.slots < lane.running_max then moment.now end,
        case when used.slots < lane.running_max then ${row.jobId}::uuid end
      from moment, lane, used
      where used.pending < lane.pending_max
      returning slot, created_at, rank_at
    ),
    announced as (
      insert into outbox (project_id, type, subject_kind, subject_id, data, actor_kind, actor_id)
      select ${row.projectId}, ${created.type}, ${created.subject.kind}, ${created.subject.id}, ${JSON.stringify(created.data)}::jsonb,
        ${created.actor.kind}, ${created.actor.id}
      from inserted
    )
    select slot, created_at, rank_at,
      not slot and exists (select from holders where holders.status = 'pending' and holders.rank_at > inserted.rank_at) as outranks_holder
    from inserted`
  if (inserted === undefined) return null
  return { slot: inserted.slot, createdAt: new Date(inserted.created_at), rankAt: new Date(inserted.rank_at), outranksHolder: inserted.outranks_holder }
}

/** What a full lane allows, for the refusal's words. */
export async function pendingLimit(tx: Tx, projectId: string, agentId: string, fallback: number): Promise<number> {
  const [row] = await tx.sql<{ pending_max: number }[]>`
    select coalesce((settings #>> array['limits', 'agents', ${agentId}, 'pending'])::int, (settings #>> '{limits,pending_per_agent}')::int, ${fallback}) as pending_max
    from projects where id = ${projectId}`
  return row?.pending_max ?? fallback
}

/** One subtask with its whole result, or null. */
export async function findSubtask(tx: Tx, id: string): Promise<Subtask | null> {
  const [row] = await tx.orm.select().from(subtasks).where(eq(subtasks.id, id))
  if (row === undefined) return null
  const subtask = toSubtask(row)
  if (row.resultBodyId !== null) subtask.result = await readBody(tx, row.resultBodyId)
  return subtask
}

export interface SubtaskFilter {
  status?: SubtaskStatus | undefined
  parentSessionId?: string | undefined
  agentId?: string | undefined
  taskId?: string | undefined
  scheduleId?: string | undefined
  /** Only the one subtask that a subtask's own credential may see. */
  onlyId?: string | undefined
  beforeId?: string | undefined
  limit: number
}

/** Newest first. Results that live in `bodies` are not read: they are null here. */
export async function listSubtasks(tx: Tx, projectId: string, filter: SubtaskFilter): Promise<Subtask[]> {
  const conditions = [
    eq(subtasks.projectId, projectId),
    filter.status && eq(subtasks.status, filter.status),
    filter.parentSessionId && eq(subtasks.parentSessionId, filter.parentSessionId),
    filter.agentId && eq(subtasks.agentId, filter.agentId),
    filter.taskId && eq(subtasks.taskId, filter.taskId),
    filter.scheduleId && eq(subtasks.scheduleId, filter.scheduleId),
    filter.onlyId && eq(subtasks.id, filter.onlyId),
    filter.beforeId && lt(subtasks.id, filter.beforeId),
  ].filter((condition) => condition !== undefined && condition !== '')
  const page = (status?: SubtaskStatus) =>
    tx.orm
      .select()
      .from(subtasks)
      .where(and(...conditions, status && eq(subtasks.status, status)))
      .orderBy(desc(subtasks.id))
      .limit(filter.limit)
  const { status, parentSessionId, agentId, taskId, scheduleId, onlyId } = filter
  const isNarrowed = [status, parentSessionId, agentId, taskId, scheduleId, onlyId].some((value) => value !== undefined && value !== '')
  // No index has all of a project in order: the newest of every status are read, one packet for all, and the newest of those are the page.
  const rows = isNarrowed ? await page() : (await Promise.all(SUBTASK_STATUSES.map(page))).flat()
  return rows
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, filter.limit)
    .map(toSubtask)
}

/** What a change of a subtask needs to know of it. */
export interface LockedSubtask {
  id: string
  agentId: string
  status: SubtaskStatus
  runner: string
  slot: boolean
  jobId: string | null
  attempt: number
  parentSessionId: string | null
  task: string
  cancelRequestedAt: Date | null
}

/** Locks a subtask's row until the end of the transaction. Row locks come before lane locks, always. */
export async function lockSubtask(tx: Tx, id: string): Promise<LockedSubtask | null> {
  const [row] = await tx.orm
    .select({
      id: subtasks.id,
      agentId: subtasks.agentId,
      status: subtasks.status,
      runner: subtasks.runner,
      slot: subtasks.slot,
      jobId: subtasks.jobId,
      attempt: subtasks.attempt,
      parentSessionId: subtasks.parentSessionId,
      task: subtasks.task,
      cancelRequestedAt: subtasks.cancelRequestedAt,
    })
    .from(subtasks)
    .where(eq(subtasks.id, id))
    .for('update')
  return row ?? null
}

/** Ends a pending subtask as cancelled. Its row must be locked, and its job deleted in the same transaction. */
export async function cancelPending(tx: Tx, id: string): Promise<void> {
  await tx.sql`
    update subtasks set status = 'cancelled', final_outcome = 'cancelled', slot = false, slot_at = null, job_id = null,
      cancel_requested_at = coalesce(cancel_requested_at, muster_now()), completed_at = muster_now()
    where id = ${id}`
}

/** Asks whoever runs a subtask to stop. The first request counts. */
export async function requestCancel(tx: Tx, id: string): Promise<void> {
  await tx.sql`update subtasks set cancel_requested_at = coalesce(cancel_requested_at, muster_now()) where id = ${id}`
}

export function toSubtask(row: Row): Subtask {
  return {
    id: row.id,
    projectId: row.projectId,
    agentId: row.agentId,
    parentSessionId: row.parentSessionId,
    task: row.task,
    taskId: row.taskId,
    taskRevision: row.taskRevision,
    scheduleId: row.scheduleId,
    subagentName: row.subagentName,
    subagentVersion: row.subagentVersion,
    background: row.background,
    priority: row.priority,
    status: row.status,
    finalOutcome: row.finalOutcome,
    result: row.result,
    resultTruncated: row.resultTruncated,
    summary: row.summary,
    error: row.error,
    outputs: row.outputs,
    requiredOutputs: row.requiredOutputs,
    workerId: row.workerId,
    attempt: row.attempt,
    failures: row.failures,
    maxAttempts: row.maxAttempts,
    timeoutSeconds: row.timeoutSeconds,
    budget: { maxSteps: row.budgetMaxSteps, maxTokens: row.budgetMaxTokens, maxCostUsdMicros: row.budgetMaxCostMicros },
    notify: row.notify,
    runner: row.runner,
    model: row.model,
    usage: {
      inputTokens: row.inputTokens,
      outputTokens: row.outputTokens,
      costUsdMicros: row.costMicros,
      steps: row.stepSeq,
      toolCalls: row.toolCalls,
    },
    revisionOf: row.revisionOf,
    revisionRound: row.revisionRound,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    completedAt: row.completedAt,
    cancelRequestedAt: row.cancelRequestedAt,
    metadata: row.metadata,
  }
}

export async function subtaskExists(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.sql`select from subtasks where id = ${id}`
  return rows.length > 0
}

/** Puts an ended subtask into its parent session's inbox, if it has one. At most once, however often it is called. */
export async function tellParent(tx: Tx, projectId: string, id: string, inboxId: string): Promise<void> {
  await tx.sql`
    insert into inbox (project_id, id, session_id, subtask_id)
    select ${projectId}, ${inboxId}, parent_session_id, id from subtasks where id = ${id} and parent_session_id is not null
    on conflict (subtask_id) do nothing`
}
