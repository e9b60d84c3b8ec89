import type { TsgUsage } from '@muster/domain'
import type { Tx } from '../../client.ts'
import { type TSG_USES, tsgUses } from '../../schema/tsg-uses.ts'

export interface NewTsgUse {
  id: string
  tsgId: string
  kind: (typeof TSG_USES)[number]
  sessionId: string | null
  taskId: string | null
}

/** Records what became of guides. A row each, and no counter, which everybody who meets the same failure would have to wait for. */
export async function insertTsgUses(tx: Tx, projectId: string, uses: readonly NewTsgUse[]): Promise<void> {
  if (uses.length === 0) return
  await tx.orm.insert(tsgUses).values(uses.map((use) => ({ projectId, ...use })))
}

/** What became of guides so far. Those that nothing is known of have zeros. */
export async function countTsgUses(tx: Tx, projectId: string, tsgIds: readonly string[], kinds: readonly NewTsgUse['kind'][]): Promise<Map<string, TsgUsage>> {
  const counted = new Map(tsgIds.map((tsgId) => [tsgId, { surfaced: 0, read: 0, resolved: 0, unresolved: 0 }]))
  if (tsgIds.length === 0) return counted
  const rows = await tx.sql<{ tsg_id: string; kind: NewTsgUse['kind']; count: number }[]>`
    select tsg_id, kind, count(*)::int as count from tsg_uses
    where project_id = ${projectId} and tsg_id = any(${tsgIds as string[]}) and kind = any(${kinds as string[]}) group by tsg_id, kind`
  for (const { tsg_id, kind, count } of rows) {
    const usage = counted.get(tsg_id)
    if (usage !== undefined) usage[kind] = count
  }
  return counted
}
