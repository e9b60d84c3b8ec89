import { bigint, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { projectId } from './columns.ts'

/**
 * What the ended subtasks and judgements of an agent have used in all, up to `projects.spent_through`. A budget for all time adds what ended since then, so
 * that it does not read every row that ever was, and so that it remembers rows that are deleted.
 */
export const spentTotals = pgTable(
  'spent_totals',
  {
    projectId: projectId(),
    /** Empty for judgements of outputs that no subtask has made. */
    agentId: text().notNull(),
    tokens: bigint({ mode: 'number' }).notNull(),
    costMicros: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.agentId] })],
)
