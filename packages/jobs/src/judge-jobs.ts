import type { Tx } from '@muster/db'
import type { PgBoss } from 'pg-boss'
import { insideTransaction } from './boss.ts'
import { JUDGE_QUEUE } from './queues.ts'

/** The doorbell of one judgement. The evaluation's id is the job's own, so that no evaluation has two. */
export interface JudgeJob {
  projectId: string
  evaluationId: string
}

interface JudgeJobData {
  project_id: string
  id: string
}

/** The moves of the jobs that a model's verdicts are asked for by. */
export interface JudgeJobs {
  /** In the transaction of the rows that they stand for. A job that is there already stays as it is. */
  insert(tx: Tx, jobs: readonly JudgeJob[]): Promise<void>
}

export function createJudgeJobs(boss: PgBoss): JudgeJobs {
  return {
    async insert(tx, jobs) {
      if (jobs.length === 0) return
      const inserts = jobs.map(({ projectId, evaluationId }) => ({
        id: evaluationId,
        data: { project_id: projectId, id: evaluationId } satisfies JudgeJobData,
      }))
      await boss.insert(JUDGE_QUEUE, inserts, insideTransaction(tx))
    },
  }
}
