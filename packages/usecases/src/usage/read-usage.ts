import { clock, storedBytes, type Tx, usage } from '@muster/db'
import { DomainError, requireController, requireScope, sumUsage, type UsageGroup, type UsageGrouping, type UsageTotals } from '@muster/domain'
import { type Ctx, readingMany } from '../core/ctx.ts'
import { storedBytesLimits } from './quotas.ts'

const DAY_MS = 86_400_000
const DAYS_DEFAULT = 30
const DAYS_MAX = 366
const GROUPS_MAX = 400
const RUNS_MAX = 10

export interface UsageQuery {
  by: UsageGrouping
  /** Default: 30 days before `until`. */
  since?: Date | undefined
  /** Default: now. */
  until?: Date | undefined
}

export interface UsageReport {
  since: Date
  until: Date
  total: UsageTotals
  groups: UsageGroup[]
  /** Whether there are more groups than are shown. The total counts them all. */
  isCut: boolean
  /** What the project stores now, and how much it may. */
  stored: StoredReport
}

/** All in bytes. */
export interface StoredReport {
  bytes: number
  limit: number
  runLimit: number
  /** The runs under way that have stored most. */
  runs: { id: string; bytes: number }[]
}

/**
 * What ended subtasks and judgements have used: tokens, cost, time and runs. A subtask counts whole, with all its attempts, in the moment of its end.
 *
 * @throws DomainError `forbidden` for the credentials of subtasks and assignments, `validation_failed` for a time that is not before the other, or too
 *   long before it
 */
export async function getUsage(ctx: Ctx, query: UsageQuery): Promise<UsageReport> {
  requireScope(ctx.actor, 'subtasks:read')
  requireController(ctx.actor)
  return await readingMany(ctx, async (tx) => {
    // Times are rounded to milliseconds: a recent one may be slightly in the future.
    const until = query.until ?? new Date((await clock.readClock(tx)).getTime() + 2)
    const since = query.since ?? new Date(until.getTime() - DAYS_DEFAULT * DAY_MS)
    if (!(since < until)) throw refused(`must be before until, which is ${until.toISOString()}`, since)
    if (until.getTime() - since.getTime() > DAYS_MAX * DAY_MS)
      throw refused(`must be at most ${DAYS_MAX} days before until, which is ${until.toISOString()}`, since)
    const { total, groups, isCut } = await usage.readUsage(tx, ctx.actor.projectId, query.by, since, until, GROUPS_MAX)
    const prices = ctx.settings.MODEL_PRICES
    const stored = await storedNow(ctx, tx)
    return { since, until, total: sumUsage(total, prices), groups: groups.map(({ key, parts }) => ({ key, ...sumUsage(parts, prices) })), isCut, stored }
  })
}

async function storedNow({ settings, actor: { projectId } }: Ctx, tx: Tx): Promise<StoredReport> {
  const found = await storedBytes.readStoredBytes(tx, projectId, null)
  const { project: limit, run: runLimit } = storedBytesLimits(settings, found)
  return { bytes: found.project, limit, runLimit, runs: await storedBytes.largestRuns(tx, projectId, RUNS_MAX) }
}

function refused(reason: string, value: Date): DomainError {
  return new DomainError('validation_failed', `The request has a problem: since ${reason}.`, {
    errors: [{ pointer: '?since', field: 'since', reason, value: value.toISOString() }],
  })
}
