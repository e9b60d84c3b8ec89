import { type Tsg, type TsgSeverity, toWebSearch } from '@muster/domain'
import { and, desc, eq, getTableColumns, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { tsgs } from '../../schema/tsgs.ts'

/** A guide as lists show it. */
export type TsgSummary = Omit<Tsg, 'content'>

/** What can be written of a guide. */
export type TsgRow = Omit<Tsg, 'createdAt' | 'updatedAt'>

/**
 * Says that the guides of a project are about to change. First in every transaction that changes one: its lock puts such transactions one
 * after the other, so that whoever finds the number unchanged has the guides as they are.
 */
export async function announceTsgChange(tx: Tx, projectId: string): Promise<void> {
  await tx.sql`update projects set tsg_revision = tsg_revision + 1 where id = ${projectId}`
}

/** A number that is another one after every change of a guide. */
export async function readTsgRevision(tx: Tx, projectId: string): Promise<number> {
  const [row] = await tx.sql<{ tsg_revision: number }[]>`select tsg_revision from projects where id = ${projectId}`
  return row?.tsg_revision ?? 0
}

/** Every guide of a project, with as much of it as matching takes. */
export async function listTsgsToMatch(tx: Tx, projectId: string): Promise<Pick<Tsg, 'tsgId' | 'title' | 'severity' | 'match' | 'patterns'>[]> {
  return await tx.orm
    .select({ tsgId: tsgs.tsgId, title: tsgs.title, severity: tsgs.severity, match: tsgs.match, patterns: tsgs.patterns })
    .from(tsgs)
    .where(eq(tsgs.projectId, projectId))
}

export async function findTsg(tx: Tx, projectId: string, tsgId: string): Promise<Tsg | null> {
  const [row] = await tx.orm.select().from(tsgs).where(only(projectId, tsgId))
  return row === undefined ? null : toTsg(row)
}

/** Locks a guide until the end of the transaction, to delete it: waits for links that are being made, and keeps others off. */
export async function lockTsg(tx: Tx, projectId: string, tsgId: string): Promise<Tsg | null> {
  const [row] = await tx.orm.select().from(tsgs).where(only(projectId, tsgId)).for('update')
  return row === undefined ? null : toTsg(row)
}

/** Null when there is a guide of that id. */
export async function insertTsg(tx: Tx, projectId: string, row: TsgRow): Promise<Tsg | null> {
  const { applicability, ...columns } = row
  const [inserted] = await tx.orm
    .insert(tsgs)
    .values({ projectId, ...columns, technologies: applicability.technologies })
    .onConflictDoNothing()
    .returning()
  return inserted === undefined ? null : toTsg(inserted)
}

/** Writes a guide anew, after its change was announced. */
export async function replaceTsg(tx: Tx, projectId: string, { tsgId, applicability, ...columns }: TsgRow): Promise<Tsg> {
  const [changed] = await tx.orm
    .update(tsgs)
    .set({ ...columns, technologies: applicability.technologies, updatedAt: sql`muster_now()` })
    .where(only(projectId, tsgId))
    .returning()
  return toTsg(changed as typeof tsgs.$inferSelect)
}

/** Deletes a guide, which must be locked. What became of it stays counted. */
export async function deleteTsg(tx: Tx, projectId: string, tsgId: string): Promise<void> {
  await tx.orm.delete(tsgs).where(only(projectId, tsgId))
}

export interface TsgFilter {
  /** Words, as in a search engine. */
  q?: string | undefined
  technology?: string | undefined
  severity?: TsgSeverity | undefined
  before?: { createdAt: Date; tsgId: string } | undefined
  limit: number
}

/** Newest first, without their contents. */
export async function listTsgs(tx: Tx, projectId: string, filter: TsgFilter): Promise<TsgSummary[]> {
  const { q, technology, severity, before, limit } = filter
  const found = q === undefined ? undefined : await searchTsgs(tx, q, filter)
  const conditions = [
    eq(tsgs.projectId, projectId),
    ...(found === undefined
      ? [
          severity && eq(tsgs.severity, severity),
          // Of one project's guides, few enough to look at each.
          technology && sql`exists (select from unnest(${tsgs.technologies}) as technology where lower(technology) = lower(${technology}))`,
          before && sql`(${tsgs.createdAt}, ${tsgs.tsgId}) < (${before.createdAt.toISOString()}::timestamptz, ${before.tsgId})`,
        ]
      : [inArray(tsgs.tsgId, found)]),
  ].filter((condition) => condition !== undefined && condition !== '')
  const { content: _, ...columns } = getTableColumns(tsgs)
  const rows = await tx.orm
    .select(columns)
    .from(tsgs)
    .where(and(...conditions))
    .orderBy(desc(tsgs.createdAt), desc(tsgs.tsgId))
    .limit(limit)
  return rows.map(toTsg)
}

/** Full-text operators are not leakproof, so row-level security would keep their index unused: the function looks in the project by itself. */
async function searchTsgs(tx: Tx, q: string, { technology, severity, before, limit }: TsgFilter): Promise<string[]> {
  const rows = await tx.sql<{ tsg_id: string }[]>`
    select tsg_id from muster_search_tsgs(${toWebSearch(q)}, ${technology ?? null}, ${severity ?? null},
      ${before?.createdAt.toISOString() ?? null}::timestamptz, ${before?.tsgId ?? null}, ${limit}) as tsg_id`
  return rows.map((row) => row.tsg_id)
}

/** Keeps guides from being deleted until the end of the transaction; editing them goes on. Unknown ids are left out. */
export async function lockTsgs(tx: Tx, projectId: string, tsgIds: readonly string[]): Promise<{ tsgId: string; title: string }[]> {
  if (tsgIds.length === 0) return []
  const rows = await tx.sql<{ tsg_id: string; title: string }[]>`
    select tsg_id, title from tsgs where project_id = ${projectId} and tsg_id = any(${tsgIds as string[]}) order by tsg_id for key share`
  return rows.map((row) => ({ tsgId: row.tsg_id, title: row.title }))
}

/** Links a guide to a task; false when it was linked already. Both must be locked. */
export async function linkTsg(tx: Tx, projectId: string, taskId: string, tsgId: string): Promise<boolean> {
  const rows = await tx.sql`
    insert into task_tsgs (project_id, task_id, tsg_id) values (${projectId}, ${taskId}, ${tsgId}) on conflict do nothing returning tsg_id`
  return rows.length > 0
}

/** Unlinks a guide from a task; false when it was not linked. The task must be locked. */
export async function unlinkTsg(tx: Tx, projectId: string, taskId: string, tsgId: string): Promise<boolean> {
  const rows = await tx.sql`delete from task_tsgs where project_id = ${projectId} and task_id = ${taskId} and tsg_id = ${tsgId} returning tsg_id`
  return rows.length > 0
}

/** Some of the tasks that a guide is linked to. It must be locked, so that none is being added. */
export async function listTasksOfTsg(tx: Tx, projectId: string, tsgId: string, limit: number): Promise<string[]> {
  const rows = await tx.sql<{ task_id: string }[]>`
    select task_id from task_tsgs where project_id = ${projectId} and tsg_id = ${tsgId} limit ${limit}`
  return rows.map((row) => row.task_id)
}

/** Unlinks a guide from every task. It must be locked. */
export async function unlinkTsgEverywhere(tx: Tx, projectId: string, tsgId: string): Promise<void> {
  await tx.sql`delete from task_tsgs where project_id = ${projectId} and tsg_id = ${tsgId}`
}

const only = (projectId: string, tsgId: string) => and(eq(tsgs.projectId, projectId), eq(tsgs.tsgId, tsgId))

function toTsg<Row extends { projectId: string; technologies: string[] }>({ projectId: _, technologies, ...row }: Row) {
  return { ...row, applicability: { technologies } }
}
