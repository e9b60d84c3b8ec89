import { bodies, type CheckRun, checkRuns, evaluationReads, evaluations, outbox, type StoredEvaluation, type Tx } from '@muster/db'
import type { NewEvent } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { evaluationEvent } from '../evaluations/evaluate-output.ts'

/** Whether each of these ended as it did before, so that nothing new is known of the submission. */
export function endsAsBefore(runs: readonly CheckRun[], earlier: readonly CheckRun[]): boolean {
  const before = new Map(earlier.map(({ criterionId, status }) => [criterionId, status]))
  return runs.every(({ criterionId, status }) => before.get(criterionId) === status)
}

/**
 * Stores the first evaluation of a submission once more, for the verdicts of a repeated batch: evaluations are append-only, and each has at most one with
 * verdicts. Moves the batch to it.
 */
export async function evaluateAgain(deps: Deps, tx: Tx, first: StoredEvaluation, batchId: string, actor: NewEvent['actor']): Promise<StoredEvaluation> {
  const { projectId } = first
  const text = (await evaluationReads.findOutput(tx, projectId, first.id))?.output ?? ''
  const outputBodyId = bodies.needsBody(text) ? deps.newId() : null
  if (outputBodyId !== null) await bodies.insertBody(tx, projectId, outputBodyId, text)
  const { origin: _, subtaskId: __, createdAt: ___, judgement: ____, ...kept } = first
  const row = {
    ...kept,
    id: deps.newId(),
    origin: 'completion' as const,
    subtaskId: null,
    judge: null,
    output: outputBodyId === null ? text : null,
    outputBodyId,
  }
  await evaluations.insertEvaluations(tx, projectId, [row])
  await outbox.publish(tx, projectId, [evaluationEvent(row, actor)])
  await checkRuns.moveBatch(tx, projectId, batchId, row.id)
  return { ...first, id: row.id, origin: row.origin, subtaskId: null, judgement: null }
}
