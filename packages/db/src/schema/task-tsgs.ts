import { index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** The troubleshooting guides of a task. */
export const taskTsgs = pgTable('task_tsgs', { projectId: projectId(), taskId: uuid().notNull(), tsgId: text().notNull(), linkedAt: instantNow() }, (table) => [
  primaryKey({ columns: [table.taskId, table.tsgId] }),
  index('task_tsgs_by_tsg').on(table.projectId, table.tsgId),
])
