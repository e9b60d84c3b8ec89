import type { BlockItem, CriterionReport } from '@muster/domain'
import { index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** Reports of assignees on the criteria of their tasks. Append-only. */
export const checkIns = pgTable(
  'check_ins',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    taskId: uuid().notNull(),
    sessionId: text(),
    /** The revision with the criteria that it reports on. */
    revision: integer().notNull(),
    content: text().notNull(),
    verdicts: jsonb().$type<CriterionReport[]>().notNull(),
    /** Lines about no criterion. They may still weigh against the work. */
    unmatched: jsonb().$type<BlockItem[]>().notNull(),
    nextSteps: text().array().notNull(),
    authorKind: text().notNull(),
    authorId: text().notNull(),
    createdAt: instantNow(),
  },
  (table) => [index('check_ins_by_task').on(table.projectId, table.taskId, table.id)],
)
