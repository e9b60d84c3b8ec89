import type { Project, ProjectSettings } from '@muster/domain'
import { eq } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { projects } from '../schema/projects.ts'

export async function findProject(tx: Tx, id: string): Promise<Project | null> {
  const [row] = await tx.orm.select().from(projects).where(eq(projects.id, id))
  return row ?? null
}

export async function changeProject(tx: Tx, id: string, change: { name?: string; settings?: ProjectSettings }): Promise<Project | null> {
  const [row] = await tx.orm.update(projects).set(change).where(eq(projects.id, id)).returning()
  return row ?? null
}

export async function insertProject(tx: Tx, id: string, name: string): Promise<Project> {
  const [row] = await tx.orm.insert(projects).values({ id, name }).returning()
  return row as Project
}
