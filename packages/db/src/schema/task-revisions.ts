import type { Criterion, RequiredOutput } from '@muster/domain'
import { integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Every revision of a task: who changed what, when, and the criteria and outputs from then on. Append-only. */
export const taskRevisions = pgTable(
  'task_revisions',
  {
    projectId: projectId(),
    taskId: uuid().notNull(),
    revision: integer().notNull(),
    /** Names of the changed fields; in revision 1, of all given ones. */
    fields: text().array().notNull(),
    diff: jsonb().$type<unknown>(),
    criteria: jsonb().$type<Criterion[]>().notNull(),
    requiredOutputs: jsonb().$type<RequiredOutput[]>().notNull(),
    authorKind: text().notNull(),
    authorId: text().notNull(),
    createdAt: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.taskId, table.revision] })],
)
