import type { Project, ProjectSettings } from '@muster/domain'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { projects } from '../schema/projects.ts'

/** With the transaction that wrote the row last: every write gives another one. */
const columns = { ...getTableColumns(projects), version: sql<string>`xmin::text` }

export async function findProject(tx: Tx, id: string): Promise<Project | null> {
  const [row] = await tx.orm.select(columns).from(projects).where(eq(projects.id, id))
  return row ?? null
}

export async function lockProject(tx: Tx, id: string): Promise<Project | null> {
  const [row] = await tx.orm.select(columns).from(projects).where(eq(projects.id, id)).for('no key update')
  return row ?? null
}

export async function changeProject(tx: Tx, id: string, change: { name?: string; settings?: ProjectSettings }): Promise<Project | null> {
  const [row] = await tx.orm.update(projects).set(change).where(eq(projects.id, id)).returning(columns)
  return row ?? null
}

export async function insertProject(tx: Tx, id: string, name: string): Promise<Project> {
  const [row] = await tx.orm.insert(projects).values({ id, name }).returning(columns)
  return row as Project
}
