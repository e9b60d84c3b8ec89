import { sql } from 'drizzle-orm'
import { customType, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/** What agents have learnt and want to be found again. */
export const facts = pgTable(
  'facts',
  {
    projectId: projectId(),
    id: uuid().notNull(),
    agentId: text(),
    content: text().notNull(),
    tags: text().array().notNull(),
    sourceSubtaskId: uuid(),
    authorKind: text().notNull(),
    authorId: text().notNull(),
    createdAt: instantNow(),
    // The beginning is enough to find it by, and keeps any text within what a tsvector may hold.
    search: tsvector().generatedAlwaysAs(sql`to_tsvector('simple', left(content, 20000))`),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.id] }), index('facts_search').using('gin', table.search)],
)
