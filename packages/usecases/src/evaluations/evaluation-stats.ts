import { clock, type EvaluationGrouping, type EvaluationStats, evaluationStats } from '@muster/db'
import { DomainError, requireScope } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'

const DAY_MS = 86_400_000
const DAYS_DEFAULT = 30
const DAYS_MAX = 366
/** What is read for one answer, at most. */
const STATS_BOUNDS = { outputsMax: 50_000, groupsMax: 400 }

export interface StatsQuery {
  by: EvaluationGrouping
  /** Default: 30 days before `to`. */
  from?: Date | undefined
  /** Default: now. */
  to?: Date | undefined
}

/**
 * How outputs have fared, by day, sub-agent or criterion: each output once, by its latest evaluation.
 *
 * @throws DomainError `validation_failed` for a time that is not before the other, or too long before it
 */
export async function getEvaluationStats(ctx: Ctx, query: StatsQuery): Promise<EvaluationStats & { from: Date; to: Date }> {
  requireScope(ctx.actor, 'evaluations:read')
  return await reading(ctx, async (tx) => {
    // Times are rounded to milliseconds: a recent one may be slightly in the future.
    const to = query.to ?? new Date((await clock.readClock(tx)).getTime() + 2)
    const from = query.from ?? new Date(to.getTime() - DAYS_DEFAULT * DAY_MS)
    if (!(from < to)) throw refused('from', `must be before to, which is ${to.toISOString()}`, from)
    if (to.getTime() - from.getTime() > DAYS_MAX * DAY_MS)
      throw refused('from', `must be at most ${DAYS_MAX} days before to, which is ${to.toISOString()}`, from)
    return { from, to, ...(await evaluationStats.readStats(tx, ctx.actor.projectId, query.by, from, to, STATS_BOUNDS)) }
  })
}

function refused(field: string, reason: string, value: Date): DomainError {
  return new DomainError('validation_failed', `The request has a problem: ${field} ${reason}.`, {
    errors: [{ pointer: `?${field}`, field, reason, value: value.toISOString() }],
  })
}
