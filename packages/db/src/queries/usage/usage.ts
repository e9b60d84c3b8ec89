// SQL: usage is summed by grouping sets over attempts and judgements.
import { JUDGE_RUNNER, type UsageGrouping, type UsagePart } from '@muster/domain'
import { pipeline, type Tx } from '../../client.ts'
import { planForValues } from '../core/lists.ts'

/** Usage of a range of time, in parts that can be priced. */
export interface UsageParts {
  total: UsagePart[]
  /** Without their parts in `total`. In the order in which groups are to be shown. */
  groups: { key: string | null; parts: UsagePart[] }[]
  /** Whether there are more groups than were returned. */
  isCut: boolean
}

type Row = { is_total: boolean; place: number; keys: number } & UsagePart

/**
 * Sums what subtasks that ended within a time have used, with all their attempts, and the judgements that ended within it. Each attempt counts once: a
 * subtask is counted with its last one. Days are newest first, other groups those with most tokens first, `groupsMax` at most.
 */
export async function readUsage(tx: Tx, projectId: string, by: UsageGrouping, since: Date, until: Date, groupsMax: number): Promise<UsageParts> {
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.sql<Row[]>`
      with ended as materialized (
        select s.id, s.agent_id, s.task_id, s.runner, s.model, s.attempt, s.completed_at
        from subtasks s
        where s.project_id = ${projectId} and s.completed_at >= ${since.toISOString()} and s.completed_at < ${until.toISOString()}
      ),
      used as (
        select case ${by}
            when 'day' then to_char(e.completed_at at time zone 'UTC', 'YYYY-MM-DD') when 'project' then ${projectId} when 'agent' then e.agent_id
            when 'task' then e.task_id::text when 'model' then coalesce(a.model, e.model) else e.runner end as key,
          coalesce(a.model, e.model) as model, (a.attempt = e.attempt)::int as runs, 1 as attempts, 0 as judgements,
          a.input_tokens, a.cached_input_tokens, a.output_tokens, a.cost_micros,
          case when a.ended_at is null then 0 else greatest(0, extract(epoch from a.ended_at - a.started_at) * 1000 - a.lost_ms) end as duration_ms
        from ended e join attempts a on a.subtask_id = e.id
        union all
        select case ${by}
            when 'day' then to_char(j.ended_at at time zone 'UTC', 'YYYY-MM-DD') when 'project' then ${projectId} when 'agent' then s.agent_id
            when 'task' then v.task_id::text when 'model' then coalesce(j.used_model, j.model) else ${JUDGE_RUNNER} end,
          coalesce(j.used_model, j.model), 0, 0, 1, j.input_tokens, j.cached_input_tokens, j.output_tokens, j.cost_micros, 0
        from judgements j
        join evaluations v on v.project_id = j.project_id and v.id = j.evaluation_id
        left join subtasks s on s.id = v.subtask_id
        where j.project_id = ${projectId} and j.ended_at >= ${since.toISOString()} and j.ended_at < ${until.toISOString()}
      ),
      described as (
        select *, cost_micros > 0 as is_cost_reported, input_tokens + output_tokens > 0 as has_tokens from used
      ),
      summed as materialized (
        select grouping(key) = 1 as is_total, key, model, is_cost_reported, has_tokens, sum(runs) as runs, sum(attempts) as attempts,
          sum(judgements) as judgements, sum(input_tokens) as input_tokens, sum(cached_input_tokens) as cached_input_tokens,
          sum(output_tokens) as output_tokens, sum(cost_micros) as cost_micros, sum(duration_ms) as duration_ms
        from described
        group by grouping sets ((model, is_cost_reported, has_tokens), (key, model, is_cost_reported, has_tokens))
      ),
      ordered as materialized (
        select key, row_number() over (
            order by case when ${by} = 'day' then key end desc, sum(input_tokens + output_tokens) desc, sum(attempts) desc, key) as place,
          count(*) over () as keys
        from summed where not is_total group by key
      )
      select s.is_total, coalesce(o.place, 0)::int as place, coalesce(o.keys, 0)::int as keys, s.key, s.model, s.is_cost_reported as "isCostReported",
        s.has_tokens as "hasTokens", s.runs::int as runs, s.attempts::int as attempts, s.judgements::int as judgements,
        s.input_tokens::bigint as "inputTokens", s.cached_input_tokens::bigint as "cachedInputTokens", s.output_tokens::bigint as "outputTokens",
        s.cost_micros::bigint as "costUsdMicros", round(s.duration_ms)::bigint as "durationMs"
      from summed s left join ordered o on not s.is_total and o.key is not distinct from s.key
      where s.is_total or o.place <= ${groupsMax}
      order by place`,
  ])
  const groups = Map.groupBy(
    rows.filter((row) => !row.is_total),
    (row) => row.place,
  )
  return {
    total: rows.filter((row) => row.is_total),
    groups: [...groups.values()].map((parts) => ({ key: parts[0]?.key ?? null, parts })),
    isCut: rows.some((row) => row.keys > groupsMax),
  }
}
