import { index, pgTable, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { projectId } from './columns.ts'

/** Which task depends on which. */
export const taskDependencies = pgTable('task_dependencies', { projectId: projectId(), taskId: uuid().notNull(), dependsOnId: uuid().notNull() }, (table) => [
  primaryKey({ columns: [table.taskId, table.dependsOnId] }),
  index('task_dependencies_by_dependency').on(table.projectId, table.dependsOnId),
])
