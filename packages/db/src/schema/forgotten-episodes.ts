import { pgTable, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Finished subtasks that memory no longer shows. An episode is the row of its subtask, which never changes. */
export const forgottenEpisodes = pgTable(
  'forgotten_episodes',
  {
    projectId: projectId(),
    subtaskId: uuid().notNull(),
    createdAt: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.subtaskId] })],
)
