// SQL: workers claim checks of all projects with one statement, without a transaction, which Drizzle's connection does not offer.
import type { Database } from '../../client.ts'

/** A check that a worker holds. */
export interface HeldCheck {
  projectId: string
  id: string
  taskId: string
  checkName: string
  /** Null: any data folder may have the folder of the task. */
  place: string | null
  /** The number of the try, from 1. It fences: an earlier try changes nothing. */
  tries: number
}

type Sql = Database['sql']

/**
 * Takes checks that wait, and those whose worker let its lease expire. Of the checks of one task in one place only the oldest is taken, because
 * they work in the same folder.
 *
 * @param from the worker and its data folder
 */
export async function claimChecks(sql: Sql, from: { workerId: string; place: string; leaseSeconds: number; limit: number }): Promise<HeldCheck[]> {
  return await sql<HeldCheck[]>`
    with moment as materialized (select muster_now() as now),
    candidates as (
      select c.id from check_runs c, moment
      where (c.status = 'pending' and c.due_at <= moment.now or c.status = 'running' and c.lease_expires_at < moment.now)
        and (c.place is null or c.place = ${from.place})
        and not exists (
          select from check_runs o where o.task_id = c.task_id and o.id < c.id and o.status in ('pending', 'running') and (o.place is null or o.place = ${from.place}))
      order by c.id limit ${from.limit} for update of c skip locked
    )
    update check_runs c set status = 'running', tries = c.tries + 1, worker_id = ${from.workerId}, started_at = moment.now,
      lease_expires_at = moment.now + ${from.leaseSeconds} * interval '1 second'
    from candidates, moment where c.id = candidates.id
    returning c.project_id as "projectId", c.id, c.task_id as "taskId", c.check_name as "checkName", c.place, c.tries`
}

/** Renews the leases of these checks. Returns those that are still held. */
export async function renewChecks(
  sql: Sql,
  held: readonly Pick<HeldCheck, 'id' | 'tries'>[],
  leaseSeconds: number,
): Promise<Pick<HeldCheck, 'id' | 'tries'>[]> {
  return await sql<Pick<HeldCheck, 'id' | 'tries'>[]>`
    update check_runs c set lease_expires_at = muster_now() + ${leaseSeconds} * interval '1 second'
    from unnest(${held.map(({ id }) => id)}::uuid[], ${held.map(({ tries }) => tries)}::int[]) as h(id, tries)
    where c.id = h.id and c.tries = h.tries and c.status = 'running'
    returning c.id, c.tries`
}

/** Gives a check back to the queue, due after some seconds. The try does not count. */
export async function releaseCheck(sql: Sql, { id, tries }: Pick<HeldCheck, 'id' | 'tries'>, waitSeconds: number): Promise<void> {
  await sql`
    update check_runs set status = 'pending', tries = tries - 1, worker_id = null, lease_expires_at = null, started_at = null,
      due_at = muster_now() + ${waitSeconds} * interval '1 second'
    where id = ${id} and tries = ${tries} and status = 'running'`
}

/**
 * Checks that have waited for long where no worker takes any: a worker that is only busy renews the lease of another one of its place.
 *
 * @param waitedSeconds since they were due
 */
export async function findAbandonedChecks(sql: Sql, waitedSeconds: number, limit: number): Promise<HeldCheck[]> {
  return await sql<HeldCheck[]>`
    select c.project_id as "projectId", c.id, c.task_id as "taskId", c.check_name as "checkName", c.place, c.tries
    from check_runs c
    where c.status = 'pending' and c.due_at < (select muster_now()) - ${waitedSeconds} * interval '1 second'
      and not exists (select from check_runs o where o.status = 'running' and o.lease_expires_at > (select muster_now()) and (c.place is null or o.place = c.place))
    order by c.id limit ${limit}`
}
