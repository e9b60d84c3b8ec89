import type { TsgUsage } from '@muster/domain'
import { and, count, eq } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { type TSG_USES, tsgUses } from '../../schema/tsg-uses.ts'
import { anyOf } from '../core/lists.ts'

export interface NewTsgUse {
  id: string
  tsgId: string
  kind: (typeof TSG_USES)[number]
  sessionId: string | null
  taskId: string | null
}

/** Records uses of guides: a row each, because runs that meet the same failure would wait for each other at a counter. */
export async function insertTsgUses(tx: Tx, projectId: string, uses: readonly NewTsgUse[]): Promise<void> {
  if (uses.length === 0) return
  await tx.orm.insert(tsgUses).values(uses.map((use) => ({ projectId, ...use })))
}

/** How often guides were used so far, with zeros for unused ones. */
export async function countTsgUses(tx: Tx, projectId: string, tsgIds: readonly string[], kinds: readonly NewTsgUse['kind'][]): Promise<Map<string, TsgUsage>> {
  const counted = new Map(tsgIds.map((tsgId) => [tsgId, { surfaced: 0, read: 0, resolved: 0, unresolved: 0 }]))
  if (tsgIds.length === 0) return counted
  const rows = await tx.orm
    .select({ tsgId: tsgUses.tsgId, kind: tsgUses.kind, times: count() })
    .from(tsgUses)
    .where(and(eq(tsgUses.projectId, projectId), anyOf(tsgUses.tsgId, tsgIds), anyOf(tsgUses.kind, kinds)))
    .groupBy(tsgUses.tsgId, tsgUses.kind)
  for (const { tsgId, kind, times } of rows) {
    const usage = counted.get(tsgId)
    if (usage !== undefined) usage[kind] = times
  }
  return counted
}
