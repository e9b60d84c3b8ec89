// SQL: one look across projects, without a transaction, which Drizzle's connection does not offer.
import type { Tx } from '../../client.ts'

/** Open questions that are past their time, longest due first. */
export async function listDueQuestions({ sql }: Pick<Tx, 'sql'>, limit: number): Promise<{ projectId: string; id: string }[]> {
  return await sql<{ projectId: string; id: string }[]>`
    select project_id as "projectId", id from questions
    where status = 'open' and expires_at <= (select muster_now()) order by expires_at limit ${limit}`
}
