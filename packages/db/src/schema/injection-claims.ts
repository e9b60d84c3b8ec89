import { sql } from 'drizzle-orm'
import { jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, projectId } from './columns.ts'

/** What an injection with manual acknowledgement has delivered, until its acknowledgement. */
export interface StoredInjection {
  /**
   * For each task: updates up to number `seq`, which make up revision `revision`. `turn` is the generation of the assignment, and the first one where it
   * is missing: those rows were written before generations were counted.
   */
  tasks: { taskId: string; seq: number; revision: number; turn?: number }[]
  tsgIds: string[]
  /** The claim by which inbox items are held, if any. */
  inboxClaimId: string | null
}

/** Injections with manual acknowledgement: at most one open claim for each session. */
export const injectionClaims = pgTable(
  'injection_claims',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    sessionId: text().notNull(),
    held: jsonb().$type<StoredInjection>().notNull(),
    leaseExpiresAt: instant().notNull(),
    acknowledgedAt: instant(),
    /** Set when its lease had lapsed and its items were delivered again. */
    replacedAt: instant(),
    createdAt: instantNow(),
  },
  (table) => [uniqueIndex('injection_claims_open').on(table.projectId, table.sessionId).where(sql`acknowledged_at is null and replaced_at is null`)],
)
