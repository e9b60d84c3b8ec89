// SQL: functions of the database search beside row-level security, under which their indexes would stay unused.
import { type Episode, type FinalOutcome, MEMORY_SHOWN, type MemoryKind } from '@muster/domain'
import type { Tx } from '../client.ts'

/** Removes a finished subtask from memory; its row stays. Returns whether there is such a subtask, also when it was removed before. */
export async function forgetEpisode(tx: Tx, projectId: string, subtaskId: string): Promise<boolean> {
  const written = await tx.sql`
    insert into forgotten_episodes (project_id, subtask_id)
    select project_id, id from subtasks where id = ${subtaskId} and project_id = ${projectId} and status in ('completed', 'failed', 'cancelled')
    on conflict do nothing returning 1`
  await tx.sql`delete from episode_words where project_id = ${projectId} and subtask_id = ${subtaskId}`
  return written.length > 0 || (await isForgotten(tx, projectId, subtaskId))
}

export async function isForgotten(tx: Tx, projectId: string, subtaskId: string): Promise<boolean> {
  const rows = await tx.sql`select from forgotten_episodes where project_id = ${projectId} and subtask_id = ${subtaskId}`
  return rows.length > 0
}

export interface MemoryFilter {
  /** A query of `websearch_to_tsquery`, with words separated at punctuation. */
  wanted: string
  /** If nothing matches the whole query: any of these words, and none of `without`. */
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

/** Best first. The function searches only the project of the transaction. */
export async function searchMemory(tx: Tx, { wanted, words, without, kind, agentId, limit }: MemoryFilter): Promise<FoundMemory[]> {
  const rows = await tx.sql<FoundMemory[]>`
    select kind, id, score from muster_search_memory(${wanted}, ${words as string[]}::text[], ${without}, ${kind}, ${agentId}, ${limit})`
  return [...rows]
}

/** Finished subtasks by their ids, without forgotten ones; texts are cut as in `listFacts`. */
export async function listEpisodes(tx: Tx, projectId: string, ids: readonly string[]): Promise<Episode[]> {
  if (ids.length === 0) return []
  const { task, summary, result } = MEMORY_SHOWN
  // A body is bytes to PostgreSQL. The cut takes as many as these characters may need, so that a character it cuts in two lies behind them.
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

/** Takes the next ended subtasks into memory. Returns how many events it read: fewer than `most` means that there are no more. */
export async function rememberEpisodes(tx: Pick<Tx, 'sql'>, most: number): Promise<number> {
  const [row] = await tx.sql<{ read: number }[]>`select muster_remember_episodes(${most}) as read`
  return row?.read ?? 0
}
