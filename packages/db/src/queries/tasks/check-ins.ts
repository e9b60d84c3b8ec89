import type { BlockItem, Criterion, CriterionReport } from '@muster/domain'
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { checkIns } from '../../schema/check-ins.ts'
import { taskRevisions } from '../../schema/task-revisions.ts'

export type NewCheckIn = Omit<typeof checkIns.$inferInsert, 'createdAt'>

export async function insertCheckIn(tx: Tx, checkIn: NewCheckIn): Promise<void> {
  await tx.orm.insert(checkIns).values(checkIn)
}

/** A check-in with its author, and the criteria of its revision. */
export type TaskCheckIn = Omit<typeof checkIns.$inferSelect, 'unmatched'> & { unmatched: string[]; criteria: Criterion[] }

/** The check-ins of a task, newest first. */
export async function listTaskCheckIns(tx: Tx, projectId: string, taskId: string, beforeId: string | undefined, limit: number): Promise<TaskCheckIn[]> {
  const rows = await tx.orm
    .select({ checkIn: checkIns, criteria: taskRevisions.criteria })
    .from(checkIns)
    .innerJoin(taskRevisions, and(eq(taskRevisions.taskId, checkIns.taskId), eq(taskRevisions.revision, checkIns.revision)))
    .where(and(eq(checkIns.projectId, projectId), eq(checkIns.taskId, taskId), beforeId === undefined ? undefined : lt(checkIns.id, beforeId)))
    .orderBy(desc(checkIns.id))
    .limit(limit)
  // Older rows have unmatched lines as texts.
  return rows.map(({ checkIn, criteria }) => ({ ...checkIn, criteria, unmatched: checkIn.unmatched.map((line: BlockItem | string) => textOf(line)) }))
}

const textOf = (line: BlockItem | string) => (typeof line === 'string' ? line : line.text)

/** A check-in with the criteria of its revision. */
export interface StoredCheckIn {
  taskId: string
  sessionId: string
  reports: CriterionReport[]
  unmatched: BlockItem[]
  /** The revision that it reports on, and its criteria. */
  revision: number
  criteria: Criterion[]
}

/** A check-in as it is stored. Older ones have unmatched lines as texts. */
type StoredRow = Omit<StoredCheckIn, 'unmatched' | 'criteria'> & { unmatched: (BlockItem | string)[]; criteria: Criterion[] | null }

/** What is read of one session, newest first: more than an honest session says, and no more than a process can hold. */
const READ_MAX = { checkIns: 1_000, bytes: 4 * 1_048_576 }

/** The check-ins of these sessions on these tasks, oldest first, optionally since a time. Beyond `READ_MAX`, the newest of each session. */
export async function listCheckIns(
  tx: Tx,
  projectId: string,
  { taskIds, sessionIds, since = null }: { taskIds: readonly string[]; sessionIds: readonly string[]; since?: Date | null },
): Promise<StoredCheckIn[]> {
  const ofTasks = sql`any(${sql.param(taskIds)}::uuid[])`
  const about = sql`project_id = ${projectId} and task_id = ${ofTasks}`
  const from = since?.toISOString() ?? null
  // The criteria of a revision come once, with its first check-in.
  const rows = await tx.orm.execute<StoredRow>(sql`
    with said as (
      select id, row_number() over newest as place, sum(octet_length(content)) over newest as bytes from check_ins
      where ${about} and session_id = any(${sql.param(sessionIds)}::text[])
        and (${from}::timestamptz is null or created_at >= ${from}::timestamptz)
      window newest as (partition by session_id order by id desc)
    ),
    spoken as (
      select * from check_ins where ${about} and id in (select id from said where place <= ${READ_MAX.checkIns} and bytes <= ${READ_MAX.bytes})
    )
    select c.task_id as "taskId", c.session_id as "sessionId", c.verdicts as reports, c.unmatched, c.revision,
      case when row_number() over (partition by c.task_id, c.revision order by c.id) = 1 then r.criteria end as criteria
    from spoken c join task_revisions r on r.task_id = c.task_id and r.revision = c.revision
    where r.task_id = ${ofTasks}
    order by c.id`)
  const known = new Map<string, Criterion[]>()
  for (const row of rows) if (row.criteria !== null) known.set(`${row.taskId} ${row.revision}`, row.criteria)
  return rows.map((row) => ({
    ...row,
    criteria: known.get(`${row.taskId} ${row.revision}`) ?? [],
    reports: row.reports.map((report) => ({ ...report, category: report.category ?? null })),
    unmatched: row.unmatched.map((line) => (typeof line === 'string' ? { emoji: null, category: null, text: line } : line)),
  }))
}
