import type { claims, Tx } from '@muster/db'
import type { PgBoss } from 'pg-boss'
import { insideTransaction } from './boss.ts'
import { runQueue } from './queues.ts'

/** The doorbell of one subtask: what the worker is told is the ids, everything else is in the row. */
export interface RunJob {
  jobId: string
  projectId: string
  subtaskId: string
  runner: string
  /** Place in the queue, ageing included. Earlier is served first. */
  rankAt: Date
}

interface RunJobData {
  project_id: string
  id: string
}

/** The moves of run jobs, each inside the transaction that moves the rows they stand for. */
export interface RunJobs {
  insert(tx: Tx, jobs: readonly RunJob[]): Promise<void>
  /**
   * The same for rows that may have been given slots by a statement just before, in the same packet: the rows tell, and nothing is
   * inserted for those that have none.
   */
  insertForRows(tx: Tx, rows: readonly { queue: string; subtaskId: string }[]): Promise<void>
  /**
   * The queue's part of the one statement that claims, for `claims.claimRows`: takes up to `limit` waiting jobs of a queue (see `runQueue`),
   * best first, while others take different ones; makes those active whose rows were claimed, and removes the others.
   */
  claiming(sql: Tx['sql'], queue: string, limit: number): claims.ClaimingJobs
  /**
   * Removes jobs that are in this transaction's hands: of runs that ended, or that go back and get a new job; or fetched, and their rows
   * were gone. Attempts and events tell what was, so nothing is kept of them, and the queue stays as small as what waits.
   */
  remove(tx: Tx, queue: string, jobIds: readonly string[]): Promise<void>
  /**
   * Removes waiting jobs whose rows this transaction has locked and is taking out of the queue. A job that a claim has in its
   * hands is left to it: the claim waits for our row lock, finds the row gone, and discards the job itself. Waiting for it here
   * instead would be a deadlock.
   */
  deleteWaiting(tx: Tx, queue: string, jobIds: readonly string[]): Promise<void>
}

export function createRunJobs(boss: PgBoss): RunJobs {
  return {
    async insert(tx, jobs) {
      for (const [queue, group] of Map.groupBy(jobs, (job) => runQueue(job.runner, job.projectId))) {
        const inserts = group.map((job) => ({
          id: job.jobId,
          data: { project_id: job.projectId, id: job.subtaskId } satisfies RunJobData,
          priority: -Math.floor(job.rankAt.getTime() / 1000),
        }))
        await boss.insert(queue, inserts, insideTransaction(tx))
      }
    },
    async insertForRows(tx, rows) {
      // What pg-boss's own insert writes for such a job; a test holds the two against each other. Without its queue a job has no name, and
      // the statement fails: a row with a slot and without a job would wait for ever.
      await tx.sql`
        insert into pgboss.job (
          name, id, data, priority, start_after, created_on, expire_seconds, deletion_seconds, keep_until,
          retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
        )
        select q.name, s.job_id, jsonb_build_object('project_id', s.project_id, 'id', s.id), -floor(extract(epoch from s.rank_at))::int, moment.now, moment.now,
          q.expire_seconds, q.deletion_seconds, moment.now + q.retention_seconds * interval '1 second',
          q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds
        from unnest(${rows.map((row) => row.subtaskId)}::uuid[], ${rows.map((row) => row.queue)}::text[]) as wanted(id, queue)
        join subtasks s on s.id = wanted.id
        left join pgboss.queue q on q.name = wanted.queue
        cross join (select pgboss.job_now() as now) as moment
        where s.slot and s.id = any(${rows.map((row) => row.subtaskId)}::uuid[])`
    },
    claiming(sql, queue, limit) {
      // What pg-boss's own fetch does with jobs like these; a test holds the two against each other. The limit is written out, since a plan
      // that does not know it reckons with a tenth of the queue.
      return {
        taken: sql`
          taken as materialized (
            select j.id as job_id, (j.data ->> 'id')::uuid as subtask_id from pgboss.job j
            where j.name = ${queue} and j.state < 'active' and not j.blocked and j.start_after <= pgboss.job_now()
            order by j.priority desc, j.created_on limit ${sql.unsafe(String(Math.trunc(limit)))} for update of j skip locked
          )`,
        moved: sql`
          activated as (
            update pgboss.job j set state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now(),
              retry_count = case when started_on is not null then retry_count + 1 else retry_count end
            where j.name = ${queue} and j.id = any(array(select job_id from claimed))
          ),
          discarded as (
            delete from pgboss.job j where j.name = ${queue} and j.id = any(array(select job_id from taken except select job_id from claimed))
          )`,
      }
    },
    async remove(tx, queue, jobIds) {
      if (jobIds.length > 0) await boss.deleteJob(queue, [...jobIds], insideTransaction(tx))
    },
    async deleteWaiting(tx, queue, jobIds) {
      if (jobIds.length === 0) return
      await tx.sql`
        delete from pgboss.job
        where name = ${queue} and id in (
          select id from pgboss.job where name = ${queue} and id = any(${jobIds as string[]}::uuid[]) and state < 'active' for update skip locked
        )`
    },
  }
}
