// SQL: budgets are counted under the lock of the project, by ranges of indexes.
import type { BudgetLimits, BudgetUse } from '@muster/domain'
import type { Tx } from '../../client.ts'

type Sql = Tx['sql']
type Fragment = ReturnType<Sql>

/** What budgets are decided by. */
export interface BudgetFacts {
  limits: BudgetLimits
  /** Whether `addSpentDays` has something to add. */
  isBehind: boolean
  project: BudgetUse
  /** Only agents that have used or reserved something. */
  agents: Map<string, BudgetUse>
  now: Date
  /** The end of the day in UTC. */
  resetsAt: Date
}

interface Sums {
  day_tokens: number
  day_cost: number
  total_tokens: number
  total_cost: number
  reserved_tokens: number
  reserved_cost: number
}

/**
 * What ended rows have used: one that reported tokens and no cost counts with the whole budget in dollars that it had.
 *
 * @param from inclusive @param to exclusive
 */
const ended = (sql: Sql, projectId: string, from: Fragment, to: Fragment) => sql`
      select s.agent_id, s.completed_at as at, s.input_tokens + s.output_tokens as tokens,
        case when s.cost_micros > 0 or s.input_tokens + s.output_tokens = 0 then s.cost_micros else coalesce(s.budget_max_cost_micros, 0) end as cost
      from subtasks s where s.project_id = ${projectId} and s.completed_at >= ${from} and s.completed_at < ${to}
      union all
      select s.agent_id, j.ended_at, j.input_tokens + j.output_tokens, j.cost_micros
      from judgements j
      join evaluations v on v.project_id = j.project_id and v.id = j.evaluation_id
      left join subtasks s on s.id = v.subtask_id
      where j.project_id = ${projectId} and j.ended_at >= ${from} and j.ended_at < ${to}`

/**
 * Adds the days that are over to `spent_totals`. Two at once add them once: the second waits for the row of the project, and finds it done. A day counts as
 * over an hour after its end, by when every transaction that ended a run in it has ended too. Before ended subtasks or judgements are deleted, this has to run.
 */
export async function addSpentDays(tx: Tx, projectId: string): Promise<void> {
  const [span] = await tx.sql<{ from: string; to: string }[]>`
    select coalesce(spent_through, '-infinity')::text as from, ${OVER(tx.sql)}::text as to from projects where id = ${projectId} for update`
  if (span === undefined || span.from === span.to) return
  await tx.sql`
    insert into spent_totals (project_id, agent_id, tokens, cost_micros)
    select ${projectId}, coalesce(agent_id, ''), sum(tokens), sum(cost)
    from (${ended(tx.sql, projectId, tx.sql`${span.from}::timestamptz`, tx.sql`${span.to}::timestamptz`)}) as e
    group by coalesce(agent_id, '') having sum(tokens) > 0 or sum(cost) > 0
    on conflict (project_id, agent_id)
      do update set tokens = spent_totals.tokens + excluded.tokens, cost_micros = spent_totals.cost_micros + excluded.cost_micros`
  await tx.sql`update projects set spent_through = ${span.to}::timestamptz where id = ${projectId}`
}

/** The end of the last day that is over. */
const OVER = (sql: Sql) => sql`date_trunc('day', (muster_now() - interval '1 hour') at time zone 'UTC') at time zone 'UTC'`

/**
 * Reads what a project and these agents have used, and what their subtasks that have not ended reserve. Derived from the rows, so that no crash can
 * leave a reservation behind. The project must be locked by `lockProjectLanes`: then nothing is reserved meanwhile. All time is read only where a
 * budget is for all time.
 *
 * A subtask without an end reserves its own budget, or what it has used if that is more. A judgement without an end reserves what its tries have used,
 * and the most that the one under way may use. A subtask that has ended has used what it reported; if it reported
 * tokens and no cost, its cost counts as the whole budget in dollars that it had.
 */
export async function readBudgetFacts(tx: Tx, projectId: string, agentIds: readonly string[]): Promise<BudgetFacts> {
  const since: Fragment = tx.sql`(select since from moment)`
  const rows = await tx.sql<({ agent_id: string | null; limits: BudgetLimits | null; is_behind: boolean; now: string; resets_at: string } & Sums)[]>`
    with clock as materialized (select muster_now() as now),
    moment as materialized (
      select now, day, limits, counts_all, counts_all and spent_through is distinct from ${OVER(tx.sql)} as is_behind, case when counts_all then coalesce(spent_through, '-infinity') else day end as since
      from clock cross join lateral (select date_trunc('day', now at time zone 'UTC') at time zone 'UTC' as day) as today
      cross join (select settings -> 'limits' as limits, spent_through, ${countsAll(tx.sql)} as counts_all from projects p where id = ${projectId}) as own
    ),
    used as (
      select agent_id, at >= (select day from moment) as is_today, tokens, cost from (${ended(tx.sql, projectId, since, tx.sql`'infinity'`)}) as e
      union all
      select nullif(agent_id, ''), false, tokens, cost_micros from spent_totals where project_id = ${projectId} and (select counts_all from moment)
    ),
    held as (
      select s.agent_id, greatest(coalesce(s.budget_max_tokens, 0), s.input_tokens + s.output_tokens) as tokens,
        greatest(coalesce(s.budget_max_cost_micros, 0), s.cost_micros) as cost
      from subtasks s where s.project_id = ${projectId} and s.status = any('{pending,running,waiting}')
      union all
      select s.agent_id, j.input_tokens + j.output_tokens + j.reserved_tokens, j.cost_micros + j.reserved_cost_micros
      from judgements j
      join evaluations v on v.project_id = j.project_id and v.id = j.evaluation_id
      left join subtasks s on s.id = v.subtask_id
      where j.project_id = ${projectId} and j.status = 'pending'
    ),
    counted as (
      select agent_id, sum(tokens) filter (where is_today) as day_tokens, sum(cost) filter (where is_today) as day_cost, sum(tokens) as total_tokens,
        sum(cost) as total_cost, 0 as reserved_tokens, 0 as reserved_cost
      from used group by agent_id
      union all
      select agent_id, 0, 0, 0, 0, sum(tokens), sum(cost) from held group by agent_id
    ),
    summed as (
      select grouping(agent_id) = 1 as is_project, agent_id, coalesce(sum(day_tokens), 0)::bigint as day_tokens, coalesce(sum(day_cost), 0)::bigint as day_cost,
        coalesce(sum(total_tokens), 0)::bigint as total_tokens, coalesce(sum(total_cost), 0)::bigint as total_cost,
        coalesce(sum(reserved_tokens), 0)::bigint as reserved_tokens, coalesce(sum(reserved_cost), 0)::bigint as reserved_cost
      from counted group by grouping sets ((), (agent_id))
    )
    select s.*, m.limits, m.is_behind, m.now, m.day + interval '1 day' as resets_at
    from summed s cross join moment m where s.is_project or s.agent_id = any(${agentIds as string[]}::text[])
    order by s.is_project desc`
  const [whole, ...ofAgents] = rows
  if (whole === undefined) throw new Error(`project ${projectId} is not there`)
  return {
    limits: whole.limits ?? {},
    isBehind: whole.is_behind,
    project: toUse(whole),
    agents: new Map(ofAgents.map((row) => [row.agent_id as string, toUse(row)])),
    now: new Date(whole.now),
    resetsAt: new Date(whole.resets_at),
  }
}

/** Whether the project or one of its agents has a budget for all time. */
const countsAll = (sql: Sql) => sql`(p.settings @? '$.limits.budget.**.total' or p.settings @? '$.limits.agents.*.budget.total')`

function toUse(row: Sums): BudgetUse {
  return {
    day: { tokens: row.day_tokens, costMicros: row.day_cost },
    total: { tokens: row.total_tokens, costMicros: row.total_cost },
    reserved: { tokens: row.reserved_tokens, costMicros: row.reserved_cost },
  }
}

/** What the subtasks and the judgements of a locked task have used, and what those that have not ended reserve. As in `readBudgetFacts`. */
export async function readTaskUse(tx: Tx, projectId: string, taskId: string): Promise<BudgetUse> {
  const [row] = await tx.sql<Sums[]>`
    with own as (
      select s.completed_at is not null as is_ended, s.input_tokens + s.output_tokens as tokens, s.cost_micros as cost, s.budget_max_tokens as tokens_max,
        s.budget_max_cost_micros as cost_max
      from subtasks s where s.project_id = ${projectId} and s.task_id = ${taskId}
    ),
    judged as (
      select j.status = 'pending' as is_pending, j.input_tokens + j.output_tokens + j.reserved_tokens as tokens, j.cost_micros + j.reserved_cost_micros as cost
      from evaluations v join judgements j on j.project_id = v.project_id and j.evaluation_id = v.id
      where v.project_id = ${projectId} and v.task_id = ${taskId}
    ),
    summed as (
      select coalesce(sum(tokens) filter (where is_ended), 0) as tokens,
        coalesce(sum(case when cost > 0 or tokens = 0 then cost else coalesce(cost_max, 0) end) filter (where is_ended), 0) as cost,
        coalesce(sum(greatest(coalesce(tokens_max, 0), tokens)) filter (where not is_ended), 0) as reserved_tokens,
        coalesce(sum(greatest(coalesce(cost_max, 0), cost)) filter (where not is_ended), 0) as reserved_cost
      from own
    )
    select 0 as day_tokens, 0 as day_cost, (o.tokens + j.tokens)::bigint as total_tokens, (o.cost + j.cost)::bigint as total_cost,
      (o.reserved_tokens + j.reserved_tokens)::bigint as reserved_tokens, (o.reserved_cost + j.reserved_cost)::bigint as reserved_cost
    from summed o cross join (
      select coalesce(sum(tokens) filter (where not is_pending), 0) as tokens, coalesce(sum(cost) filter (where not is_pending), 0) as cost,
        coalesce(sum(tokens) filter (where is_pending), 0) as reserved_tokens, coalesce(sum(cost) filter (where is_pending), 0) as reserved_cost
      from judged
    ) j`
  return toUse(row as Sums)
}
