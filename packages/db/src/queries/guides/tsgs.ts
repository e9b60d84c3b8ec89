import { type Tsg, type TsgSeverity, toWebSearch } from '@muster/domain'
import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { projects } from '../../schema/projects.ts'
import { taskTsgs } from '../../schema/task-tsgs.ts'
import { tsgs } from '../../schema/tsgs.ts'
import { anyOf } from '../core/lists.ts'

/** A guide as lists show it. */
export type TsgSummary = Omit<Tsg, 'content'>

/** What can be written of a guide. */
export type TsgRow = Omit<Tsg, 'createdAt' | 'updatedAt'>

/**
 * Counts a change of the guides of a project. First in every transaction that changes a guide: its lock runs such transactions one after the other,
 * so that a process that finds the number unchanged has the current guides.
 */
export async function announceTsgChange(tx: Tx, projectId: string): Promise<void> {
  await tx.orm
    .update(projects)
    .set({ tsgRevision: sql`${projects.tsgRevision} + 1` })
    .where(eq(projects.id, projectId))
}

/** Every guide of a project, with the fields that matching needs. */
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

/** Locks a guide until the end of the transaction, to delete it: waits for links that other transactions make, and prevents new ones. */
export async function lockTsg(tx: Tx, projectId: string, tsgId: string): Promise<Tsg | null> {
  const [row] = await tx.orm.select().from(tsgs).where(only(projectId, tsgId)).for('update')
  return row === undefined ? null : toTsg(row)
}

/** Null if the id is taken. */
export async function insertTsg(tx: Tx, projectId: string, row: TsgRow): Promise<Tsg | null> {
  const { applicability, ...columns } = row
  const [inserted] = await tx.orm
    .insert(tsgs)
    .values({ projectId, ...columns, technologies: applicability.technologies })
    .onConflictDoNothing()
    .returning()
  return inserted === undefined ? null : toTsg(inserted)
}

/** Replaces a guide. `announceTsgChange` comes before. */
export async function replaceTsg(tx: Tx, projectId: string, { tsgId, applicability, ...columns }: TsgRow): Promise<Tsg> {
  const [changed] = await tx.orm
    .update(tsgs)
    .set({ ...columns, technologies: applicability.technologies, updatedAt: sql`muster_now()` })
    .where(only(projectId, tsgId))
    .returning()
  return toTsg(changed as typeof tsgs.$inferSelect)
}

/** Deletes a guide, which must be locked. Its uses stay counted. */
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
          // A project has few guides, so each is looked at.
          technology && sql`exists (select from unnest(${tsgs.technologies}) as technology where lower(technology) = lower(${technology}))`,
          before && sql`(${tsgs.createdAt}, ${tsgs.tsgId}) < (${before.createdAt.toISOString()}::timestamptz, ${before.tsgId})`,
        ]
      : [anyOf(tsgs.tsgId, found)]),
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

/** The function bypasses row-level security, under which its index would stay unused. It searches only the project of the transaction. */
async function searchTsgs(tx: Tx, q: string, { technology, severity, before, limit }: TsgFilter): Promise<string[]> {
  const rows = await tx.orm.execute<{ tsg_id: string }>(sql`
    select tsg_id from muster_search_tsgs(${toWebSearch(q)}, ${technology ?? null}, ${severity ?? null},
      ${before?.createdAt.toISOString() ?? null}::timestamptz, ${before?.tsgId ?? null}, ${limit}) as tsg_id`)
  return rows.map((row) => row.tsg_id)
}

/** Prevents the deletion of guides until the end of the transaction; edits go on. Ignores unknown ids. */
export async function lockTsgs(tx: Tx, projectId: string, tsgIds: readonly string[]): Promise<{ tsgId: string; title: string }[]> {
  if (tsgIds.length === 0) return []
  return await tx.orm
    .select({ tsgId: tsgs.tsgId, title: tsgs.title })
    .from(tsgs)
    .where(and(eq(tsgs.projectId, projectId), anyOf(tsgs.tsgId, tsgIds)))
    .orderBy(tsgs.tsgId)
    .for('key share')
}

/** Links a guide to a task; false if it was linked already. Both must be locked. */
export async function linkTsg(tx: Tx, projectId: string, taskId: string, tsgId: string): Promise<boolean> {
  const rows = await tx.orm.insert(taskTsgs).values({ projectId, taskId, tsgId }).onConflictDoNothing().returning({ tsgId: taskTsgs.tsgId })
  return rows.length > 0
}

/** Unlinks a guide from a task; false if it was not linked. The task must be locked. */
export async function unlinkTsg(tx: Tx, projectId: string, taskId: string, tsgId: string): Promise<boolean> {
  const rows = await tx.orm
    .delete(taskTsgs)
    .where(and(linksOf(projectId, tsgId), eq(taskTsgs.taskId, taskId)))
    .returning({ tsgId: taskTsgs.tsgId })
  return rows.length > 0
}

/** Some of the tasks that a guide is linked to. The guide must be locked, so that none is added. */
export async function listTasksOfTsg(tx: Tx, projectId: string, tsgId: string, limit: number): Promise<string[]> {
  const rows = await tx.orm.select({ taskId: taskTsgs.taskId }).from(taskTsgs).where(linksOf(projectId, tsgId)).limit(limit)
  return rows.map((row) => row.taskId)
}

/** Unlinks a guide from every task. The guide must be locked. */
export async function unlinkTsgEverywhere(tx: Tx, projectId: string, tsgId: string): Promise<void> {
  await tx.orm.delete(taskTsgs).where(linksOf(projectId, tsgId))
}

const linksOf = (projectId: string, tsgId: string) => and(eq(taskTsgs.projectId, projectId), eq(taskTsgs.tsgId, tsgId))

const only = (projectId: string, tsgId: string) => and(eq(tsgs.projectId, projectId), eq(tsgs.tsgId, tsgId))

function toTsg<Row extends { projectId: string; technologies: string[] }>({ projectId: _, technologies, ...row }: Row) {
  return { ...row, applicability: { technologies } }
}
