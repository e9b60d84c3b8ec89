import { type Episode, type Fact, type FinalOutcome, MEMORY_SHOWN, type MemoryKind } from '@muster/domain'
import { and, eq } from 'drizzle-orm'
import type { Tx } from '../client.ts'
import { facts } from '../schema/facts.ts'
import { forgottenEpisodes } from '../schema/forgotten-episodes.ts'

const FACT = {
  id: facts.id,
  content: facts.content,
  tags: facts.tags,
  agentId: facts.agentId,
  sourceSubtaskId: facts.sourceSubtaskId,
  authorKind: facts.authorKind,
  authorId: facts.authorId,
  createdAt: facts.createdAt,
}

export type NewFactRow = Omit<Fact, 'createdAt'>

/** Writes a fact, which a search finds as soon as it is committed. */
export async function insertFact(tx: Tx, projectId: string, { author, ...row }: NewFactRow): Promise<Fact> {
  const [inserted] = await tx.orm
    .insert(facts)
    .values({ projectId, ...row, authorKind: author.kind, authorId: author.id })
    .returning({ createdAt: facts.createdAt })
  return { ...row, author, createdAt: inserted?.createdAt as Date }
}

/** The agent of the subtask that a fact is said to come from; null where the project has no such subtask. */
export async function findSourceAgent(tx: Tx, projectId: string, subtaskId: string): Promise<string | null> {
  const [row] = await tx.sql<{ agent_id: string }[]>`select agent_id from subtasks where id = ${subtaskId} and project_id = ${projectId}`
  return row?.agent_id ?? null
}

export async function findFact(tx: Tx, projectId: string, id: string): Promise<Fact | null> {
  const [row] = await tx.orm
    .select(FACT)
    .from(facts)
    .where(and(eq(facts.projectId, projectId), eq(facts.id, id)))
  if (row === undefined) return null
  const { authorKind, authorId, ...fact } = row
  return { ...fact, author: { kind: authorKind, id: authorId } }
}

/** Answers whether there was one. */
export async function deleteFact(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const deleted = await tx.sql`delete from facts where project_id = ${projectId} and id = ${id} returning 1`
  return deleted.length > 0
}

/** Lets memory no more bring up a finished subtask, whose row stays. Answers whether it is there, however often it is forgotten. */
export async function forgetEpisode(tx: Tx, projectId: string, subtaskId: string): Promise<boolean> {
  const written = await tx.sql`
    insert into forgotten_episodes (project_id, subtask_id)
    select project_id, id from subtasks where id = ${subtaskId} and project_id = ${projectId} and status in ('completed', 'failed', 'cancelled')
    on conflict do nothing returning 1`
  await tx.sql`delete from episode_words where project_id = ${projectId} and subtask_id = ${subtaskId}`
  return written.length > 0 || (await isForgotten(tx, projectId, subtaskId))
}

export async function isForgotten(tx: Tx, projectId: string, subtaskId: string): Promise<boolean> {
  const [row] = await tx.orm
    .select({ subtaskId: forgottenEpisodes.subtaskId })
    .from(forgottenEpisodes)
    .where(and(eq(forgottenEpisodes.projectId, projectId), eq(forgottenEpisodes.subtaskId, subtaskId)))
  return row !== undefined
}

export interface MemoryFilter {
  /** As `websearch_to_tsquery` takes it, its words parted at punctuation. */
  wanted: string
  /** Where nothing has all of it: any of these words, and nothing of what `without` bars. */
  words: readonly string[]
  without: string
  kind: MemoryKind | null
  agentId: string | null
  limit: number
}

export interface FoundMemory {
  kind: MemoryKind
  id: string
  score: number
}

/** Best first. The function looks past row-level security, under which its indexes would stay unused, and in the transaction's project alone. */
export async function searchMemory(tx: Tx, { wanted, words, without, kind, agentId, limit }: MemoryFilter): Promise<FoundMemory[]> {
  const rows = await tx.sql<FoundMemory[]>`
    select kind, id, score from muster_search_memory(${wanted}, ${words as string[]}::text[], ${without}, ${kind}, ${agentId}, ${limit})`
  return [...rows]
}

/** Facts by their ids, with as much of their contents as a search shows and one character more, by which it is known to be cut. */
export async function listFacts(tx: Tx, projectId: string, ids: readonly string[]): Promise<Fact[]> {
  if (ids.length === 0) return []
  const rows = await tx.sql<(Omit<Fact, 'author' | 'createdAt'> & { author_kind: string; author_id: string; created_at: string })[]>`
    select id, left(content, ${MEMORY_SHOWN.content + 1}) as content, tags, agent_id as "agentId", source_subtask_id as "sourceSubtaskId",
      author_kind, author_id, created_at
    from facts where project_id = ${projectId} and id = any(${ids as string[]})`
  return rows.map(({ author_kind, author_id, created_at, ...row }) => ({
    ...row,
    author: { kind: author_kind, id: author_id },
    createdAt: new Date(created_at),
  }))
}

/** Finished subtasks by their ids, those left out that are forgotten; texts as in `listFacts`. */
export async function listEpisodes(tx: Tx, projectId: string, ids: readonly string[]): Promise<Episode[]> {
  if (ids.length === 0) return []
  const { task, summary, result } = MEMORY_SHOWN
  // A body is no text to PostgreSQL. As many bytes as so many characters may take are enough, and the one that is cut in two is beyond them.
  const rows = await tx.sql<(Omit<Episode, 'outcome' | 'completedAt'> & { outcome: FinalOutcome; beginning: Buffer | null; completed_at: string })[]>`
    select s.id, s.agent_id as "agentId", left(s.task, ${task + 1}) as task, s.final_outcome as outcome, left(s.summary, ${summary + 1}) as summary,
      left(s.result, ${result + 1}) as result, substring(b.bytes from 1 for ${(result + 2) * 4}) as beginning, s.result_truncated as "resultTruncated",
      s.completed_at
    from subtasks s left join bodies b on b.id = s.result_body_id
    where s.id = any(${ids as string[]}) and s.project_id = ${projectId} and s.status in ('completed', 'failed', 'cancelled')
      and not exists (select from forgotten_episodes f where f.project_id = s.project_id and f.subtask_id = s.id)`
  return rows.map(({ beginning, completed_at, ...row }) => ({
    ...row,
    result: row.result ?? beginning?.toString('utf8') ?? null,
    completedAt: new Date(completed_at),
  }))
}

/** Takes the next ends of subtasks into memory. Answers how many events have been read: fewer than `most` means that there are no more. */
export async function rememberEpisodes(tx: Tx, most: number): Promise<number> {
  const [row] = await tx.sql<{ read: number }[]>`select muster_remember_episodes(${most}) as read`
  return row?.read ?? 0
}
