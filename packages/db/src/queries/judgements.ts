import type { Tx } from '../client.ts'

/** Notes that a model is to judge an evaluation. One that is noted already stays as it is; answers whether it is new. */
export async function insertJudgement(tx: Tx, row: { projectId: string; evaluationId: string; model: string | null }): Promise<boolean> {
  const inserted = await tx.sql`
    insert into judgements (project_id, evaluation_id, model) values (${row.projectId}, ${row.evaluationId}, ${row.model})
    on conflict do nothing
    returning evaluation_id`
  return inserted.length > 0
}
