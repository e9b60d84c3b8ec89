import { REPORTED_TASK_STATUSES, type ReportedTaskStatus } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, oneOf, projectId } from './columns.ts'

/**
 * What waits for a parent session: the end of a subtask, the end or review of an assigned task, or a question. The row of the subtask or of the task has the result;
 * an item names the session that has to receive it.
 */
export const inbox = pgTable(
  'inbox',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    sessionId: text().notNull(),
    subtaskId: uuid(),
    /** Set with `task_status` for an item about a task. */
    taskId: uuid(),
    taskStatus: text().$type<ReportedTaskStatus>(),
    /** An item about a question; then the subtask and the task are those of the question. */
    questionId: uuid(),
    createdAt: instantNow(),
    /** Set by a claim; the item comes again when `lease_expires_at` passes without an acknowledgement. */
    claimId: uuid(),
    leaseExpiresAt: instant(),
    deliveredAt: instant(),
  },
  (table) => [
    check('inbox_task_status', oneOf('task_status', REPORTED_TASK_STATUSES)),
    check('inbox_subject', sql`num_nonnulls(subtask_id, task_id, question_id) = 1 and (task_id is null) = (task_status is null)`),
    uniqueIndex('inbox_subtask').on(table.subtaskId),
    // A task ends once. It may be in review several times, and each time makes an item.
    uniqueIndex('inbox_task_end').on(table.taskId).where(sql`task_status in ('completed', 'failed', 'cancelled')`),
    index('inbox_waiting').on(table.projectId, table.sessionId, table.id).where(sql`delivered_at is null`),
  ],
)
