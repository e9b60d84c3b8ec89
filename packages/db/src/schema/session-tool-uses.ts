import { index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instantNow, projectId } from './columns.ts'

/** A use of a tool that a hook has reported. */
export interface StoredToolUse {
  /** As Claude Code names it; null where it has no name. */
  id: string | null
  /** Counts the uses of the session. */
  step: number
  tool: string
  argumentsDigest: string
  shownArguments: string
  failure: string | null
}

/** The latest uses of tools by a session with a task, since one failed. For detecting loops: there is no row while all goes well. */
export const sessionToolUses = pgTable(
  'session_tool_uses',
  {
    projectId: projectId(),
    sessionId: text().notNull(),
    uses: jsonb().$type<StoredToolUse[]>().notNull(),
    updatedAt: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.sessionId] }), index('session_tool_uses_old').on(table.projectId, table.updatedAt)],
)
