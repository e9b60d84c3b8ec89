import { FINAL_OUTCOMES, type FinalOutcome, PRIORITIES, type Priority, type RequiredOutput, SUBTASK_STATUSES, type SubtaskStatus } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, jsonb, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant, instantNow, oneOf, projectId } from './columns.ts'

/**
 * Units of background work. The row is the truth; the pg-boss job `job_id` makes it claimable, and both move in one transaction:
 * a job waits exactly while the row is pending with a permit, and is active exactly while the row is running.
 */
export const subtasks = pgTable(
  'subtasks',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    agentId: text().notNull(),
    parentSessionId: text(),
    task: text().notNull(),
    taskId: uuid(),
    taskRevision: integer(),
    scheduleId: uuid(),
    subagentName: text(),
    subagentVersion: integer(),
    /** The ended subtask of the same sub-agent that this one resumes. */
    resumeOf: uuid(),
    background: boolean().notNull().default(true),
    priority: text().$type<Priority>().notNull(),
    runner: text().notNull(),
    model: text(),
    timeoutSeconds: integer().notNull(),
    maxAttempts: smallint().notNull(),
    budgetMaxSteps: integer().notNull(),
    budgetMaxTokens: bigint({ mode: 'number' }),
    budgetMaxCostMicros: bigint({ mode: 'number' }),
    notify: boolean().notNull(),
    requiredOutputs: jsonb().$type<RequiredOutput[]>().notNull().default([]),
    metadata: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    /** The span that asked for it, as W3C Trace Context has it: the parent of its runs. */
    traceparent: text(),

    status: text().$type<SubtaskStatus>().notNull().default('pending'),
    /** Queue order: `created_at + rank × ageing`, fixed at insert. The same order as ageing by waiting time, but indexable. */
    rankAt: instant().notNull(),
    /** Granted only under the lane's lock, so that the running limit of an agent holds at every moment. */
    hasPermit: boolean('slot').notNull().default(false),
    permitAt: instant('slot_at'),
    jobId: uuid(),
    /** The fencing number: grows at every claim, and every write of a run compares it. */
    attempt: integer().notNull().default(0),
    failures: smallint().notNull().default(0),
    feedback: text(),
    workerId: text(),
    /** When the lease lapses: at the latest when the attempt times out, so that one index finds both. */
    leaseExpiresAt: instant(),
    /** The last claim, renewal or heartbeat. */
    leaseRenewedAt: instant(),
    /** The length of each renewal, as the worker requested it. */
    leaseSeconds: integer(),
    attemptStartedAt: instant(),
    leaseTokenHash: bytes(),
    credentialHash: bytes(),
    cancelRequestedAt: instant(),
    stepSeq: integer().notNull().default(0),
    updateSeq: integer().notNull().default(0),

    finalOutcome: text().$type<FinalOutcome>(),
    result: text(),
    /** A result above 64 KiB is in `bodies`, so that lists never read it. */
    resultBodyId: uuid(),
    resultTruncated: boolean().notNull().default(false),
    summary: text(),
    error: text(),
    outputs: jsonb().$type<Record<string, unknown>>(),
    inputTokens: bigint({ mode: 'number' }).notNull().default(0),
    outputTokens: bigint({ mode: 'number' }).notNull().default(0),
    costMicros: bigint({ mode: 'number' }).notNull().default(0),
    toolCalls: integer().notNull().default(0),
    revisionOf: uuid(),
    revisionRound: smallint().notNull().default(0),
    /** How many revision rounds may follow. */
    maxRevisions: smallint().notNull().default(0),

    createdAt: instantNow(),
    startedAt: instant(),
    completedAt: instant(),
    /** How long it was running without a live worker, over all attempts. Its duration excludes that. */
    lostMs: bigint({ mode: 'number' }).notNull().default(0),
    /** The open question that it waits for. */
    waitingFor: uuid(),
    waitingSince: instant(),
    /** How long it waited for answers, without the present wait. Its duration excludes that as well. */
    waitedMs: bigint({ mode: 'number' }).notNull().default(0),
    /** What the next attempt goes on from, in `bodies`: written when an attempt ends to wait, removed when the subtask ends. */
    continuationBodyId: uuid(),
  },
  (table) => [
    check('subtasks_status', oneOf('status', SUBTASK_STATUSES)),
    check('subtasks_priority', oneOf('priority', PRIORITIES)),
    check('subtasks_final_outcome', oneOf('final_outcome', FINAL_OUTCOMES)),
    check(
      'subtasks_terminal',
      sql`(status in ('completed', 'failed', 'cancelled')) = (final_outcome is not null) and (final_outcome is null) = (completed_at is null)`,
    ),
    check('subtasks_slot', sql`(not slot or status in ('pending', 'running')) and (slot or status <> 'running') and slot = (job_id is not null)`),
    check('subtasks_waiting_for', sql`(status = 'waiting') = (waiting_for is not null) and (waiting_for is null) = (waiting_since is null)`),
    // Each change of status writes to every index, so there is none for (project, id): a list of a project is read status by status.
    index('subtasks_by_status').on(table.projectId, table.status, table.id),
    index('subtasks_by_agent').on(table.projectId, table.agentId, table.status, table.id),
    index('subtasks_by_session').on(table.projectId, table.parentSessionId, table.id).where(sql`parent_session_id is not null`),
    index('subtasks_by_task').on(table.projectId, table.taskId, table.id).where(sql`task_id is not null`),
    index('subtasks_by_subagent').on(table.projectId, table.subagentName, table.id).where(sql`subagent_name is not null`),
    index('subtasks_by_schedule').on(table.projectId, table.scheduleId, table.id).where(sql`schedule_id is not null`),
    // The waiting rows of a lane, best first, and the rows with its permits.
    index('subtasks_waiting').on(table.projectId, table.agentId, table.rankAt, table.id).where(sql`status = 'pending' and not slot`),
    // Whether a row of another runner waits in a lane, however many of the same runner do.
    index('subtasks_waiting_runners').on(table.projectId, table.agentId, table.runner).where(sql`status = 'pending' and not slot`),
    index('subtasks_slots').on(table.projectId, table.agentId).where(sql`slot`),
    // Usage of a range of time. Only an end writes to it.
    index('subtasks_by_end').on(table.projectId, table.completedAt).where(sql`completed_at is not null`),
    // Whether an earlier run of a schedule goes on.
    index('subtasks_scheduled_live').on(table.scheduleId).where(sql`schedule_id is not null and status in ('pending', 'running', 'waiting')`),
    // Whether another one goes on from it. Few do.
    index('subtasks_by_revised').on(table.revisionOf).where(sql`revision_of is not null`),
    index('subtasks_by_resumed').on(table.resumeOf).where(sql`resume_of is not null`),
    // For the reaper, which reads all projects at once.
    index('subtasks_leases').on(table.leaseExpiresAt).where(sql`status = 'running'`),
    index('subtasks_unclaimed').on(table.permitAt).where(sql`status = 'pending' and slot`),
  ],
)
