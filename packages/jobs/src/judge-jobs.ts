import type { Tx } from '@muster/db'
import type { PgBoss } from 'pg-boss'
import { insideTransaction } from './boss.ts'
import { JUDGE_QUEUE, runQueue } from './queues.ts'

/** The job of one judgement. Its id is that of the evaluation, so that no evaluation has two. */
export interface JudgeJob {
  projectId: string
  evaluationId: string
}

/** A job that a worker holds. */
export interface HeldJudgeJob extends JudgeJob {
  /** The number of the try, from 0. It fences: calls of an earlier try change nothing. */
  attempt: number
  /** Whether no other try follows if this one fails. */
  isLast: boolean
}

interface JudgeJobData {
  project_id: string
  id: string
}

/** The jobs of judgements. pg-boss counts the tries and detects lost workers. */
export interface JudgeJobs {
  /** Inserts jobs in the transaction of their rows. An existing job stays as it is. */
  insert(tx: Tx, jobs: readonly JudgeJob[]): Promise<void>
  /** Takes up to `limit` waiting jobs, of all projects. The worker calls `hold` for them every few seconds. */
  take(limit: number): Promise<HeldJudgeJob[]>
  /** The heartbeat of these jobs. */
  hold(jobs: readonly HeldJudgeJob[]): Promise<void>
  /** Removes a job in the transaction that ends its row. Rows and events keep the history. */
  remove(tx: Tx, job: JudgeJob): Promise<void>
  /** Ends a try. The next one follows after `waitSeconds`, or after the queue's own wait if null. */
  retry(tx: Tx, job: HeldJudgeJob, waitSeconds: number | null): Promise<void>
  /** Returns a job for another worker at once. The try does not count. */
  release(job: HeldJudgeJob): Promise<void>
  /** Gives the jobs of lost workers another try, sooner than pg-boss's own maintenance would. Returns how many. */
  retryLost(): Promise<number>
  /** Up to `limit` jobs without another try: every worker that held them was lost, or the job was ended by hand. */
  findExhausted(limit: number): Promise<JudgeJob[]>
  /** Which of these evaluations have no job. */
  findMissing(tx: Tx, evaluationIds: readonly string[]): Promise<string[]>
  /** All projects. Each has a queue for outside workers. */
  findProjects(): Promise<string[]>
}

/** The longest wait that a provider can ask for, in seconds. */
const WAIT_SECONDS_MAX = 600
const LOST_MAX = 100

export function createJudgeJobs(boss: PgBoss): JudgeJobs {
  const attemptOf = (job: HeldJudgeJob) => ({ id: job.evaluationId, retryCount: job.attempt })
  const query = async <Row>(text: string, values: unknown[], db = boss.getDb()) => (await db.executeSql(text, values)).rows as Row[]

  return {
    async insert(tx, jobs) {
      if (jobs.length === 0) return
      const inserts = jobs.map(({ projectId, evaluationId }) => ({
        id: evaluationId,
        data: { project_id: projectId, id: evaluationId } satisfies JudgeJobData,
      }))
      await boss.insert(JUDGE_QUEUE, inserts, insideTransaction(tx))
    },
    async take(limit) {
      const jobs = await boss.fetch<JudgeJobData>(JUDGE_QUEUE, { batchSize: limit, includeMetadata: true })
      return jobs.map(({ data, retryCount, retryLimit }) => ({
        projectId: data.project_id,
        evaluationId: data.id,
        attempt: retryCount,
        isLast: retryCount >= retryLimit,
      }))
    },
    async hold(jobs) {
      if (jobs.length > 0) await boss.touch(JUDGE_QUEUE, jobs.map(attemptOf))
    },
    async remove(tx, { evaluationId }) {
      await boss.deleteJob(JUDGE_QUEUE, evaluationId, insideTransaction(tx))
    },
    async retry(tx, job, waitSeconds) {
      await boss.fail(JUDGE_QUEUE, [attemptOf(job)], undefined, insideTransaction(tx))
      if (waitSeconds === null) return
      // Changes only a waiting job: one that another worker has taken meanwhile stays as it is.
      await boss.update(JUDGE_QUEUE, undefined, {
        id: job.evaluationId,
        startAfter: Math.ceil(Math.min(waitSeconds, WAIT_SECONDS_MAX)),
        ...insideTransaction(tx),
      })
    },
    async release(job) {
      // As pg-boss's own restore, but fenced by the try.
      await query(
        `update pgboss.job set state = 'created', started_on = null, heartbeat_on = null
         where name = $1 and id = $2 and state = 'active' and retry_count = $3`,
        [JUDGE_QUEUE, job.evaluationId, job.attempt],
      )
    },
    async retryLost() {
      const lost = await query<{ id: string; retryCount: number }>(
        `select id, retry_count as "retryCount" from pgboss.job
         where name = $1 and state = 'active' and heartbeat_on + heartbeat_seconds * interval '1 second' < pgboss.job_now() limit $2`,
        [JUDGE_QUEUE, LOST_MAX],
      )
      if (lost.length > 0) await boss.fail(JUDGE_QUEUE, lost)
      return lost.length
    },
    async findExhausted(limit) {
      const rows = await query<{ data: JudgeJobData }>(`select data from pgboss.job where name = $1 and state > 'active' limit $2`, [JUDGE_QUEUE, limit])
      return rows.map(({ data }) => ({ projectId: data.project_id, evaluationId: data.id }))
    },
    async findMissing(tx, evaluationIds) {
      const rows = await query<{ id: string }>(
        `select wanted.id from unnest($2::uuid[]) as wanted(id)
         where not exists (select from pgboss.job j where j.name = $1 and j.id = wanted.id)`,
        [JUDGE_QUEUE, evaluationIds],
        insideTransaction(tx).db,
      )
      return rows.map(({ id }) => id)
    },
    async findProjects() {
      const prefix = runQueue('external', '')
      const rows = await query<{ name: string }>(`select name from pgboss.queue where starts_with(name, $1)`, [prefix])
      return rows.map(({ name }) => name.slice(prefix.length))
    },
  }
}
