import type { SubagentDefinition, SubagentSource } from '@muster/domain'
import { SUBAGENT_SOURCES } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, instant, instantNow, oneOf, projectId } from './columns.ts'

/** Every version of a definition that the API stored or a run used. Runs name their versions, so rows never change. */
export const subagentVersions = pgTable(
  'subagent_versions',
  {
    projectId: projectId(),
    name: text().notNull(),
    version: integer().notNull(),
    source: text().$type<SubagentSource>().notNull(),
    definition: jsonb().$type<SubagentDefinition>().notNull(),
    /** SHA-256 of the content: a file that is read again is a new version only if it changed. */
    contentHash: bytes().notNull(),
    createdAt: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name, table.version] }), check('subagent_versions_source', oneOf('source', SUBAGENT_SOURCES))],
)

/** The newest version of each sub-agent that the API stored, or that a run of a file used. Every change locks the row. */
export const subagents = pgTable(
  'subagents',
  {
    projectId: projectId(),
    name: text().notNull(),
    /** The newest in `subagent_versions`. */
    version: integer().notNull(),
    source: text().$type<SubagentSource>().notNull(),
    /** Set when the API deleted it: a file or a built-in of that name counts again. */
    deletedAt: instant(),
    updatedAt: instantNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name] }), check('subagents_source', oneOf('source', SUBAGENT_SOURCES))],
)

/** Tasks that calls of Claude Code's Agent tool named, as its hooks reported them, until the sub-agents that take them start. */
export const hookReservations = pgTable(
  'hook_reservations',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    sessionId: text().notNull(),
    subagentType: text().notNull(),
    taskId: uuid().notNull(),
    /** The session that took it; null while it waits. */
    boundSessionId: text(),
    createdAt: instantNow(),
    boundAt: instant(),
  },
  (table) => [index('hook_reservations_waiting').on(table.projectId, table.sessionId, table.subagentType, table.id).where(sql`bound_session_id is null`)],
)
