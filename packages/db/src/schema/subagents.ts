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

/**
 * Calls of Claude Code's Agent tool that its hooks reported, until they end. One with a task is bound to the session of the sub-agent that it starts as
 * soon as it is certain which that is; one without a task is there so that it is not mistaken for another.
 */
export const hookReservations = pgTable(
  'hook_reservations',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    sessionId: text().notNull(),
    subagentType: text().notNull(),
    /** Names the call in the events of Claude Code; null in rows from before it was stored. */
    toolUseId: text(),
    taskId: uuid(),
    /** Number of the last update, and the revision, of the brief in the prompt of the call; null while it is not known to have arrived there. */
    briefedSeq: integer(),
    briefedRevision: integer(),
    /** The session of the sub-agent; null while it is not certain. */
    boundSessionId: text(),
    createdAt: instantNow(),
    boundAt: instant(),
  },
  (table) => [
    index('hook_reservations_waiting').on(table.projectId, table.sessionId, table.subagentType, table.id).where(sql`bound_session_id is null`),
    index('hook_reservations_bound').on(table.projectId, table.boundSessionId).where(sql`bound_session_id is not null`),
  ],
)
