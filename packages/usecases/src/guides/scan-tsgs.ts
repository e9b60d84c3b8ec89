import { tsgUses } from '@muster/db'
import { rankTsgHits, requireScope, successRate, type TsgHit } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { findMatchingTsgs } from './match-tsgs.ts'
import { recordSurfaced } from './surface-tsgs.ts'

export interface TsgScan {
  errorMessage: string
  /** What happened around it. */
  context?: string | undefined
  /** Whose failure it is: this session is told of the guides with its next injection. A sub-agent's own credential stands for its own. */
  sessionId?: string | undefined
}

/** A guide that a scan brought up. `successRate` is null while nobody has said whether it helps. */
export type ScannedTsg = TsgHit & { successRate: number | null }

/** The guides that know an error, best first, at most 20, and recorded as brought up. [B5] scan_for_tsg */
export async function scanTsgs(ctx: Ctx, { errorMessage, context, sessionId }: TsgScan): Promise<ScannedTsg[]> {
  requireScope(ctx.actor, 'tsgs:read')
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const found = await findMatchingTsgs(ctx, tx, projectId, context === undefined ? [errorMessage] : [errorMessage, context])
    const ids = found.map(({ tsgId }) => tsgId)
    const usage = await tsgUses.countTsgUses(tx, projectId, ids, ['resolved', 'unresolved'])
    const rates = new Map([...usage].map(([tsgId, counts]) => [tsgId, successRate(counts)]))
    const hits = rankTsgHits(found, rates)
    await recordSurfaced(ctx, tx, { projectId, actor: ctx.actor, sessionId: ctx.actor.lineage?.sessionId ?? sessionId ?? null }, hits)
    return hits.map((hit) => ({ ...hit, successRate: rates.get(hit.tsgId) ?? null }))
  })
}
