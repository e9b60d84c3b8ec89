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
    claim: 'the evaluation of a judge adds to one without, of the same output and with the same score',
    find: (sql) => sql`
      select format('%s of %s', e.id, coalesce(e.judge_of::text, 'none')) as broken
      from evaluations e left join evaluations o on o.project_id = e.project_id and o.id = e.judge_of
      where e.is_judged and (o.id is null or o.is_judged or (o.origin, o.subtask_id, o.message_id, o.task_id, o.score) is distinct from
        (e.origin, e.subtask_id, e.message_id, e.task_id, e.score))`,
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
        left join evaluations e on e.project_id = p.project_id and e.subtask_id = p.id and not e.is_judged
        cross join lateral (select count(*) from subtasks o where o.revision_of = p.id) as n
      where p.status <> 'completed' or e.recommendation is distinct from 'request_revision' or n.count <> 1`,
  },
  {
    claim: 'the rounds of a chain are asked for in the same way',
    find: (sql) => sql`
      select s.id::text as broken from subtasks s join subtasks p on p.id = s.revision_of
      where (s.project_id, s.agent_id, s.parent_session_id, s.task, s.task_id, s.subagent_name, s.subagent_version, s.background, s.priority, s.runner, s.model,
          s.timeout_seconds, s.max_attempts, s.budget_max_steps, s.budget_max_tokens, s.budget_max_cost_micros, s.notify, s.required_outputs, s.metadata, s.max_revisions)
        is distinct from (p.project_id, p.agent_id, p.parent_session_id, p.task, p.task_id, p.subagent_name, p.subagent_version, p.background, p.priority, p.runner, p.model,
          p.timeout_seconds, p.max_attempts, p.budget_max_steps, p.budget_max_tokens, p.budget_max_cost_micros, p.notify, p.required_outputs, p.metadata, p.max_revisions)`,
  },
  {
    claim: 'the end of a round that another one follows says which',
    find: (sql) => sql`
      select format('%s says %s of %s', s.revision_of, coalesce(e.data ->> 'revised_by', 'nothing'), s.id) as broken
      from subtasks s left join (
        select subject_id, data from events where type = 'subtask.completed' union all select subject_id, data from outbox where type = 'subtask.completed'
      ) as e on e.subject_id = s.revision_of
      where s.revision_of is not null and e.data ->> 'revised_by' is distinct from s.id::text`,
  },
]

/** What must hold of evaluations, and of chains of subtasks in which each goes on from a poor one. */
export const EVALUATIONS: readonly Check[] = [...RESULTS, ...CHAINS]
