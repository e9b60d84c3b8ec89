import type { Tx } from '@muster/db'
import type { PgBoss } from 'pg-boss'
import { insideTransaction } from './boss.ts'
import { JUDGE_QUEUE, runQueue } from './queues.ts'

/** The job of one judgement. Its id is the id of the evaluation, so that no evaluation has two jobs. */
export interface JudgeJob {
  projectId: string
  evaluationId: string
}

/** A job in the hands of a worker. */
export interface HeldJudgeJob extends JudgeJob {
  /** The number of the try, from 0. Reports of an expired try are ignored. */
  attempt: number
  /** Whether this is the last try. */
  isLast: boolean
}

interface JudgeJobData {
  project_id: string
  id: string
}

/** The moves of the jobs of judgements. pg-boss counts the tries and detects lost workers. */
export interface JudgeJobs {
  /** In the transaction of the rows that they stand for. A job that is there already stays as it is. */
  insert(tx: Tx, jobs: readonly JudgeJob[]): Promise<void>
  /** Takes up to `limit` waiting jobs of all projects. The worker must renew them every few seconds with `hold`. */
  take(limit: number): Promise<HeldJudgeJob[]>
  hold(jobs: readonly HeldJudgeJob[]): Promise<void>
  /** In the transaction in which its row comes to an end: rows and events tell what was, so nothing is kept of the job. */
  remove(tx: Tx, job: JudgeJob): Promise<void>
  /** Another try later: after the queue's own wait, or that which was asked for, in seconds. */
  retry(tx: Tx, job: HeldJudgeJob, waitSeconds: number | null): Promise<void>
  /** Lets others have it at once; the try does not count. */
  giveBack(job: HeldJudgeJob): Promise<void>
  /**
   * Gives the jobs of lost workers another try, sooner than pg-boss's own maintenance would. Returns their number.
   */
  takeFromLost(): Promise<number>
  /** Up to `limit` jobs that will never finish: each try was lost with its worker, or the job was cancelled. */
  findExhausted(limit: number): Promise<JudgeJob[]>
  /** Which of these evaluations have no job. */
  findMissing(tx: Tx, evaluationIds: readonly string[]): Promise<string[]>
  /** All projects there are: each has a queue of its own for outside workers. */
  findProjects(): Promise<string[]>
}

/** The longest wait that a provider may ask for, in seconds. */
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
      // Only a waiting job: one that another worker has taken stays as it is.
      await boss.update(JUDGE_QUEUE, undefined, {
        id: job.evaluationId,
        startAfter: Math.ceil(Math.min(waitSeconds, WAIT_SECONDS_MAX)),
        ...insideTransaction(tx),
      })
    },
    async giveBack(job) {
      // Like pg-boss's own restore, which does not check the current owner of a job.
      await query(
        `update pgboss.job set state = 'created', started_on = null, heartbeat_on = null
         where name = $1 and id = $2 and state = 'active' and retry_count = $3`,
        [JUDGE_QUEUE, job.evaluationId, job.attempt],
      )
    },
    async takeFromLost() {
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
