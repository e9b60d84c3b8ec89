import type { BlockItem, Criterion, CriterionReport } from '@muster/domain'
import type { Tx } from '../../client.ts'
import { checkIns } from '../../schema/check-ins.ts'

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

/** As much as is read of what one session has said, the newest: enough for whoever means it, and no more than a process can hold. */
const READ_MAX = { checkIns: 1_000, bytes: 4 * 1_048_576 }

/** What these sessions have said of these tasks so far, oldest first; with a time, since then. Of too much, the newest of each session. */
export async function listCheckIns(
  tx: Tx,
  projectId: string,
  { taskIds, sessionIds, since = null }: { taskIds: readonly string[]; sessionIds: readonly string[]; since?: Date | null },
): Promise<StoredCheckIn[]> {
  const about = tx.sql`project_id = ${projectId} and task_id = any(${taskIds as string[]}::uuid[])`
  // The criteria of a revision come once, with its first check-in.
  const rows = await tx.sql<(Omit<StoredCheckIn, 'unmatched' | 'criteria'> & { unmatched: (BlockItem | string)[]; criteria: Criterion[] | null })[]>`
    with said as (
      select id, row_number() over newest as place, sum(octet_length(content)) over newest as bytes from check_ins
      where ${about} and session_id = any(${sessionIds as string[]}::text[])
        and (${since?.toISOString() ?? null}::timestamptz is null or created_at >= ${since?.toISOString() ?? null}::timestamptz)
      window newest as (partition by session_id order by id desc)
    ),
    spoken as (
      select * from check_ins where ${about} and id in (select id from said where place <= ${READ_MAX.checkIns} and bytes <= ${READ_MAX.bytes})
    )
    select c.task_id as "taskId", c.session_id as "sessionId", c.verdicts as reports, c.unmatched, c.revision,
      case when row_number() over (partition by c.task_id, c.revision order by c.id) = 1 then r.criteria end as criteria
    from spoken c join task_revisions r on r.task_id = c.task_id and r.revision = c.revision
    where r.task_id = any(${taskIds as string[]}::uuid[])
    order by c.id`
  const known = new Map<string, Criterion[]>()
  for (const row of rows) if (row.criteria !== null) known.set(`${row.taskId} ${row.revision}`, row.criteria)
  // What was taken in before lines were kept whole has their texts alone.
  return rows.map((row) => ({
    ...row,
    criteria: known.get(`${row.taskId} ${row.revision}`) ?? [],
    reports: row.reports.map((report) => ({ ...report, category: report.category ?? null })),
    unmatched: row.unmatched.map((line) => (typeof line === 'string' ? { emoji: null, category: null, text: line } : line)),
  }))
}
