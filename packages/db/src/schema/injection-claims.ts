import { sql } from 'drizzle-orm'
import { jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, projectId } from './columns.ts'

/** What an injection with manual acknowledgement has handed over and must be told about. */
export interface HeldInjection {
  /**
   * Per task: what was handed over goes up to update `seq`, which makes up revision `revision`, in that turn of the session with the task: before turns were
   * counted, the first.
   */
  tasks: { taskId: string; seq: number; revision: number; turn?: number }[]
  tsgIds: string[]
  /** The claim by which inbox items are held, if any. */
  inboxClaimId: string | null
}

/** Injections that wait for their acknowledgement: at most one open a session. */
export const injectionClaims = pgTable(
  'injection_claims',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    sessionId: text().notNull(),
    held: jsonb().$type<HeldInjection>().notNull(),
    leaseExpiresAt: instant().notNull(),
    acknowledgedAt: instant(),
    /** Set when its lease had lapsed and its items were handed out again. */
    replacedAt: instant(),
    createdAt: instantNow(),
  },
  (table) => [uniqueIndex('injection_claims_open').on(table.projectId, table.sessionId).where(sql`acknowledged_at is null and replaced_at is null`)],
)
