import { EVALUATION_ORIGINS, type EvaluationDetail, type EvaluationJudge, type EvaluationOrigin, RECOMMENDATIONS, type Recommendation } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { boolean, check, doublePrecision, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instantNow, oneOf, projectId } from './columns.ts'

/** What was judged of outputs. Append-only: a judge's verdicts make an evaluation of their own, beside the one that they add to. */
export const evaluations = pgTable(
  'evaluations',
  {
    projectId: projectId(),
    id: uuid().notNull(),
    origin: text().$type<EvaluationOrigin>().notNull(),
    taskId: uuid(),
    subtaskId: uuid(),
    messageId: uuid(),
    sessionId: text(),
    /** Of the subtask, so that scores can be compared by sub-agent. */
    subagentName: text(),
    /** Null where the output says nothing that counts. */
    score: doublePrecision(),
    recommendation: text().$type<Recommendation>().notNull(),
    /** The revision whose criteria it was held against. */
    criteriaRevision: integer(),
    detail: jsonb().$type<EvaluationDetail>().notNull(),
    /** What takes the place of a poor output. */
    summary: text(),
    /** Only where nothing else keeps it: of a subtask it is the result, of a message the content. Over 64 KiB it is in `bodies`. */
    output: text(),
    outputBodyId: uuid(),
    /** The evaluation of the same output that this one adds a judge's verdicts to. */
    judgeOf: uuid(),
    isJudged: boolean().notNull().default(false),
    judge: jsonb().$type<EvaluationJudge>(),
    createdAt: instantNow(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.id] }),
    check('evaluations_origin', oneOf('origin', EVALUATION_ORIGINS)),
    check('evaluations_recommendation', oneOf('recommendation', RECOMMENDATIONS)),
    check('evaluations_judged', sql`is_judged = (judge_of is not null)`),
    // A result is evaluated once, and once more by a judge, whatever happens twice.
    uniqueIndex('evaluations_by_subtask').on(table.projectId, table.subtaskId, table.isJudged).where(sql`subtask_id is not null`),
    uniqueIndex('evaluations_by_judged').on(table.projectId, table.judgeOf).where(sql`judge_of is not null`),
    index('evaluations_by_task').on(table.projectId, table.taskId, table.id).where(sql`task_id is not null`),
    // Small: scores over time read a range of it, and it costs next to nothing to keep.
    index('evaluations_by_time').using('brin', table.createdAt),
  ],
)
