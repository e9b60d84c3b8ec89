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
    // Parted as `muster_words` parts, a function that the role that inserts may not execute.
    search: tsvector().generatedAlwaysAs(
      sql.raw(`to_tsvector('simple', translate(left(content, 20000), '!"#$%&''()*+,-./:;<=>?@[\\]^_\`{|}~', repeat(' ', 32)))`),
    ),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.id] }), index('facts_search').using('gin', table.search)],
)
