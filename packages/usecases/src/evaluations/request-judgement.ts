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
 * Requests the verdicts of a judge on an evaluation. The row and its job commit with the evaluation; workers are notified then. A repeated
 * request changes nothing. `judgeEvaluation` does the work.
 */
export async function requestJudgement(deps: Pick<Deps, 'judgeJobs' | 'notifier'>, tx: Tx, request: JudgementRequest): Promise<void> {
  if (!(await judgements.insertJudgement(tx, request))) return
  await deps.judgeJobs.insert(tx, [request])
  tx.afterCommit(() => deps.notifier.notify('judge'))
}
