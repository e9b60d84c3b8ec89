import { outbox, type Tx, tsgNotices, tsgUses } from '@muster/db'
import { type NewEvent, rankTsgHits, requireScope, successRate, type TsgHit } from '@muster/domain'
import type { Ctx, Deps } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { findMatchingTsgs } from './match-tsgs.ts'

/** The project in which guides are brought up, and the actor that caused it. */
export interface TsgAudience {
  projectId: string
  actor: NewEvent['actor']
}

/**
 * Matches texts of a session against guides and inserts a guide notice for each guide that the session has had none of, in the caller's
 * transaction. The next injection delivers them (`tsgNotices.takeTsgNotices`). Without texts it reads nothing. Transactions that insert the
 * same notice wait for each other, so call it after the locks of tasks and of subtasks.
 */
export async function surfaceTsgs(deps: Deps, tx: Tx, audience: TsgAudience & { sessionId: string }, texts: readonly string[]): Promise<void> {
  const hits = await findMatchingTsgs(deps, tx, audience.projectId, texts)
  if (hits.length > 0) await recordSurfaced(deps, tx, audience, hits)
}

/**
 * Records that guides were brought up. In a session a guide counts once: it gets a notice the first time, and nothing after that.
 */
export async function recordSurfaced(
  deps: Deps,
  tx: Tx,
  { projectId, actor, sessionId = null }: TsgAudience & { sessionId?: string | null },
  hits: readonly TsgHit[],
): Promise<void> {
  if (hits.length === 0) return
  const undelivered = sessionId === null ? null : new Set(await tsgNotices.insertTsgNotices(tx, projectId, sessionId, hits))
  const surfaced = hits.filter(({ tsgId }) => undelivered?.has(tsgId) ?? true)
  if (surfaced.length === 0) return
  await tsgUses.insertTsgUses(
    tx,
    projectId,
    surfaced.map(({ tsgId }) => ({ id: deps.newId(), tsgId, kind: 'surfaced', sessionId, taskId: null })),
  )
  const events = surfaced.map(
    ({ tsgId, title, pattern }): NewEvent => ({
      type: 'tsg.surfaced',
      subject: { kind: 'tsg', id: tsgId },
      data: { tsg_id: tsgId, title, matched_pattern: pattern, session_id: sessionId },
      actor,
    }),
  )
  await outbox.publish(tx, projectId, events)
  tx.afterCommit(() => deps.notifier.notify('outbox'))
}

export interface TsgScan {
  errorMessage: string
  /** What happened around it. */
  context?: string | undefined
  /** The session with the failure: its next injection brings the guide notices. A sub-agent's own credential always means its own session. */
  sessionId?: string | undefined
}

/** A guide that a scan brought up. `successRate` is null without feedback. */
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
