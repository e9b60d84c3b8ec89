import type { EvaluationJudge, EvaluationRecord, JudgementStatus } from '@muster/domain'
import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { pipeline, type Tx } from '../../client.ts'
import { evaluations } from '../../schema/evaluations.ts'
import { judgements } from '../../schema/judgements.ts'
import { readBody } from '../core/bodies.ts'
import { along, type Filter, given, planForValues } from '../core/lists.ts'

/** The state of the judgement of an output. */
export interface JudgementState {
  status: JudgementStatus
  /** Null while the judge's default is not known. */
  model: string | null
  /** The evaluation with its verdicts. */
  evaluationId: string | null
  error: string | null
  costUsdMicros: number
}

/** An evaluation as lists show it. */
export type EvaluationSummary = Omit<EvaluationRecord, 'detail' | 'judge'> & { judgement: JudgementState | null }

/** An evaluation with all details except the output. */
export type StoredEvaluation = EvaluationSummary & Pick<EvaluationRecord, 'detail'>

const judged = alias(evaluations, 'judged')
const { detail, output: _, outputBodyId: __, isJudged: ___, judge, ...SUMMARY } = getTableColumns(evaluations)
const JUDGEMENT = {
  status: judgements.status,
  asked: judgements.model,
  error: judgements.error,
  costUsdMicros: judgements.costMicros,
  judgedId: judged.id,
  /** The model of the verdicts, whichever model was requested. */
  judge: sql<EvaluationJudge | null>`coalesce(${judge}, ${judged.judge})`,
}

/** The first evaluation of the same output. CASE, because PostgreSQL takes COALESCE for leaky, and so looks up no index of a table with row-level security by it. */
const FIRST_ID = sql`case when ${evaluations.judgeOf} is null then ${evaluations.id} else ${evaluations.judgeOf} end`

/** One evaluation, or null. */
export async function findEvaluation(tx: Tx, projectId: string, id: string): Promise<StoredEvaluation | null> {
  const [row] = await tx.orm
    .select({ evaluation: { ...SUMMARY, detail }, judgement: JUDGEMENT })
    .from(evaluations)
    .leftJoin(judgements, and(eq(judgements.projectId, evaluations.projectId), sql`${judgements.evaluationId} = ${FIRST_ID}`))
    .leftJoin(judged, and(eq(judged.projectId, evaluations.projectId), eq(judged.judgeOf, evaluations.id)))
    .where(and(eq(evaluations.projectId, projectId), eq(evaluations.id, id)))
  return row === undefined ? null : withJudgement(row)
}

export interface EvaluationFilter {
  taskId?: string | undefined
  subtaskId?: string | undefined
  beforeId?: string | undefined
  limit: number
}

/** Newest first, without details. */
export async function listEvaluations(tx: Tx, projectId: string, { taskId, subtaskId, beforeId, limit }: EvaluationFilter): Promise<EvaluationSummary[]> {
  // The most selective filter leads.
  const [lead, ...rest] = given([
    [evaluations.subtaskId, subtaskId],
    [evaluations.taskId, taskId],
  ])
  const { where, orderBy } = along(lead === undefined ? [] : [lead], evaluations.id, beforeId)
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.orm
      .select({ evaluation: SUMMARY, judgement: JUDGEMENT })
      .from(evaluations)
      .leftJoin(judgements, and(eq(judgements.projectId, evaluations.projectId), sql`${judgements.evaluationId} = ${FIRST_ID}`))
      .leftJoin(judged, and(eq(judged.projectId, evaluations.projectId), eq(judged.judgeOf, evaluations.id)))
      .where(and(eq(evaluations.projectId, projectId), ...where, ...rest.map(([column, value]) => eq(column, value))))
      .orderBy(...orderBy)
      .limit(limit),
  ])
  return rows.map(withJudgement)
}

function withJudgement<Row extends object>({
  evaluation,
  judgement,
}: {
  evaluation: Row & { id: string; judgeOf: string | null }
  judgement: {
    status: JudgementStatus | null
    asked: string | null
    error: string | null
    costUsdMicros: number | null
    judgedId: string | null
    judge: EvaluationJudge | null
  }
}): Row & { judgement: JudgementState | null } {
  const { status, asked, error, costUsdMicros, judgedId, judge } = judgement
  if (status === null) return { ...evaluation, judgement: null }
  return {
    ...evaluation,
    judgement: {
      status,
      model: judge?.model ?? asked,
      evaluationId: evaluation.judgeOf === null ? judgedId : evaluation.id,
      error,
      costUsdMicros: costUsdMicros ?? 0,
    },
  }
}

/** The id of the evaluation with the verdicts of a judge on an output, or that of its first one. */
export async function findJudged(tx: Tx, projectId: string, firstId: string): Promise<string> {
  const [row] = await tx.orm
    .select({ id: evaluations.id })
    .from(evaluations)
    .where(and(eq(evaluations.projectId, projectId), eq(evaluations.judgeOf, firstId)))
  return row?.id ?? firstId
}

/** The subject of an output. The output of a task is the one that was evaluated last. */
export type OutputOf = { taskId: string } | { subtaskId: string }

/** The id of the latest evaluation of the latest output, or null. */
export async function findLatestEvaluation(tx: Tx, projectId: string, of: OutputOf): Promise<string | null> {
  const lead: Filter = 'taskId' in of ? [evaluations.taskId, of.taskId] : [evaluations.subtaskId, of.subtaskId]
  const { where } = along([lead], evaluations.id, undefined)
  // An earlier output may have been judged later, so the latest output is found by first evaluations.
  const [row] = await tx.orm
    .select({ id: sql<string>`coalesce(${judged.id}, ${evaluations.id})` })
    .from(evaluations)
    .leftJoin(judged, and(eq(judged.projectId, evaluations.projectId), eq(judged.judgeOf, evaluations.id)))
    .where(and(eq(evaluations.projectId, projectId), ...where, eq(evaluations.isJudged, false)))
    .orderBy(desc(lead[0]), desc(evaluations.id))
    .limit(1)
  return row?.id ?? null
}

/** An output that was evaluated. */
export interface EvaluatedOutput {
  evaluationId: string
  subtaskId: string | null
  /** Null if it was deleted. */
  output: string | null
}

/** The output of an evaluation; null if there is no such evaluation. */
export async function findOutput(tx: Tx, projectId: string, evaluationId: string): Promise<EvaluatedOutput | null> {
  const [row] = await tx.orm.execute<{ subtask_id: string | null; output: string | null; body_id: string | null }>(sql`
    select case when o.id is null then e.subtask_id else o.subtask_id end as subtask_id, coalesce(e.output, o.output, s.result, m.content) as output,
      coalesce(e.output_body_id, o.output_body_id, s.result_body_id, m.body_id) as body_id
    from evaluations e
    left join evaluations o on o.project_id = e.project_id and o.id = case when e.judge_of is null then e.review_of else e.judge_of end
    left join subtasks s on s.id = case when o.id is null then e.subtask_id else o.subtask_id end and coalesce(o.origin, e.origin) = 'subtask'
    left join session_messages m on m.id = e.message_id and e.origin = 'message'
    where e.project_id = ${projectId} and e.id = ${evaluationId}`)
  if (row === undefined) return null
  return { evaluationId, subtaskId: row.subtask_id, output: row.body_id === null ? row.output : await readBody(tx, row.body_id) }
}
