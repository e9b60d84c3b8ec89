import { customType, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { projectId } from './columns.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/**
 * The search index of finished subtasks. Their texts are read from their own rows. It is a table of its own because a full-text index on `subtasks`
 * would make each end of a subtask several times as expensive. docs/adr/0011
 */
export const episodeSearch = pgTable(
  'episode_words',
  {
    projectId: projectId(),
    subtaskId: uuid().notNull(),
    agentId: text().notNull(),
    search: tsvector().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.subtaskId] }),
    // Every search reads the pending list of the index, so it stays small.
    index('episode_words_search').using('gin', table.search).with({ gin_pending_list_limit: 1024 }),
  ],
)
