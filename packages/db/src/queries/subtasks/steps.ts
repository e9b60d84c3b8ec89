import type { StepKind } from '@muster/domain'
import { and, asc, desc, eq, gt, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { steps } from '../../schema/steps.ts'

export interface Step {
  seq: number
  attempt: number
  kind: StepKind
  content: unknown
  at: Date
}

/** A transcript in its order. */
export async function listSteps(tx: Tx, projectId: string, subtaskId: string, afterSeq: number, limit: number): Promise<Step[]> {
  return await tx.orm
    .select({ seq: steps.seq, attempt: steps.attempt, kind: steps.kind, content: steps.content, at: steps.at })
    .from(steps)
    .where(and(eq(steps.projectId, projectId), eq(steps.subtaskId, subtaskId), gt(steps.seq, afterSeq)))
    .orderBy(asc(steps.seq))
    .limit(limit)
}

/** The end of a transcript, oldest first. */
export async function listLastSteps(tx: Tx, projectId: string, subtaskId: string, limit: number): Promise<Pick<Step, 'kind' | 'content'>[]> {
  const rows = await tx.orm
    .select({ kind: steps.kind, content: steps.content })
    .from(steps)
    .where(and(eq(steps.projectId, projectId), eq(steps.subtaskId, subtaskId)))
    .orderBy(desc(steps.seq))
    .limit(limit)
  return rows.reverse()
}

/**
 * How many answers of a model a transcript shows. Messages and calls in a row are one answer: results of tools, updates or errors stand between two
 * answers.
 */
export async function countAnswers(tx: Tx, projectId: string, subtaskId: string): Promise<number> {
  const [row] = await tx.orm.execute<{ answers: number }>(sql`
    select count(*) filter (where is_said and (was_said is not true or attempt is distinct from attempt_before))::int as answers
    from (
      select attempt, is_said, lag(is_said) over w as was_said, lag(attempt) over w as attempt_before
      from (
        select seq, attempt, kind in ('message', 'tool_call') as is_said from steps where project_id = ${projectId} and subtask_id = ${subtaskId}
      ) said
      window w as (order by seq)
    ) entries`)
  return row?.answers ?? 0
}
