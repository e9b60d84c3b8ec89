import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant, instantNow, projectId } from './columns.ts'

/** Which session holds which task, and what of it the session has been told. Written under the lock of the task. */
export const assignments = pgTable(
  'assignments',
  {
    projectId: projectId(),
    taskId: uuid().notNull(),
    sessionId: text().notNull(),
    assignedAt: instantNow(),
    /** Which time it is that the session has the task. Times say less: a clock may have been put back meanwhile. */
    turn: integer().notNull().default(1),
    /** Null until the whole brief was handed over. */
    introducedAt: instant(),
    /** Number of the last update that was handed over, or was part of the brief. */
    deliveredSeq: integer().notNull().default(0),
    /** Of the session of a run: number of the last update that the brief of its newest attempt contained. */
    briefedSeq: integer().notNull().default(0),
    /** The newest revision the session has been told. */
    deliveredRevision: integer(),
    /** Whether there is anything to hand over: what a session with nothing new is answered by, from the index alone. */
    hasNews: boolean().notNull().default(true),
    /** Set when the task ended or went to another session: nothing more is handed over. */
    endedAt: instant(),
    /** SHA-256 of the holder's own credential. */
    credentialHash: bytes(),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.sessionId] }),
    index('assignments_by_session').on(table.projectId, table.sessionId, table.assignedAt, table.taskId).where(sql`ended_at is null`),
    index('assignments_news').on(table.projectId, table.sessionId).where(sql`has_news and ended_at is null`),
  ],
)
