import { announced, type Check } from './check.ts'

const RESULTS: Check[] = [
  {
    claim: 'a completed subtask has exactly one evaluation without a judge, and no other subtask has one',
    find: (sql) => sql`
      select format('%s %s has %s', s.status, s.id, count(e.id)) as broken
      from subtasks s left join evaluations e on e.project_id = s.project_id and e.subtask_id = s.id and not e.is_judged
      group by s.id
      having count(e.id) <> (s.status = 'completed')::int`,
  },
  {
    claim: 'the evaluation of a result names the revision that was delivered to its run, and a run without a brief has none',
    find: (sql) => sql`
      select format('%s says %s, its subtask %s', e.id, coalesce(e.criteria_revision::text, 'none'), coalesce(s.task_revision::text, 'none')) as broken
      from evaluations e join subtasks s on s.id = e.subtask_id
      where not e.is_judged and e.criteria_revision is distinct from s.task_revision`,
  },
  {
    claim: 'the evaluation of a judge or of checks adds to one without, of the same output, and only checks change the score',
    find: (sql) => sql`
      select format('%s of %s', e.id, coalesce(e.judge_of::text, 'none')) as broken
      from evaluations e left join evaluations o on o.project_id = e.project_id and o.id = e.judge_of
      where e.is_judged and (o.id is null or o.is_judged or (o.origin, o.subtask_id, o.message_id, o.task_id) is distinct from
        (e.origin, e.subtask_id, e.message_id, e.task_id) or o.score is distinct from e.score and o.detail -> 'scored' is null)`,
  },
  {
    claim: 'an evaluation was announced exactly once',
    find: (sql) => sql`
      select format('%s: %s announced', e.id, count(a.type)) as broken
      from evaluations e left join (${announced(sql, 'evaluation')}) as a on a.subject_id = e.id and a.type = 'evaluation.created'
      group by e.id
      having count(a.type) <> 1`,
  },
]

const CHECK_RUNS: Check[] = [
  {
    claim: 'a submission whose checks have all ended has the evaluation with their verdicts, or waits for its judge',
    find: (sql) => sql`
      select format('batch %s of evaluation %s', c.batch_id, c.evaluation_id) as broken
      from check_runs c where c.evaluation_id is not null
      group by c.project_id, c.batch_id, c.evaluation_id
      having count(*) filter (where c.ended_at is null) = 0
        and not exists (select from evaluations e where e.project_id = c.project_id and e.judge_of = c.evaluation_id)
        and not exists (select from judgements j where j.project_id = c.project_id and j.evaluation_id = c.evaluation_id)`,
  },
  {
    claim: 'the end of a check was announced exactly once, and with the status that it has',
    find: (sql) => sql`
      select format('%s (%s): %s announced', c.id, c.status, count(e.data)) as broken
      from check_runs c left join (
        select data from events where type = 'check.completed' union all select data from muster_system.waiting_events where type = 'check.completed'
      ) as e on e.data ->> 'check_run_id' = c.id::text and e.data ->> 'status' = c.status
      group by c.id
      having count(e.data) <> (c.ended_at is not null)::int`,
  },
  {
    claim: 'no task with review auto was completed while checks of its submission ran',
    find: (sql) => sql`
      select t.id::text as broken from tasks t join check_runs c on c.task_id = t.id join evaluations e on e.id = c.evaluation_id and e.project_id = c.project_id
      where t.status = 'completed' and t.review = 'auto' and c.ended_at is null and t.completed_at >= c.created_at
        and exists (select from events v where v.subject_id = t.id and v.type = 'task.completed' and v.actor_id in ('evaluation', 'checks'))`,
  },
  {
    claim: 'the oldest open check of a task in one place is the only one that runs',
    find: (sql) => sql`
      select format('%s of task %s', c.id, c.task_id) as broken from check_runs c
      where c.status = 'running' and exists (
        select from check_runs o where o.task_id = c.task_id and o.id < c.id and o.status in ('pending', 'running') and o.place is not distinct from c.place)`,
  },
]

const CHAINS: Check[] = [
  {
    claim: 'the rounds of a chain are numbered without gaps, and are no more than it may have',
    find: (sql) => sql`
      select format('%s is round %s of %s, after %s', s.id, s.revision_round, s.max_revisions, coalesce(p.revision_round::text, 'none')) as broken
      from subtasks s left join subtasks p on p.id = s.revision_of and p.project_id = s.project_id
      where s.revision_round > s.max_revisions or s.revision_round is distinct from coalesce(p.revision_round + 1, 0) or (s.revision_of is null) <> (p.id is null)`,
  },
  {
    // And so at most one of a chain has not ended.
    claim: 'a round follows a completed one, of which the evaluation asks for it, and is the only one that follows it',
    find: (sql) => sql`
      select format('%s follows %s %s (%s), as one of %s', s.id, p.status, p.id, coalesce(e.recommendation, 'not evaluated'), n.count) as broken
      from subtasks s join subtasks p on p.id = s.revision_of
        left join lateral (
          select recommendation from evaluations where project_id = p.project_id and subtask_id = p.id
            and (not is_judged or detail -> 'scored' is not null) order by is_judged desc limit 1
        ) as e on true
        cross join lateral (select count(*) from subtasks o where o.revision_of = p.id) as n
      where p.status <> 'completed' or e.recommendation is distinct from 'request_revision' or n.count <> 1`,
  },
  {
    claim: 'the rounds of a chain are asked for in the same way',
    find: (sql) => sql`
      select s.id::text as broken from subtasks s join subtasks p on p.id = s.revision_of
      where (s.project_id, s.agent_id, s.parent_session_id, s.task, s.task_id, s.subagent_name, s.subagent_version, s.background, s.priority, s.runner, s.model,
          s.timeout_seconds, s.max_attempts, s.budget_max_steps, s.notify, s.required_outputs, s.metadata, s.max_revisions)
        is distinct from (p.project_id, p.agent_id, p.parent_session_id, p.task, p.task_id, p.subagent_name, p.subagent_version, p.background, p.priority, p.runner, p.model,
          p.timeout_seconds, p.max_attempts, p.budget_max_steps, p.notify, p.required_outputs, p.metadata, p.max_revisions)
        -- Less where they share a budget.
        or s.budget_max_tokens > p.budget_max_tokens or (s.budget_max_tokens is null) <> (p.budget_max_tokens is null)
        or s.budget_max_cost_micros > p.budget_max_cost_micros or (s.budget_max_cost_micros is null) <> (p.budget_max_cost_micros is null)`,
  },
  {
    claim: 'the end of a round that another one follows says which; where checks decided it after that end, their evaluation does',
    find: (sql) => sql`
      select format('%s says %s of %s', s.revision_of, coalesce(e.data ->> 'revised_by', 'nothing'), s.id) as broken
      from subtasks s left join (
        select subject_id, data from events where type = 'subtask.completed' union all select subject_id, data from muster_system.waiting_events where type = 'subtask.completed'
      ) as e on e.subject_id = s.revision_of
      where s.revision_of is not null and e.data ->> 'revised_by' is distinct from s.id::text
        and not (e.data ->> 'awaits_checks' = 'true' and exists (
          select from events v where v.type = 'evaluation.created' and v.data ->> 'subtask_id' = s.revision_of::text and v.data ->> 'revised_by' = s.id::text
          union all
          select from muster_system.waiting_events v where v.type = 'evaluation.created' and v.data ->> 'subtask_id' = s.revision_of::text and v.data ->> 'revised_by' = s.id::text))`,
  },
]

/** What must hold of evaluations, and of chains of subtasks in which each goes on from a poor one. */
export const EVALUATIONS: readonly Check[] = [...RESULTS, ...CHECK_RUNS, ...CHAINS]
