import { type AgreementCase, type AgreementGroup, agreement, clock, type EvaluationGrouping, type EvaluationStats, evaluationStats, type Tx } from '@muster/db'
import { type Agreement, cohensKappa, DomainError, requireScope } from '@muster/domain'
import { type Ctx, readingMany } from '../core/ctx.ts'

const DAY_MS = 86_400_000
const DAYS_DEFAULT = 30
const DAYS_MAX = 366
/** What is read for one answer, at most. */
const STATS_BOUNDS = { outputsMax: 50_000, groupsMax: 400 }

/** For agreement, where all verdicts of an output are unfolded and paired: so many take about as long as the others for 50,000. */
const AGREEMENT_BOUNDS = { outputsMax: 5_000, groupsMax: 400, casesMax: 20 }

export interface StatsWindow {
  /** Default: 30 days before `to`. */
  from?: Date | undefined
  /** Default: now. */
  to?: Date | undefined
}

export interface StatsQuery extends StatsWindow {
  by: EvaluationGrouping
}

/**
 * How outputs have fared, by day, sub-agent or criterion: each output once, by its latest evaluation.
 *
 * @throws DomainError `validation_failed` for a time that is not before the other, or too long before it
 */
export async function getEvaluationStats(ctx: Ctx, query: StatsQuery): Promise<EvaluationStats & { from: Date; to: Date }> {
  requireScope(ctx.actor, 'evaluations:read')
  return await readingMany(ctx, async (tx) => {
    const { from, to } = await windowOf(tx, query)
    return { from, to, ...(await evaluationStats.readStats(tx, ctx.actor.projectId, query.by, from, to, STATS_BOUNDS)) }
  })
}

/** A group, with how far verdicts and people agree in it. */
export type RatedGroup = Omit<AgreementGroup, 'part'> & { agreement: Agreement }

export interface AgreementStats {
  from: Date
  to: Date
  /** All outputs of which people have spoken. */
  all: RatedGroup
  bySubagent: RatedGroup[]
  byCriterion: RatedGroup[]
  byMethod: RatedGroup[]
  /** Those in which verdict and person differ most, the most different first. */
  cases: AgreementCase[]
  isCut: boolean
}

/**
 * How far the verdicts of rule, checks and judge agree with what people say in reviews and flags, and where they differ most.
 *
 * @throws DomainError `validation_failed` as `getEvaluationStats`
 */
export async function getAgreementStats(ctx: Ctx, query: StatsWindow): Promise<AgreementStats> {
  requireScope(ctx.actor, 'evaluations:read')
  return await readingMany(ctx, async (tx) => {
    const { from, to } = await windowOf(tx, query)
    const { groups, cases, isCut } = await agreement.readAgreement(tx, ctx.actor.projectId, from, to, AGREEMENT_BOUNDS)
    const of = (wanted: AgreementGroup['part']) => groups.filter(({ part }) => part === wanted).map(rated)
    return { from, to, all: of('all')[0] as RatedGroup, bySubagent: of('subagent'), byCriterion: of('criterion'), byMethod: of('method'), cases, isCut }
  })
}

function rated({ part: _, ...group }: AgreementGroup): RatedGroup {
  const { bothMet, onlyVerdictMet, onlyPersonMet, bothUnmet } = group
  return {
    ...group,
    agreement: cohensKappa([
      [bothMet, onlyVerdictMet],
      [onlyPersonMet, bothUnmet],
    ]),
  }
}

async function windowOf(tx: Tx, query: StatsWindow): Promise<{ from: Date; to: Date }> {
  // Times are rounded to milliseconds: a recent one may be slightly in the future.
  const to = query.to ?? new Date((await clock.readClock(tx)).getTime() + 2)
  const from = query.from ?? new Date(to.getTime() - DAYS_DEFAULT * DAY_MS)
  if (!(from < to)) throw refused(`must be before until, which is ${to.toISOString()}`, from)
  if (to.getTime() - from.getTime() > DAYS_MAX * DAY_MS) throw refused(`must be at most ${DAYS_MAX} days before until, which is ${to.toISOString()}`, from)
  return { from, to }
}

function refused(reason: string, value: Date): DomainError {
  return new DomainError('validation_failed', `The request has a problem: since ${reason}.`, {
    errors: [{ pointer: '?since', field: 'since', reason, value: value.toISOString() }],
  })
}
