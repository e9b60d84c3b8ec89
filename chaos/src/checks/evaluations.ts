import { isPoor } from '../load/outputs.ts'
import { checkRows, type Evidence } from './check.ts'

/** Every result was judged once, in the commit that made it one; what was poor was sent back as often as was asked for, in one chain. */
export async function checkEvaluations(evidence: Evidence): Promise<void> {
  const { admin, findings } = evidence
  const all = admin`select count(*) from evaluations`
  await checkRows(
    evidence,
    'a completed subtask has exactly one evaluation without a judge, and any other none',
    admin`select count(*) from subtasks`,
    admin`
      select s.id, s.status, count(e.id) from subtasks s left join evaluations e on e.subtask_id = s.id and not e.is_judged
      group by s.id having count(e.id) <> (s.status = 'completed')::int`,
  )
  await checkRows(
    evidence,
    'an evaluation has exactly one event in the log',
    all,
    admin`
      select e.id, count(l.seq) from evaluations e left join events l on l.subject_id = e.id and l.type = 'evaluation.created'
      group by e.project_id, e.id having count(l.seq) <> 1`,
  )
  const judged = await admin<{ subtask_id: string; recommendation: string; has_criteria: boolean }[]>`
    select e.subtask_id, e.recommendation, exists (select from jsonb_array_elements(e.detail -> 'criteria') c where c ->> 'id' not like 'output:%') as has_criteria
    from evaluations e join subtasks s on s.id = e.subtask_id where s.runner in ('steered', 'quick', 'external') and not e.is_judged`
  findings.none(
    'what its maker calls poor is to be revised, and without criteria nothing else is',
    judged.length,
    judged
      .filter(({ subtask_id, recommendation, has_criteria }) =>
        isPoor(subtask_id) ? recommendation !== 'request_revision' : !has_criteria && recommendation === 'request_revision',
      )
      .map((row) => `${row.subtask_id}: ${row.recommendation}`),
  )
  await checkRows(
    evidence,
    'an approval has every required criterion met',
    all,
    admin`
      select e.id, e.score from evaluations e where e.recommendation = 'approve' and e.origin <> 'review'
        and exists (select from jsonb_array_elements(e.detail -> 'criteria') c where (c -> 'required')::boolean and c ->> 'verdict' <> 'met')`,
  )
  await checkRows(
    evidence,
    'a result was sent back at most as often as was asked for, each revision round once and after the one before it had a poor result',
    admin`select count(*) from subtasks where revision_of is not null`,
    admin`
      select s.id, s.revision_of, s.revision_round, s.max_revisions, before.status, before.revision_round as revision_round_before, e.recommendation
      from subtasks s left join subtasks before on before.id = s.revision_of left join lateral (
        select recommendation from evaluations where subtask_id = before.id and (not is_judged or detail -> 'scored' is not null) order by is_judged desc limit 1
      ) as e on true
      where s.revision_of is not null and (
        before.id is null or before.status <> 'completed' or e.recommendation is distinct from 'request_revision' or s.revision_round <> before.revision_round + 1
        or s.revision_round > s.max_revisions or s.max_revisions <> before.max_revisions or s.task_id is distinct from before.task_id
        or s.parent_session_id is distinct from before.parent_session_id or s.agent_id <> before.agent_id
        or exists (select from subtasks twin where twin.revision_of = s.revision_of and twin.id <> s.id))`,
  )
  await checkRows(
    evidence,
    'the end of a result that was sent back says by which subtask it is revised, or that its checks decide that, and no other end does',
    admin`select count(*) from subtasks`,
    admin`
      select s.id, s.status, l.data ->> 'revised_by' as announced, later.id as revised_by from subtasks s
      left join subtasks later on later.revision_of = s.id
      left join events l on l.subject_id = s.id and l.type in ('subtask.completed', 'subtask.failed', 'subtask.cancelled')
      where l.data ->> 'revised_by' is distinct from case when l.data ->> 'awaits_checks' = 'true' then null else later.id::text end`,
  )
}
