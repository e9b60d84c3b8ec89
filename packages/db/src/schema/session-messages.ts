import type { MessageRole, Quality } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { boolean, doublePrecision, index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Messages of sessions, with the columns of their latest evaluations. */
export const sessionMessages = pgTable(
  'session_messages',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    sessionId: text().notNull(),
    role: text().$type<MessageRole>().notNull(),
    /** Null for a text above 64 KiB, which is in `bodies`. */
    content: text(),
    bodyId: uuid(),
    model: text(),
    taskId: uuid(),
    agentName: text(),
    usage: jsonb().$type<Record<string, unknown>>(),
    metadata: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    evalScore: doublePrecision(),
    evalSummary: text(),
    qualityFlag: text().$type<Quality>(),
    trainingCandidate: boolean().notNull().default(false),
    createdAt: instantNow(),
  },
  (table) => [
    index('session_messages_by_session').on(table.projectId, table.sessionId, table.id),
    index('session_messages_by_task').on(table.projectId, table.taskId, table.id).where(sql`task_id is not null`),
  ],
)
