import type { BlockItem, CriterionReport } from '@muster/domain'
import { index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** What holders of tasks have said of their progress, and which criteria it was found to speak of. Append-only. */
export const checkIns = pgTable(
  'check_ins',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    taskId: uuid().notNull(),
    sessionId: text(),
    /** The revision whose criteria it was held against. */
    revision: integer().notNull(),
    content: text().notNull(),
    verdicts: jsonb().$type<CriterionReport[]>().notNull(),
    /** Lines that are about no criterion: they may still say what weighs against the work. */
    unmatched: jsonb().$type<BlockItem[]>().notNull(),
    nextSteps: text().array().notNull(),
    authorKind: text().notNull(),
    authorId: text().notNull(),
    createdAt: instantNow(),
  },
  (table) => [index('check_ins_by_task').on(table.projectId, table.taskId, table.id)],
)
