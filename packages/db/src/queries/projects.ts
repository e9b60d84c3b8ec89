import type { EvaluationSettings, Project, ProjectSettings } from '@muster/domain'
import { eq } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { projects } from '../schema/projects.ts'

export async function findProject(tx: Tx, id: string): Promise<Project | null> {
  const [row] = await tx.orm.select().from(projects).where(eq(projects.id, id))
  return row ?? null
}

/** By what the outputs of a project are judged, where it says so. */
export async function findEvaluationSettings(tx: Tx, id: string): Promise<EvaluationSettings | null> {
  const [row] = await tx.sql<{ evaluation: EvaluationSettings | null }[]>`select settings -> 'evaluation' as evaluation from projects where id = ${id}`
  return row?.evaluation ?? null
}

export async function changeProject(tx: Tx, id: string, change: { name?: string; settings?: ProjectSettings }): Promise<Project | null> {
  const [row] = await tx.orm.update(projects).set(change).where(eq(projects.id, id)).returning()
  return row ?? null
}

export async function insertProject(tx: Tx, id: string, name: string): Promise<Project> {
  const [row] = await tx.orm.insert(projects).values({ id, name }).returning()
  return row as Project
}
