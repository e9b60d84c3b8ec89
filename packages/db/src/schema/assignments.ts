import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant, instantNow, projectId } from './columns.ts'

/** Which session holds which task, and what of it was delivered to the session. Written under the lock of the task. */
export const assignments = pgTable(
  'assignments',
  {
    projectId: projectId(),
    taskId: uuid().notNull(),
    sessionId: text().notNull(),
    assignedAt: instantNow(),
    /** Counts how often the session got the task. A time would not do: a clock may be put back. */
    assignmentGeneration: integer('turn').notNull().default(1),
    /** Null until the whole brief was delivered. */
    briefDeliveredAt: instant('introduced_at'),
    /** Number of the last update that was delivered, alone or as part of the brief. */
    deliveredSeq: integer().notNull().default(0),
    /** For the session of a run: number of the last update in the prompt of its newest attempt. */
    briefedSeq: integer().notNull().default(0),
    /** The newest revision that was delivered. */
    deliveredRevision: integer(),
    /** Whether anything waits for delivery. A request of a session without any is answered from the index alone. */
    hasUndelivered: boolean('has_news').notNull().default(true),
    /** Set when the task ended or went to another session: nothing more is delivered. */
    endedAt: instant(),
    /** SHA-256 of the assignee's own credential. */
    credentialHash: bytes(),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.sessionId] }),
    index('assignments_by_session').on(table.projectId, table.sessionId, table.assignedAt, table.taskId).where(sql`ended_at is null`),
    index('assignments_news').on(table.projectId, table.sessionId).where(sql`has_news and ended_at is null`),
  ],
)
