import type { claims, lanes, Tx } from '@muster/db'
import { runQueueOf } from './queues.ts'

/** The moves of run jobs, each inside the transaction that moves the rows they stand for. */
export interface RunJobs {
  /**
   * Inserts the jobs of rows that this transaction has made claimable. It reads that from the rows and inserts nothing for rows that hold no
   * permit, so it can follow the deciding statement in a pipeline.
   */
  insertForRows(tx: Tx, subtaskIds: readonly string[]): Promise<void>
  /** The queue's part of the statements that grant permits, for `lanes.grantPermits`. */
  inserting(tx: Tx): lanes.InsertingJobs
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

/**
 * Writes what pg-boss's own insert writes for such jobs; a test compares the two. The job holds ids only. Its place in the queue is the row's,
 * ageing included. Without its queue the name of a job is null and the statement fails, because a row that holds a permit but has no job would
 * wait for ever.
 */
function insertGranted(sql: Tx['sql']) {
  return sql`
    insert into pgboss.job (
      name, id, data, priority, start_after, created_on, expire_seconds, deletion_seconds, keep_until,
      retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
    )
    select q.name, g.job_id, jsonb_build_object('project_id', g.project_id, 'id', g.id), -floor(extract(epoch from g.rank_at))::int, moment.now, moment.now,
      q.expire_seconds, q.deletion_seconds, moment.now + q.retention_seconds * interval '1 second',
      q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max, q.policy, q.dead_letter, q.heartbeat_seconds
    from granted g
    left join pgboss.queue q on q.name = ${runQueueOf(sql)}
    cross join (select pgboss.job_now() as now) as moment`
}

export function createRunJobs(): RunJobs {
  return {
    async insertForRows(tx, subtaskIds) {
      await tx.sql`
        with granted as (
          select s.project_id, s.id, s.job_id, s.runner, s.rank_at from subtasks s where s.slot and s.id = any(${subtaskIds as string[]}::uuid[])
        )
        ${insertGranted(tx.sql)}`
    },
    inserting({ sql }) {
      return sql`inserted as (${insertGranted(sql)})`
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
      await tx.sql`delete from pgboss.job where name = ${queue} and id = any(${jobIds as string[]}::uuid[])`
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
