// SQL: verdicts are unfolded from jsonb, paired with what people say, and counted, in the database; only numbers and a few cases leave it.
import type { PersonVerdict, Quality, Recommendation, ReviewDecision, Verdict, VerdictMethod } from '@muster/domain'
import { pipeline, type Tx } from '../../client.ts'
import { planForValues } from '../core/lists.ts'

/** A part of a statement. */
type Fragment = ReturnType<Tx['sql']>

/** Verdicts beside what people say of the same. Each side either says "met" or not; where one does not say, the pair is undecided. */
export interface AgreementTally {
  bothMet: number
  /** The verdict says met, the person does not. */
  onlyVerdictMet: number
  /** The person says met, the verdict does not. */
  onlyPersonMet: number
  bothUnmet: number
  undecided: number
  /** How many of the first four are about a criterion that the person named. */
  named: number
}

/** `all` and `subagent`: outputs, by their recommendation. `criterion` and `method`: verdicts on criteria. */
export type AgreementPart = 'all' | 'subagent' | 'criterion' | 'method'

export interface AgreementGroup extends AgreementTally {
  part: AgreementPart
  /** The name of the sub-agent, the text of the criterion, or the method; null for all, and for outputs without a sub-agent. */
  key: string | null
  /** Outputs, including those of undecided pairs. */
  outputs: number
}

/** What a person said: of a criterion, of a submission, or of a task or subtask. */
export type PersonWord = { kind: 'verdict'; value: PersonVerdict['verdict'] } | { kind: 'decision'; value: ReviewDecision } | { kind: 'flag'; value: Quality }

/** A case in which a verdict and a person differ. */
export interface AgreementCase {
  evaluationId: string
  taskId: string | null
  subtaskId: string | null
  subagentName: string | null
  /** Null where the whole output is meant. */
  criterion: { id: string; text: string } | null
  /** On the criterion; null where the whole output is meant. */
  verdict: Verdict | null
  method: VerdictMethod | null
  score: number | null
  recommendation: Recommendation
  said: PersonWord
  comment: string | null
  saidBy: { kind: string; id: string }
  saidAt: Date
  /** From 0 to 1. */
  difference: number
}

export interface AgreementBounds {
  /** Reads at most this many outputs of which people have spoken, the newest. */
  outputsMax: number
  /** Of criteria and of sub-agents. */
  groupsMax: number
  casesMax: number
}

interface GroupRow {
  part: AgreementPart
  key: string | null
  outputs: number
  both_met: number
  only_verdict: number
  only_person: number
  both_unmet: number
  undecided: number
  named: number
}

interface CaseRow {
  evaluation_id: string
  task_id: string | null
  subtask_id: string | null
  subagent_name: string | null
  criterion_id: string | null
  text: string | null
  verdict: Verdict | null
  method: VerdictMethod | null
  score: number | null
  recommendation: Recommendation
  said_kind: PersonWord['kind']
  said: string
  comment: string | null
  author_kind: string
  author_id: string
  said_at: string
  difference: number
}

/**
 * Pairs the verdicts on outputs that were first evaluated within a time with what people say of these outputs. See docs/evaluation.md for what
 * is compared with what.
 */
export async function readAgreement(
  tx: Tx,
  projectId: string,
  from: Date,
  to: Date,
  bounds: AgreementBounds,
): Promise<{ groups: AgreementGroup[]; cases: AgreementCase[]; isCut: boolean }> {
  const [, groups, cases] = await pipeline([planForValues(tx), readGroups(tx, projectId, from, to, bounds), readCases(tx, projectId, from, to, bounds)])
  return {
    groups: groups.map(toGroup),
    cases: cases.map(toCase),
    isCut: groups.some(({ part, outputs }) => part === 'all' && outputs === bounds.outputsMax),
  }
}

/**
 * The outputs of which people have spoken, with all evaluations of them. A review decides about a submission; a flag is about the output whose evaluation
 * was the latest when it was set. Begins at what people said, which is little, and finds the evaluations by their keys.
 */
function spoken(tx: Tx, projectId: string, from: Date, to: Date, outputsMax: number): Fragment {
  return tx.sql`
    flags as materialized (
      select evaluation_id, quality, author_kind, author_id, updated_at from quality_flags
      where project_id = ${projectId} and evaluation_id is not null and updated_at >= ${from.toISOString()}
      order by evaluation_id desc limit ${2 * outputsMax}
    ),
    flagged as (
      select distinct on (1) coalesce(e.judge_of, e.review_of, e.id) as id, f.quality, f.author_kind, f.author_id, f.updated_at
      from flags f join evaluations e on e.project_id = ${projectId} and e.id = f.evaluation_id
      order by 1, f.updated_at desc
    ),
    reviews as materialized (
      select review_of as id, recommendation as decision, detail, created_at from evaluations
      where project_id = ${projectId} and review_of is not null and created_at >= ${from.toISOString()}
      order by review_of desc limit ${2 * outputsMax}
    ),
    spoken as materialized (
      select o.id, coalesce(j.id, o.id) as evaluation_id, o.task_id, o.subtask_id, o.subagent_name, coalesce(j.score, o.score) as score,
        coalesce(j.recommendation, o.recommendation) as recommendation, o.detail -> 'criteria' as first, j.detail -> 'criteria' as later,
        r.detail -> 'criteria' as reviewed, r.detail -> 'review' as review, r.decision, r.created_at as reviewed_at,
        f.quality, f.author_kind as flagged_by_kind, f.author_id as flagged_by_id, f.updated_at as flagged_at,
        f.quality in ('excellent', 'good') as flag_accepts,
        case when r.decision is null then f.quality in ('excellent', 'good') else r.decision = 'approve' end as accepts,
        case coalesce(j.recommendation, o.recommendation) when 'approve' then true when 'request_revision' then false end as is_approved
      from flagged f full join reviews r using (id) join evaluations o on o.project_id = ${projectId} and o.id = case when f.id is null then r.id else f.id end
        left join evaluations j on j.project_id = ${projectId} and j.judge_of = o.id
      where o.created_at >= ${from.toISOString()} and o.created_at < ${to.toISOString()}
      order by o.id desc limit ${outputsMax}
    ),
    named as materialized (
      select s.id, v.id as criterion_id, v.text, v.verdict, v.evidence as comment
      from spoken s cross join lateral jsonb_to_recordset(s.reviewed) as v(id text, text text, verdict text, evidence text, method text)
      where v.method = 'person'
    )`
}

/**
 * The verdicts on the criteria of those outputs. `is_latest`: the last word of rule, check and judge. A verdict that a later evaluation replaced counts for
 * its method only.
 */
function rated(tx: Tx): Fragment {
  return tx.sql`
    rated as (
      select s.id, v.id as criterion_id, v.text, v.required, v.verdict, v.method, true as is_latest
      from spoken s cross join lateral jsonb_to_recordset(coalesce(s.later, s.first)) as v(id text, text text, required boolean, verdict text, method text)
      union all
      select s.id, v.id, v.text, v.required, v.verdict, v.method, false
      from spoken s cross join lateral jsonb_to_recordset(s.first) as v(id text, text text, required boolean, verdict text, method text)
        join lateral jsonb_to_recordset(s.later) as l(id text, method text) on l.id = v.id and l.method <> v.method
      where s.later is not null
      union all
      select s.id, v.id, v.text, v.required, v.verdict, v.method, false
      from spoken s cross join lateral jsonb_to_recordset(s.reviewed) as v(id text, text text, required boolean, verdict text, method text)
      where v.method = 'person'
    )`
}

function readGroups(tx: Tx, projectId: string, from: Date, to: Date, { outputsMax, groupsMax }: AgreementBounds): Promise<GroupRow[]> {
  return tx.sql<GroupRow[]>`
    with ${spoken(tx, projectId, from, to, outputsMax)},
    ${rated(tx)},
    naming as (select distinct id from named),
    paired as (
      select v.id, v.text, v.method, v.is_latest, n.id is not null as is_named,
        case v.verdict when 'met' then true when 'unmet' then false end as verdict_met,
        case when v.method = 'person' then s.flag_accepts when n.id is not null then case n.verdict when 'met' then true when 'unmet' then false end
          else s.accepts end as person_met
      from rated v join spoken s on s.id = v.id
        left join named n on v.method <> 'person' and n.id = v.id and n.criterion_id = v.criterion_id and n.text = v.text
        left join naming a on a.id = v.id
      -- What was not named: an approval, or a flag, speaks of all that was required. A request that names what is wrong says nothing about the rest.
      where case when v.method = 'person' then v.required and s.flag_accepts is not null
        else n.id is not null or v.required and (a.id is null or s.decision = 'approve') end
    ),
    counted as (
      select case when grouping(subagent_name) = 1 then 'all' else 'subagent' end as part, subagent_name as key, count(*) as outputs,
        count(*) filter (where is_approved and accepts) as both_met, count(*) filter (where is_approved and not accepts) as only_verdict,
        count(*) filter (where not is_approved and accepts) as only_person, count(*) filter (where not is_approved and not accepts) as both_unmet,
        count(*) filter (where is_approved is null) as undecided, 0::bigint as named
      from spoken group by grouping sets ((), (subagent_name))
      union all
      select case when grouping(text) = 0 then 'criterion' else 'method' end, coalesce(text, method), count(distinct id),
        count(*) filter (where verdict_met and person_met), count(*) filter (where verdict_met and not person_met),
        count(*) filter (where not verdict_met and person_met), count(*) filter (where not verdict_met and not person_met),
        count(*) filter (where verdict_met is null or person_met is null),
        count(*) filter (where is_named and verdict_met is not null and person_met is not null)
      from paired
      group by grouping sets ((text, is_latest), (method))
      having grouping(text) = 1 or is_latest
    ),
    placed as (select *, row_number() over (partition by part order by outputs desc, key) as place from counted)
    select part, key, outputs, both_met, only_verdict, only_person, both_unmet, undecided, named from placed where place <= ${groupsMax}
    order by part, place` as unknown as Promise<GroupRow[]>
}

function readCases(tx: Tx, projectId: string, from: Date, to: Date, { outputsMax, casesMax }: AgreementBounds): Promise<CaseRow[]> {
  return tx.sql<CaseRow[]>`
    with ${spoken(tx, projectId, from, to, outputsMax)},
    differing as (
      -- Met and unmet are as far apart as can be.
      select s.id, v.id as criterion_id, v.text, v.verdict, v.method, 'verdict' as said_kind, n.verdict as said, n.comment, 1::double precision as difference
      from named n join spoken s on s.id = n.id
        join lateral jsonb_to_recordset(coalesce(s.later, s.first)) as v(id text, text text, verdict text, method text)
          on v.id = n.criterion_id and v.text = n.text
      where v.verdict in ('met', 'unmet') and n.verdict in ('met', 'unmet') and v.verdict <> n.verdict
      union all
      select s.id, null, null, null, null, case when s.decision is null then 'flag' else 'decision' end, coalesce(s.decision, s.quality), s.review ->> 'note',
        abs(s.score - case coalesce(s.decision, s.quality) when 'approve' then 1 when 'excellent' then 1 when 'good' then 0.75 when 'needs_work' then 0.25 else 0 end)
      from spoken s
      where s.is_approved <> s.accepts and s.score is not null and not exists (select from named n where n.id = s.id)
    )
    select s.evaluation_id, s.task_id, s.subtask_id, s.subagent_name, s.score, s.recommendation, d.criterion_id, d.text, d.verdict, d.method, d.said_kind,
      d.said, d.comment, d.difference,
      case when s.decision is null then s.flagged_by_kind else s.review #>> '{author,kind}' end as author_kind,
      case when s.decision is null then s.flagged_by_id else s.review #>> '{author,id}' end as author_id,
      case when s.decision is null then s.flagged_at else s.reviewed_at end as said_at
    from differing d join spoken s on s.id = d.id
    order by d.difference desc, d.method is not distinct from 'judge' desc, said_at desc, d.id, d.criterion_id
    limit ${casesMax}` as unknown as Promise<CaseRow[]>
}

function toGroup(row: GroupRow): AgreementGroup {
  return {
    part: row.part,
    key: row.key,
    outputs: row.outputs,
    bothMet: row.both_met,
    onlyVerdictMet: row.only_verdict,
    onlyPersonMet: row.only_person,
    bothUnmet: row.both_unmet,
    undecided: row.undecided,
    named: row.named,
  }
}

function toCase(row: CaseRow): AgreementCase {
  return {
    evaluationId: row.evaluation_id,
    taskId: row.task_id,
    subtaskId: row.subtask_id,
    subagentName: row.subagent_name,
    criterion: row.criterion_id === null || row.text === null ? null : { id: row.criterion_id, text: row.text },
    verdict: row.verdict,
    method: row.method,
    score: row.score,
    recommendation: row.recommendation,
    said: { kind: row.said_kind, value: row.said } as PersonWord,
    comment: row.comment,
    saidBy: { kind: row.author_kind, id: row.author_id },
    saidAt: new Date(row.said_at),
    difference: row.difference,
  }
}
