import { judgements, transaction } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

const BATCH = 100

/**
 * Gives the judgements of lost workers to others. A judgement that no worker could finish in all its tries has failed.
 */
export async function takeLostJudgements(deps: Deps): Promise<void> {
  if ((await deps.judgeJobs.retryLost()) > 0) deps.notifier.notify('judge')
  for (const job of await deps.judgeJobs.findExhausted(BATCH)) {
    await transaction(deps.db, job.projectId, async (tx) => {
      if (await judgements.lockPending(tx, job)) await judgements.endJudgement(tx, job, 'Each worker that asked the model ended before it had the answer.')
      await deps.judgeJobs.remove(tx, job)
    })
  }
}

/** Gives judgements without a job a new one: the job was removed, or a backup restored only the rows. */
export async function renewJudgementJobs(deps: Deps): Promise<number> {
  let count = 0
  for (const projectId of await deps.judgeJobs.findProjects()) {
    count += await transaction(deps.db, projectId, async (tx) => {
      const unfinished = await judgements.findUnfinished(tx, projectId, BATCH)
      if (unfinished.length === 0) return 0
      const missing = await deps.judgeJobs.findMissing(tx, unfinished)
      await deps.judgeJobs.insert(
        tx,
        missing.map((evaluationId) => ({ projectId, evaluationId })),
      )
      return missing.length
    })
  }
  if (count > 0) deps.notifier.notify('judge')
  return count
}
