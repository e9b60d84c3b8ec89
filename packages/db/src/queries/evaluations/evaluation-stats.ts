// SQL: scores are counted by grouping sets over the latest evaluation of each output.
import type { Recommendation, Verdict } from '@muster/domain'
import { pipeline, type Tx } from '../../client.ts'
import { planForValues } from '../core/lists.ts'

/** What scores are grouped by. */
export type EvaluationGrouping = 'day' | 'subagent' | 'criterion'

/** The latest evaluations of some outputs, in numbers. */
export interface EvaluationTally {
  outputs: number
  /** How many of them have a score. */
  scored: number
  /** Of the scored ones; null for none. */
  averageScore: number | null
  recommendations: Record<Recommendation, number>
}

export interface EvaluationGroup extends EvaluationTally {
  /** The day (UTC), the name of the sub-agent, or the text of the criterion; null for outputs without a sub-agent. */
  key: string | null
  /** For a criterion only. */
  verdicts: Record<Verdict, number> | null
}

export interface EvaluationStats {
  total: EvaluationTally
  groups: EvaluationGroup[]
  /** Whether there are more outputs than were counted. */
  isCut: boolean
}

export interface StatsBounds {
  /** Counts at most this many outputs, the newest. */
  outputsMax: number
  groupsMax: number
}

interface Row {
  is_total: boolean
  key: string | null
  outputs: number
  scored: number
  average_score: number | null
  approve: number
  review: number
  request_revision: number
  met?: number
  unmet?: number
  unclear?: number
  not_addressed?: number
}

/**
 * Counts the outputs that were first evaluated within a time. An output counts once, by its latest evaluation: a judge and a person change no score, but
 * they may change the recommendation.
 */
export async function readStats(tx: Tx, projectId: string, by: EvaluationGrouping, from: Date, to: Date, bounds: StatsBounds): Promise<EvaluationStats> {
  const [, rows] = await pipeline([
    planForValues(tx),
    by === 'criterion' ? byCriterion(tx, projectId, from, to, bounds) : byKey(tx, projectId, by, from, to, bounds),
  ])
  const total = rows.find((row) => row.is_total)
  const groups = rows.filter((row) => !row.is_total)
  const seen = total?.outputs ?? 0
  return {
    total: total === undefined ? { outputs: 0, scored: 0, averageScore: null, recommendations: { approve: 0, review: 0, request_revision: 0 } } : tally(total),
    groups: groups.map((row) => ({ key: row.key, ...tally(row), verdicts: by === 'criterion' ? verdictsOf(row) : null })),
    isCut: seen === bounds.outputsMax,
  }
}

function byKey(tx: Tx, projectId: string, by: 'day' | 'subagent', from: Date, to: Date, { outputsMax, groupsMax }: StatsBounds): Promise<Row[]> {
  return tx.sql<Row[]>`
    with counted as materialized (
      select e.id, e.score, e.recommendation,
        case when ${by} = 'day' then to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD') else e.subagent_name end as key
      from evaluations e
      where e.project_id = ${projectId} and not e.is_judged and e.origin <> 'review' and e.created_at >= ${from.toISOString()} and e.created_at < ${to.toISOString()}
      order by e.id desc limit ${outputsMax}
    ),
    latest as (
      select c.key, c.score, coalesce(r.recommendation, j.recommendation, c.recommendation) as recommendation
      from counted c left join evaluations j on j.project_id = ${projectId} and j.judge_of = c.id
        left join evaluations r on r.project_id = ${projectId} and r.review_of = c.id
    )
    select grouping(key) = 1 as is_total, key, count(*) as outputs, count(score) as scored, avg(score) as average_score,
      count(*) filter (where recommendation = 'approve') as approve, count(*) filter (where recommendation = 'review') as review,
      count(*) filter (where recommendation = 'request_revision') as request_revision
    from latest
    group by grouping sets ((), (key))
    order by grouping(key) desc, case when ${by} = 'day' then 0 else count(*) end desc, key desc nulls last
    limit ${groupsMax + 1}` as unknown as Promise<Row[]>
}

function byCriterion(tx: Tx, projectId: string, from: Date, to: Date, { outputsMax, groupsMax }: StatsBounds): Promise<Row[]> {
  return tx.sql<Row[]>`
    with counted as materialized (
      select e.id, e.score, e.recommendation, e.detail
      from evaluations e
      where e.project_id = ${projectId} and not e.is_judged and e.origin <> 'review' and e.created_at >= ${from.toISOString()} and e.created_at < ${to.toISOString()}
      order by e.id desc limit ${outputsMax}
    ),
    latest as materialized (
      select c.id, c.score, coalesce(r.recommendation, j.recommendation, c.recommendation) as recommendation,
        coalesce(r.detail, j.detail, c.detail) -> 'criteria' as criteria
      from counted c left join evaluations j on j.project_id = ${projectId} and j.judge_of = c.id
        left join evaluations r on r.project_id = ${projectId} and r.review_of = c.id
    ),
    total as (
      select count(*) as outputs, count(score) as scored, avg(score) as average_score, count(*) filter (where recommendation = 'approve') as approve,
        count(*) filter (where recommendation = 'review') as review, count(*) filter (where recommendation = 'request_revision') as request_revision
      from latest
    ),
    groups as (
      select v.text as key, count(*) as outputs, count(l.score) as scored, avg(l.score) as average_score,
        count(*) filter (where l.recommendation = 'approve') as approve, count(*) filter (where l.recommendation = 'review') as review,
        count(*) filter (where l.recommendation = 'request_revision') as request_revision,
        count(*) filter (where v.verdict = 'met') as met, count(*) filter (where v.verdict = 'unmet') as unmet,
        count(*) filter (where v.verdict = 'unclear') as unclear, count(*) filter (where v.verdict = 'not_addressed') as not_addressed
      from latest l cross join lateral jsonb_to_recordset(l.criteria) as v(text text, verdict text)
      group by v.text
      order by count(*) desc, v.text
      limit ${groupsMax}
    )
    select true as is_total, null as key, *, 0 as met, 0 as unmet, 0 as unclear, 0 as not_addressed from total
    union all
    select false, * from groups` as unknown as Promise<Row[]>
}

function tally(row: Row): EvaluationTally {
  return {
    outputs: row.outputs,
    scored: row.scored,
    averageScore: row.average_score,
    recommendations: { approve: row.approve, review: row.review, request_revision: row.request_revision },
  }
}

function verdictsOf({ met = 0, unmet = 0, unclear = 0, not_addressed = 0 }: Row): Record<Verdict, number> {
  return { met, unmet, unclear, not_addressed }
}
