import { judgements, type Tx } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

export interface JudgementRequest {
  projectId: string
  /** Of the evaluation that is written in the same transaction. */
  evaluationId: string
  /** Null: the judge's default. */
  model: string | null
}

/**
 * Asks for a model's verdicts on an evaluation: the row and its job commit with it, and workers hear of it then. Asking again for the same
 * evaluation changes nothing. See `judgeEvaluation` for what becomes of it.
 */
export async function requestJudgement(deps: Pick<Deps, 'judgeJobs' | 'notifier'>, tx: Tx, request: JudgementRequest): Promise<void> {
  if (!(await judgements.insertJudgement(tx, request))) return
  await deps.judgeJobs.insert(tx, [request])
  tx.afterCommit(() => deps.notifier.notify('judge'))
}
