import type { JudgeUsage } from '@muster/domain'
import type { Tx } from '../../client.ts'

/** What a judgement is known by: one evaluation has one at most. */
export interface JudgementRef {
  projectId: string
  evaluationId: string
}

/** Notes that a model is to judge an evaluation. One that is noted already stays as it is; answers whether it is new. */
export async function insertJudgement(tx: Tx, row: JudgementRef & { model: string | null }): Promise<boolean> {
  const inserted = await tx.sql`
    insert into judgements (project_id, evaluation_id, model) values (${row.projectId}, ${row.evaluationId}, ${row.model})
    on conflict do nothing
    returning evaluation_id`
  return inserted.length > 0
}

/** Counts that a model is about to be asked. Null where the judgement is over, or where there is none. */
export async function beginTry(tx: Tx, { projectId, evaluationId }: JudgementRef): Promise<{ model: string | null } | null> {
  const [row] = await tx.sql<{ model: string | null }[]>`
    update judgements set attempts = attempts + 1
    where project_id = ${projectId} and evaluation_id = ${evaluationId} and status = 'pending'
    returning model`
  return row ?? null
}

/** Locks a judgement that is not over. Whoever comes second to it finds it over; answers whether it was not. */
export async function lockPending(tx: Tx, { projectId, evaluationId }: JudgementRef): Promise<boolean> {
  const rows = await tx.sql`
    select from judgements where project_id = ${projectId} and evaluation_id = ${evaluationId} and status = 'pending' for update`
  return rows.length > 0
}

/** Adds what a try took, whatever came of it. */
export async function addUsage(tx: Tx, { projectId, evaluationId }: JudgementRef, usage: JudgeUsage): Promise<void> {
  await tx.sql`
    update judgements set input_tokens = input_tokens + ${usage.inputTokens}, output_tokens = output_tokens + ${usage.outputTokens},
      cost_micros = cost_micros + ${usage.costUsdMicros}
    where project_id = ${projectId} and evaluation_id = ${evaluationId}`
}

/** Brings a locked judgement to its end; an error says why there will be no verdicts. */
export async function endJudgement(tx: Tx, { projectId, evaluationId }: JudgementRef, error: string | null): Promise<void> {
  await tx.sql`
    update judgements set status = ${error === null ? 'done' : 'failed'}, error = ${error}, ended_at = muster_now()
    where project_id = ${projectId} and evaluation_id = ${evaluationId}`
}

/** The oldest that are not over a minute after they were asked for, of the last days. The bounds keep it to a small part of the index. */
export async function findUnfinished(tx: Tx, projectId: string, limit: number): Promise<string[]> {
  const rows = await tx.sql<{ id: string }[]>`
    select evaluation_id as id from judgements
    where project_id = ${projectId} and status = 'pending'
      and created_at between muster_now() - interval '7 days' and muster_now() - interval '1 minute'
    order by created_at limit ${limit}`
  return rows.map(({ id }) => id)
}
