import { customType, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { projectId } from './columns.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/**
 * The words by which finished subtasks are found, and nothing else of them: what they say is read from their own rows. Apart from those, because
 * an index of words on `subtasks` would cost each end of a subtask several times what the end itself does. docs/adr/0011
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
    // What waits to be sorted in is read by every search, so it stays small.
    index('episode_words_search').using('gin', table.search).with({ gin_pending_list_limit: 1024 }),
  ],
)
