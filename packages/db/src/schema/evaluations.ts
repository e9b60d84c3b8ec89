import { EVALUATION_ORIGINS, type EvaluationDetail, type EvaluationJudge, type EvaluationOrigin, RECOMMENDATIONS, type Recommendation } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { boolean, check, doublePrecision, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instantNow, oneOf, projectId } from './columns.ts'

/** Evaluations of outputs. Append-only: the verdicts of a judge, and those of a person, are further evaluations of the same output. */
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
    /** The sub-agent of the subtask, so that scores can be compared by sub-agent. */
    subagentName: text(),
    /** Null if the output has nothing that counts. */
    score: doublePrecision(),
    recommendation: text().$type<Recommendation>().notNull(),
    /** The revision with the criteria that it was evaluated against. */
    criteriaRevision: integer(),
    /** The rule that it was made by. 1: before versions were kept. */
    ruleVersion: integer().notNull().default(1),
    detail: jsonb().$type<EvaluationDetail>().notNull(),
    /** Shown in place of a poor output. */
    summary: text(),
    /** Only if no other row has it, such as the result of a subtask or the content of a message. Above 64 KiB it is in `bodies`. */
    output: text(),
    outputBodyId: uuid(),
    /** The evaluation of the same output to which this one adds the verdicts of a judge. */
    judgeOf: uuid(),
    /** The first evaluation of the output, to which a review adds the verdicts and the decision of a person. */
    reviewOf: uuid(),
    isJudged: boolean().notNull().default(false),
    judge: jsonb().$type<EvaluationJudge>(),
    createdAt: instantNow(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.id] }),
    check('evaluations_origin', oneOf('origin', EVALUATION_ORIGINS)),
    check('evaluations_recommendation', oneOf('recommendation', RECOMMENDATIONS)),
    check('evaluations_judged', sql`is_judged = (judge_of is not null)`),
    // A result is evaluated once, and once more by a judge, even if it is settled twice.
    uniqueIndex('evaluations_by_subtask').on(table.projectId, table.subtaskId, table.isJudged).where(sql`subtask_id is not null`),
    uniqueIndex('evaluations_by_judged').on(table.projectId, table.judgeOf).where(sql`judge_of is not null`),
    // A submission is reviewed once.
    uniqueIndex('evaluations_by_reviewed').on(table.projectId, table.reviewOf).where(sql`review_of is not null`),
    index('evaluations_by_task').on(table.projectId, table.taskId, table.id).where(sql`task_id is not null`),
    // They go when their message does.
    index('evaluations_by_message').on(table.projectId, table.messageId).where(sql`message_id is not null`),
    // Those of a request that names nothing else expire alone.
    index('evaluations_of_requests').on(table.id).where(sql`subtask_id is null and task_id is null and message_id is null`),
    // Statistics read a range of it. It is small, and cheap to maintain.
    index('evaluations_by_time').using('brin', table.createdAt),
  ],
)
