import type { claims, lanes, Tx } from '@muster/db'
import type { Share } from '@muster/domain'
import { runQueueOf } from './queues.ts'

/** Moves run jobs, each in the transaction that moves its row. */
export interface RunJobs {
  /**
   * Inserts the jobs of those of these rows that have a permit. The rows decide, so that this statement can share the pipeline of the one that gives
   * the permits.
   */
  insertForRows(tx: Tx, subtaskIds: readonly string[]): Promise<void>
  /** The queue's part of a statement that gives permits, for `spawn.insertSubtasks` and `lanes.grantPermits`. */
  inserting(tx: Tx): lanes.InsertingJobs
  /**
   * The queue's part of the statement that claims, for `claims.claimRows`. Takes up to `limit` waiting jobs of a queue (see `runQueue`), without those
   * that other transactions have locked; activates the jobs whose rows were claimed, and removes the others. Projects take turns by their `shares`
   * (see `FairShares`); within a project, jobs come in order.
   *
   * @param depth how many jobs of each project are looked at; more than `limit`, because others may have locked some
   */
  claiming(sql: Tx['sql'], queue: string, limit: number, depth: number, shares: readonly Share[], condition?: ReturnType<Tx['sql']>): claims.ClaimingJobs
  /** The same for the waiting jobs of these subtasks, as far as they are in this queue and other transactions have not locked them. */
  claimingOf(sql: Tx['sql'], queue: string, subtaskIds: readonly string[], condition?: ReturnType<Tx['sql']>): claims.ClaimingJobs
  /** Those of these queues in which jobs wait. */
  findWaitingQueues(sql: Tx['sql'], queues: readonly string[]): Promise<string[]>
  /**
   * Removes jobs that this transaction holds, because their runs have ended, return with a new job, or have lost their rows. Attempts and events keep
   * the history, so that the queue stays as small as its waiting jobs.
   */
  remove(tx: Tx, queue: string, jobIds: readonly string[]): Promise<void>
  /**
   * Removes waiting jobs whose rows this transaction has locked. Skips a job that a claim has locked: the claim waits for our row lock, does not find
   * the row any more, and removes the job. Waiting for the claim here would be a deadlock.
   */
  deleteWaiting(tx: Tx, queue: string, jobIds: readonly string[]): Promise<void>
}

/**
 * Writes what pg-boss's own insert would write; a test compares them. The place in the queue is that of the row, ageing included. If the queue is
 * missing, the name is null and the statement fails: a row with a permit and without a job would wait for ever.
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

function waits(sql: Tx['sql']) {
  return sql`j.state < 'active' and not j.blocked`
}

function ofProject(sql: Tx['sql']) {
  return sql`j.data ->> 'project_id'`
}

/** The same in a function, so that the plan takes no index of waiting jobs, but that of ids. */
function waitsById(sql: Tx['sql']) {
  return sql`coalesce(j.state < 'active' and not j.blocked and j.start_after <= pgboss.job_now(), false)`
}

/** What a claim does with the jobs that it has taken. */
function moved(sql: Tx['sql'], queue: string): claims.ClaimingJobs['moved'] {
  return sql`
    activated as (
      update pgboss.job j set state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now(),
        retry_count = case when started_on is not null then retry_count + 1 else retry_count end
      where j.name = ${queue} and j.id = any(array(select job_id from claimed))
    ),
    discarded as (
      delete from pgboss.job j where j.name = ${queue} and j.id = any(array(select job_id from taken except select job_id from claimed))
    )`
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
      return sql`queued as (${insertGranted(sql)})`
    },
    claiming(sql, queue, limit, depth, shares, condition = sql`true`) {
      // What pg-boss's own fetch does with such jobs, but for the order; a test compares them. Limits are literals, because the plan for an unknown
      // limit expects a tenth of the queue.
      const literal = (count: number) => sql.unsafe(String(Math.trunc(count)))
      const isWaiting = sql`j.name = ${queue} and ${waits(sql)}`
      const order = sql`${ofProject(sql)}, j.priority desc, j.created_on`
      const head = sql`${ofProject(sql)} as project_id, j.priority, j.created_on`
      return {
        // One look into the index by project for each project that waits, however many jobs it has. The first `limit` jobs are of no more projects than that.
        taken: sql`
          waiting as (
            (select ${head} from pgboss.job j where ${isWaiting} order by ${order} limit 1)
            union all
            select following.* from waiting w cross join lateral (
              select ${head} from pgboss.job j where ${isWaiting} and ${ofProject(sql)} > w.project_id order by ${order} limit 1
            ) as following
          ),
          next_projects as (
            select w.project_id, coalesce(s.lead, 0) as lead, coalesce(s.step, 1) as step
            from waiting w left join unnest(
              ${shares.map(({ projectId }) => projectId)}::text[], ${shares.map(({ lead }) => lead)}::float8[], ${shares.map(({ step }) => step)}::float8[]
            ) as s(project_id, lead, step) on s.project_id = w.project_id
            order by coalesce(s.lead, 0), w.priority desc, w.created_on limit ${literal(depth)}
          ),
          candidates as (
            select c.*, p.lead + (c.place - 1) * p.step as turn
            from next_projects p
            cross join lateral (
              select j.id, j.priority, j.created_on, row_number() over (order by j.priority desc, j.created_on) as place from pgboss.job j
              where ${isWaiting} and ${ofProject(sql)} = p.project_id
              order by j.priority desc, j.created_on limit ${literal(depth)}
            ) as c
          ),
          taken as materialized (
            select locked.id as job_id, locked.subtask_id
            from (select * from candidates where ${condition} order by turn, priority desc, created_on) as c
            cross join lateral (
              select j.id, (j.data ->> 'id')::uuid as subtask_id from pgboss.job j
              where j.name = ${queue} and j.id = c.id
                and ${waitsById(sql)}
              limit 1 for update of j skip locked
            ) as locked
            limit ${literal(limit)}
          )`,
        isCut: sql`(select count(*) from candidates) >= ${literal(depth)}`,
        moved: moved(sql, queue),
      }
    },
    claimingOf(sql, queue, subtaskIds, condition = sql`true`) {
      return {
        taken: sql`
          taken as materialized (
            select j.id as job_id, (j.data ->> 'id')::uuid as subtask_id from pgboss.job j
            where j.name = ${queue}
              and j.id = any(array(select job_id from subtasks where id = any(${subtaskIds as string[]}::uuid[]) and status = 'pending'))
              and ${waitsById(sql)} and ${condition}
            for update of j skip locked
          )`,
        isCut: sql`false`,
        moved: moved(sql, queue),
      }
    },
    async findWaitingQueues(sql, queues) {
      const rows = await sql<{ name: string }[]>`
        select q.name from unnest(${queues as string[]}::text[]) with ordinality as q(name, place)
        -- The first by our index. Any one, or a condition, would be looked for among all jobs.
        cross join lateral (
          select from pgboss.job j where j.name = q.name and ${waits(sql)} order by ${ofProject(sql)}, j.priority desc, j.created_on limit 1
        ) as waiting order by q.place`
      return rows.map(({ name }) => name)
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
