import { JUDGEMENT_STATUSES, type JudgementStatus } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { bigint, check, index, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, oneOf, projectId } from './columns.ts'

/** Evaluations that a model is to judge as well. The row is the truth; its pg-boss job, inserted in the same commit, makes it claimable. */
export const judgements = pgTable(
  'judgements',
  {
    projectId: projectId(),
    evaluationId: uuid().notNull(),
    /** Null for the judge's default. */
    model: text(),
    status: text().$type<JudgementStatus>().notNull().default('pending'),
    /** How often a worker tried it: asked the model, or found no room in a budget. */
    attempts: smallint().notNull().default(0),
    /** Why there are no verdicts. */
    error: text(),
    /** The model that was asked last; null before it was. */
    usedModel: text(),
    inputTokens: bigint({ mode: 'number' }).notNull().default(0),
    cachedInputTokens: bigint({ mode: 'number' }).notNull().default(0),
    outputTokens: bigint({ mode: 'number' }).notNull().default(0),
    costMicros: bigint({ mode: 'number' }).notNull().default(0),
    /** The most that the try under way may use, in a project, by an agent or for a task with a budget. */
    reservedTokens: bigint({ mode: 'number' }).notNull().default(0),
    reservedCostMicros: bigint({ mode: 'number' }).notNull().default(0),
    createdAt: instantNow(),
    endedAt: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.evaluationId] }),
    check('judgements_status', oneOf('status', JUDGEMENT_STATUSES)),
    index('judgements_pending').on(table.projectId, table.createdAt).where(sql`status = 'pending'`),
    // Usage of a range of time.
    index('judgements_by_end').on(table.projectId, table.endedAt).where(sql`ended_at is not null`),
  ],
)
