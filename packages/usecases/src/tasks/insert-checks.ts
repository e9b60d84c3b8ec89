import { type CheckRun, checkRuns, type LockedTask, type Tx, tasks } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

/** What is to be checked, of a locked task. */
interface ChecksRequest {
  criteria: readonly { id: string; check?: string }[]
  /** The evaluation that the verdicts are added to; null if nothing was submitted. */
  evaluationId: string | null
  /** The run whose result it is, if it is one. */
  subtaskId: string | null
  place: string | null
}

/** Requests the checks of a locked task as one batch. Workers are notified after the commit; `runCheck` does the work. */
export async function insertChecks(deps: Deps, tx: Tx, task: Pick<LockedTask, 'id' | 'projectId'>, { criteria, ...of }: ChecksRequest): Promise<void> {
  const batchId = deps.newId()
  const rows = criteria.flatMap(({ id, check }) =>
    check === undefined ? [] : [{ id: deps.newId(), batchId, taskId: task.id, criterionId: id, checkName: check, ...of }],
  )
  await checkRuns.insertCheckRuns(tx, task.projectId, rows)
  tx.afterCommit(() => deps.notifier.notify('check'))
}

/** Writes what checks say into the criteria of a locked task, where these still name them. Returns the task as it is then. */
export async function writeCheckedStates(tx: Tx, task: LockedTask, runs: readonly CheckRun[]): Promise<LockedTask> {
  const ends = new Map(runs.map((run) => [run.criterionId, run]))
  const criteria = task.criteria.map((criterion) => {
    const run = ends.get(criterion.id)
    if (run === undefined || run.checkName !== criterion.check) return criterion
    return { ...criterion, state: run.status === 'met' || run.status === 'unmet' ? run.status : ('unclear' as const) }
  })
  await tasks.writeProgress(tx, task.id, { criteria, nextSteps: task.nextSteps })
  return { ...task, criteria }
}
