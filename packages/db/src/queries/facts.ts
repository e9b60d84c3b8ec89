import { type Fact, MEMORY_SHOWN } from '@muster/domain'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { facts } from '../schema/facts.ts'
import { subtasks } from '../schema/subtasks.ts'
import { anyOf } from './core/lists.ts'

const FACT = {
  id: facts.id,
  content: facts.content,
  tags: facts.tags,
  agentId: facts.agentId,
  sourceSubtaskId: facts.sourceSubtaskId,
  author: { kind: facts.authorKind, id: facts.authorId },
  createdAt: facts.createdAt,
}

export type NewFactRow = Omit<Fact, 'createdAt'>

/** Writes a fact. A search finds it as soon as it is committed. */
export async function insertFact(tx: Tx, projectId: string, { author, ...row }: NewFactRow): Promise<Fact> {
  const [inserted] = await tx.orm
    .insert(facts)
    .values({ projectId, ...row, authorKind: author.kind, authorId: author.id })
    .returning({ createdAt: facts.createdAt })
  return { ...row, author, createdAt: inserted?.createdAt as Date }
}

/** The agent of the subtask that a fact comes from; null if the project has no such subtask. */
export async function findSourceAgent(tx: Tx, projectId: string, subtaskId: string): Promise<string | null> {
  const [row] = await tx.orm
    .select({ agentId: subtasks.agentId })
    .from(subtasks)
    .where(and(eq(subtasks.id, subtaskId), eq(subtasks.projectId, projectId)))
  return row?.agentId ?? null
}

export async function findFact(tx: Tx, projectId: string, id: string): Promise<Fact | null> {
  const [row] = await tx.orm.select(FACT).from(facts).where(only(projectId, id))
  return row ?? null
}

export async function deleteFact(tx: Tx, projectId: string, id: string): Promise<void> {
  await tx.orm.delete(facts).where(only(projectId, id))
}

/** Facts by their ids, each cut to what a search shows and one character more, which tells that it was cut. */
export async function listFacts(tx: Tx, projectId: string, ids: readonly string[]): Promise<Fact[]> {
  if (ids.length === 0) return []
  return await tx.orm
    .select({ ...FACT, content: sql<string>`left(${facts.content}, ${MEMORY_SHOWN.content + 1})` })
    .from(facts)
    .where(and(eq(facts.projectId, projectId), anyOf(facts.id, ids)))
}

function only(projectId: string, id: string): SQL | undefined {
  return and(eq(facts.projectId, projectId), eq(facts.id, id))
}
