import { steps, transaction } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

/** Steps of a budget that earlier attempts of a subtask have used: the answers of models that their transcript shows. */
export async function stepsUsed(deps: Pick<Deps, 'db'>, { projectId, id }: { projectId: string; id: string }): Promise<number> {
  return await transaction(deps.db, projectId, (tx) => steps.countAnswers(tx, projectId, id))
}
