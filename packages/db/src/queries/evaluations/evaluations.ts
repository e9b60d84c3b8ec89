// SQL: the end of every subtask is evaluated, and a batch of ends is one statement.
import type { EvaluationRecord, EvaluationSettings } from '@muster/domain'
import type { Tx } from '../../client.ts'

/** An evaluation before it is stored, with the output unless another row has it. */
export type NewEvaluationRow = Omit<EvaluationRecord, 'createdAt' | 'reviewOf'> & {
  output: string | null
  outputBodyId: string | null
  /** Only of a review. */
  reviewOf?: string | null
}

/** Columns by their names, for JSON that a statement takes apart. */
export function toEvaluationRecord(row: NewEvaluationRow): Record<string, unknown> {
  return {
    id: row.id,
    origin: row.origin,
    task_id: row.taskId,
    subtask_id: row.subtaskId,
    message_id: row.messageId,
    session_id: row.sessionId,
    subagent_name: row.subagentName,
    score: row.score,
    recommendation: row.recommendation,
    criteria_revision: row.criteriaRevision,
    rule_version: row.ruleVersion,
    detail: row.detail,
    summary: row.summary,
    output: row.output,
    output_body_id: row.outputBodyId,
    judge_of: row.judgeOf,
    review_of: row.reviewOf ?? null,
    judge: row.judge,
  }
}

/**
 * Writes evaluations of one project, in one statement. Ignores a second evaluation of a result, and a second judgement or review of an evaluation. Returns the
 * ids of the new ones.
 */
export async function insertEvaluations(tx: Tx, projectId: string, rows: readonly NewEvaluationRow[]): Promise<string[]> {
  if (rows.length === 0) return []
  const data = rows.map(toEvaluationRecord)
  const inserted = await tx.sql<{ id: string }[]>`
    with moment as materialized (select muster_now() as now)
    insert into evaluations (project_id, id, origin, task_id, subtask_id, message_id, session_id, subagent_name, score, recommendation, criteria_revision,
      rule_version, detail, summary, output, output_body_id, judge_of, review_of, is_judged, judge, created_at)
    select ${projectId}, id, origin, task_id, subtask_id, message_id, session_id, subagent_name, score, recommendation, criteria_revision,
      rule_version, detail, summary, output, output_body_id, judge_of, review_of, judge_of is not null, judge, moment.now
    from jsonb_to_recordset(${JSON.stringify(data)}::jsonb) as e(
      id uuid, origin text, task_id uuid, subtask_id uuid, message_id uuid, session_id text, subagent_name text, score double precision,
      recommendation text, criteria_revision int, rule_version int, detail jsonb, summary text, output text, output_body_id uuid, judge_of uuid, review_of uuid, judge jsonb) cross join moment
    on conflict do nothing
    returning id`
  return inserted.map((row) => row.id)
}

/**
 * The evaluation of what the assignee of a task submitted: of the newest completion, or of the result of the run if that completed the task. Submissions
 * before the last request for revision do not count, because a run that completed its task goes on after it and may end with a better result.
 */
export async function findSubmitted(tx: Tx, projectId: string, taskId: string, sessionId: string | null): Promise<string | null> {
  const [row] = await tx.sql<{ id: string }[]>`
    select id from evaluations
    where project_id = ${projectId} and task_id = ${taskId} and session_id is not distinct from ${sessionId}
      and origin in ('completion', 'subtask') and not is_judged
      and created_at >= coalesce(
        (select max(created_at) from updates where project_id = ${projectId} and task_id = ${taskId} and update_type = 'revision_request'), '-infinity')
    order by origin = 'completion' desc, id desc limit 1`
  return row?.id ?? null
}

/** The evaluation rules of a project, if it has its own. */
export async function findEvaluationSettings(tx: Tx, id: string): Promise<EvaluationSettings | null> {
  const [row] = await tx.sql<{ evaluation: EvaluationSettings | null }[]>`select settings -> 'evaluation' as evaluation from projects where id = ${id}`
  return row?.evaluation ?? null
}
