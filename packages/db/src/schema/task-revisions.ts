import type { Criterion, RequiredOutput } from '@muster/domain'
import { integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Every state of a brief: who changed what, when, and what the result is judged by from then on. Append-only. */
export const taskRevisions = pgTable(
  'task_revisions',
  {
    projectId: projectId(),
    taskId: uuid().notNull(),
    revision: integer().notNull(),
    /** Names of the fields that changed; all that were given in revision 1. */
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
