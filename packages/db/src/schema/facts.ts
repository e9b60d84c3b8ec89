import { sql } from 'drizzle-orm'
import { customType, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/** Texts that agents keep for later. */
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
    // Only the beginning, so that any text fits into a tsvector. Words are separated as in `muster_words`, a function that the inserting role may not
    // execute.
    search: tsvector().generatedAlwaysAs(
      sql.raw(`to_tsvector('simple', translate(left(content, 20000), '!"#$%&''()*+,-./:;<=>?@[\\]^_\`{|}~', repeat(' ', 32)))`),
    ),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.id] }), index('facts_search').using('gin', table.search)],
)
