import { invariants } from '@muster/testing/invariants'
import { runningLimit, SERVER_LIMITS } from '../tenants.ts'
import { checkRows, type Evidence } from './check.ts'

/** How many ran at once in every lane, told from the log alone: once by the events' times and once by their places. */
export async function checkLimits({ admin, findings }: Evidence): Promise<void> {
  // Of what ends at the very millisecond at which something else starts, the end comes first: places in the log tell better, below.
  for (const { name, order, left } of [
    { name: 'times', order: 'at, change, seq', left: 'chaos.is_repeated(at)' },
    { name: 'places', order: 'seq', left: 'false' },
  ]) {
    const rows = await admin<{ project_id: string; agent_id: string; most: number }[]>`
      select project_id, agent_id, max(running)::int as most from (
        select project_id, agent_id, at, sum(change) over (partition by project_id, agent_id order by ${admin.unsafe(order)} rows unbounded preceding) as running
        from (
          select e.project_id, s.agent_id, e.at, e.seq, case when e.type = 'subtask.started' then 1 else -1 end as change
          from events e join subtasks s on s.id = e.subject_id
          where e.type = 'subtask.started'
            -- A subtask that is cancelled while it waits ends without an attempt.
            or (e.type in ('subtask.completed', 'subtask.failed', 'subtask.cancelled', 'subtask.retrying', 'subtask.released', 'subtask.waiting') and e.data ? 'attempt')
        ) as moves
      ) as moments where not ${admin.unsafe(left)} group by project_id, agent_id`
    findings.none(
      `running limits hold at every instant, by the ${name} of the log's events`,
      rows.length,
      rows
        .filter((row) => row.most > runningLimit(row.agent_id))
        .map((row) => `${row.project_id}/${row.agent_id}: ${row.most} at once, limit ${runningLimit(row.agent_id)}`),
    )
  }
}

/** Nothing is on its way any more: no jobs, no events, no rows of what has ended. */
export async function checkQueue(evidence: Evidence): Promise<void> {
  const { admin, findings } = evidence
  findings.none('the invariants hold when all is at rest', 1, await invariants(admin, { runningPerAgent: SERVER_LIMITS.running }))
  await checkRows(
    evidence,
    'no queue holds a job that waits or is active',
    admin`select count(*) from pgboss.queue`,
    admin`select name, id, state, data from pgboss.job where state < 'completed'`,
  )
  await checkRows(
    evidence,
    'every event has reached the log',
    admin`select count(*) from events`,
    admin`select id, type, subject_id from muster_system.waiting_events`,
  )
}
