import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, projectId } from './columns.ts'

/** Changes and notes for running work, each with its receipt. */
export const updates = pgTable(
  'updates',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    subtaskId: uuid(),
    taskId: uuid(),
    /** Number within its subtask or task, assigned under that row's lock. */
    seq: integer().notNull(),
    updateType: text().notNull(),
    fields: text().array().notNull().default([]),
    content: text().notNull(),
    diff: jsonb().$type<unknown>(),
    revision: integer(),
    senderKind: text().notNull(),
    senderId: text().notNull(),
    /** The name of the key at that time, or the session that a caller without a key named. */
    senderName: text(),
    delivery: text().$type<'next_step' | 'interrupt'>().notNull().default('next_step'),
    status: text().$type<'queued' | 'delivered' | 'acknowledged' | 'superseded' | 'expired'>().notNull().default('queued'),
    deliveredTo: text(),
    createdAt: instantNow(),
    deliveredAt: instant(),
    acknowledgedAt: instant(),
  },
  (table) => [
    check('updates_status', sql`status in ('queued', 'delivered', 'acknowledged', 'superseded', 'expired')`),
    check('updates_target', sql`(subtask_id is null) <> (task_id is null)`),
    uniqueIndex('updates_by_subtask').on(table.projectId, table.subtaskId, table.seq).where(sql`subtask_id is not null`),
    index('updates_by_task').on(table.projectId, table.taskId, table.seq).where(sql`task_id is not null`),
  ],
)
