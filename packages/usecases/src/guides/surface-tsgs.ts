import { outbox, type Tx, tsgNotices, tsgUses } from '@muster/db'
import type { NewEvent, TsgHit } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { findMatchingTsgs } from './match-tsgs.ts'

/** Where guides are brought up, and on whose account. */
export interface TsgAudience {
  projectId: string
  actor: NewEvent['actor']
}

/**
 * Scans what was said in a session for failures that guides know, and leaves it a notice of each that it has not been told about, in the
 * caller's transaction. Whoever builds the next injection takes them (`tsgNotices.takeTsgNotices`). Without texts it asks nothing. Two that
 * leave a session the same notice wait for each other, so it comes after the locks of tasks and of subtasks, always.
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
