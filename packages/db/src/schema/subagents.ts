import type { SubagentDefinition, SubagentSource } from '@muster/domain'
import { SUBAGENT_SOURCES } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant, instantNow, oneOf, projectId } from './columns.ts'

/** Every version of a sub-agent's definition that was ever put here or run: a run names one, and can always be told what it was given. Never rewritten. */
export const subagentVersions = pgTable(
  'subagent_versions',
  {
    projectId: projectId(),
    name: text().notNull(),
    version: integer().notNull(),
    source: text().$type<SubagentSource>().notNull(),
    definition: jsonb().$type<SubagentDefinition>().notNull(),
    /** SHA-256 of what was read: a file that is read again is a new version only if it has changed. */
    contentHash: bytes().notNull(),
    createdAt: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name, table.version] }), check('subagent_versions_source', oneOf('source', SUBAGENT_SOURCES))],
)

/** The version of each sub-agent that the API has put there, or that a file was last run as. Every change happens under the row's lock. */
export const subagents = pgTable(
  'subagents',
  {
    projectId: projectId(),
    name: text().notNull(),
    /** The newest in `subagent_versions`. */
    version: integer().notNull(),
    source: text().$type<SubagentSource>().notNull(),
    /** Deleted through the API; a file or a built-in of that name counts again. */
    deletedAt: instant(),
    updatedAt: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name] }), check('subagents_source', oneOf('source', SUBAGENT_SOURCES))],
)

/** What Claude Code's hooks have told of the sub-agents that it starts: a task that a call of its Agent tool named, until the sub-agent that takes it begins. */
export const hookReservations = pgTable(
  'hook_reservations',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    sessionId: text().notNull(),
    subagentType: text().notNull(),
    taskId: uuid().notNull(),
    /** The session that has taken it; null while it waits. */
    boundSessionId: text(),
    createdAt: instantNow(),
    boundAt: instant(),
  },
  (table) => [index('hook_reservations_waiting').on(table.projectId, table.sessionId, table.subagentType, table.id).where(sql`bound_session_id is null`)],
)
