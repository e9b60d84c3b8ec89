import { CHECK_STATUSES, type CheckStatus } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, oneOf, projectId } from './columns.ts'

/**
 * Executions of checks. Those of one request have one batch, and an evaluation follows when the last of them has ended. A worker holds a running one with
 * a lease.
 */
export const checkRuns = pgTable(
  'check_runs',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    batchId: uuid().notNull(),
    taskId: uuid().notNull(),
    /** The run whose result is checked; null if something else was submitted, or nothing. */
    subtaskId: uuid(),
    /** The evaluation to which the verdicts are added; null if nothing was submitted. */
    evaluationId: uuid(),
    criterionId: text().notNull(),
    checkName: text().notNull(),
    /** The data folder with the folder of the task; null if it is not known. */
    place: uuid(),
    status: text().$type<CheckStatus>().notNull().default('pending'),
    exitCode: integer(),
    /** Why it is not met. */
    reason: text(),
    /** The last part of what it printed. */
    output: text(),
    durationMs: integer(),
    /** How often it was started. */
    tries: smallint().notNull().default(0),
    workerId: uuid(),
    leaseExpiresAt: instant(),
    /** Not claimed before. */
    dueAt: instantNow(),
    createdAt: instantNow(),
    startedAt: instant(),
    endedAt: instant(),
  },
  (table) => [
    check('check_runs_status', oneOf('status', CHECK_STATUSES)),
    check('check_runs_running', sql`(status = 'running') = (lease_expires_at is not null)`),
    check('check_runs_ended', sql`(status in ('pending', 'running')) = (ended_at is null)`),
    index('check_runs_by_task').on(table.projectId, table.taskId, table.id),
    index('check_runs_by_batch').on(table.projectId, table.batchId),
    index('check_runs_open').on(table.taskId, table.id).where(sql`status in ('pending', 'running')`),
  ],
)
