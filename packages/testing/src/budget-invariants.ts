import type { Check } from './check.ts'

/**
 * Subtasks of projects and agents with a budget in tokens or dollars, with what each of them has taken of it: its reservation while it has not ended,
 * then what it used of that. A run may use a little more than its reservation, with its last call of a model; that is not the fault of the budget.
 */
const TAKEN = `
  select p.id as project_id, s.agent_id, s.completed_at, unit, amount
  from projects p join subtasks s on s.project_id = p.id
  cross join lateral (values
    ('tokens', case when s.completed_at is null then s.budget_max_tokens else least(s.budget_max_tokens, s.input_tokens + s.output_tokens) end),
    ('cost_usd', case when s.completed_at is null then s.budget_max_cost_micros else least(s.budget_max_cost_micros, s.cost_micros) end)
  ) as taken(unit, amount)
  where amount is not null`

const LIMITS = `
  select p.id as project_id, null as agent_id, w as time_window, l.key as unit, l.value::numeric as amount_max
  from projects p cross join unnest(array['day', 'total']) as w cross join lateral jsonb_each_text(p.settings #> array['limits', 'budget', w]) as l
  union all
  select p.id, a.agent_id, w, l.key, l.value::numeric
  from projects p join (select distinct project_id, agent_id from subtasks) as a on a.project_id = p.id cross join unnest(array['day', 'total']) as w
  cross join lateral jsonb_each_text(
    coalesce(p.settings #> array['limits', 'agents', a.agent_id, 'budget'], p.settings #> '{limits,budget,per_agent}') -> w) as l`

export const BUDGETS: Check[] = [
  {
    claim: 'no budget is exceeded by what its subtasks have reserved and used of that',
    find: (sql, { limitsHaveChanged }) =>
      limitsHaveChanged
        ? Promise.resolve([])
        : sql`
            select format('%s/%s has %s of %s %s (%s)', l.project_id, coalesce(l.agent_id, '*'), sum(t.amount), l.amount_max, l.unit, l.time_window) as broken
            from (${sql.unsafe(LIMITS)}) as l join (${sql.unsafe(TAKEN)}) as t on t.project_id = l.project_id and t.unit = l.unit
              and (l.agent_id is null or t.agent_id = l.agent_id)
              and (l.time_window = 'total' or t.completed_at is null or t.completed_at >= date_trunc('day', muster_now() at time zone 'UTC') at time zone 'UTC')
            group by l.project_id, l.agent_id, l.time_window, l.unit, l.amount_max
            having sum(t.amount) > l.amount_max * case when l.unit = 'cost_usd' then 1000000 else 1 end`,
  },
]
