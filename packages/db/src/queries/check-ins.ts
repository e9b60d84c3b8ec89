import type { BlockItem, Criterion, CriterionReport } from '@muster/domain'
import type { Tx } from '../client.ts'
import { checkIns } from '../schema/check-ins.ts'

export type NewCheckIn = Omit<typeof checkIns.$inferInsert, 'createdAt'>

export async function insertCheckIn(tx: Tx, checkIn: NewCheckIn): Promise<void> {
  await tx.orm.insert(checkIns).values(checkIn)
}

/** A check-in as it was taken in. */
export interface StoredCheckIn {
  taskId: string
  sessionId: string
  reports: CriterionReport[]
  unmatched: BlockItem[]
  /** The revision that it spoke of, and its criteria. */
  revision: number
  criteria: Criterion[]
}

/** What these sessions have said of these tasks so far, oldest first; with a time, since then. */
export async function listCheckIns(
  tx: Tx,
  projectId: string,
  { taskIds, sessionIds, since = null }: { taskIds: readonly string[]; sessionIds: readonly string[]; since?: Date | null },
): Promise<StoredCheckIn[]> {
  const rows = await tx.sql<(Omit<StoredCheckIn, 'unmatched'> & { unmatched: (BlockItem | string)[] })[]>`
    select c.task_id as "taskId", c.session_id as "sessionId", c.verdicts as reports, c.unmatched, c.revision, r.criteria
    from check_ins c join task_revisions r on r.task_id = c.task_id and r.revision = c.revision
    where c.project_id = ${projectId} and c.task_id = any(${taskIds as string[]}::uuid[]) and r.task_id = any(${taskIds as string[]}::uuid[])
      and c.session_id = any(${sessionIds as string[]}::text[]) and (${since?.toISOString() ?? null}::timestamptz is null or c.created_at >= ${since?.toISOString() ?? null}::timestamptz)
    order by c.id`
  // What was taken in before lines were kept whole has their texts alone.
  return rows.map((row) => ({
    ...row,
    reports: row.reports.map((report) => ({ ...report, category: report.category ?? null })),
    unmatched: row.unmatched.map((line) => (typeof line === 'string' ? { emoji: null, category: null, text: line } : line)),
  }))
}
