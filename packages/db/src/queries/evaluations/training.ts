import type { MessageRole, Quality, QualityFlag } from '@muster/domain'
import { and, arrayContains, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { qualityFlags } from '../../schema/quality-flags.ts'
import { readBodies } from '../core/bodies.ts'
import { toFlag } from './quality-flags.ts'

export interface FlaggedFilter {
  /** Only of this quality; without it, only what is to be learnt from. */
  quality?: Quality | undefined
  /** All of them have to be there. */
  tags: readonly string[]
  after?: QualityFlag['subject'] | undefined
  limit: number
}

/** What has been flagged, in the order of its kind and id: along the primary key, so that page after page takes no longer than the one before. */
export async function listFlagged(tx: Tx, projectId: string, { quality, tags, after, limit }: FlaggedFilter): Promise<QualityFlag[]> {
  const rows = await tx.orm
    .select()
    .from(qualityFlags)
    .where(
      and(
        eq(qualityFlags.projectId, projectId),
        quality === undefined ? eq(qualityFlags.trainingCandidate, true) : eq(qualityFlags.quality, quality),
        tags.length === 0 ? undefined : arrayContains(qualityFlags.tags, tags as string[]),
        after === undefined ? undefined : sql`(${qualityFlags.subjectKind}, ${qualityFlags.subjectId}) > (${after.kind}, ${after.id})`,
      ),
    )
    .orderBy(qualityFlags.subjectKind, qualityFlags.subjectId)
    .limit(limit)
  return rows.map(toFlag)
}

/** As much of what was said about a task as one example may have: no model learns from more, and no process should hold more. */
const MESSAGES_MAX = 1_000
const MESSAGES_BYTES_MAX = 16 * 1_048_576

/** The last that was said about a task, oldest first. */
export async function listTaskMessages(tx: Tx, projectId: string, taskId: string): Promise<{ role: MessageRole; content: string }[]> {
  const sizes = await tx.sql<{ id: string; bytes: number }[]>`
    select m.id, coalesce(octet_length(m.content), octet_length(b.bytes), 0) as bytes
    from session_messages m left join bodies b on b.id = m.body_id
    where m.project_id = ${projectId} and m.task_id = ${taskId}
    order by m.task_id desc, m.id desc limit ${MESSAGES_MAX}`
  const ids: string[] = []
  let bytes = 0
  for (const size of sizes) {
    bytes += size.bytes
    if (bytes > MESSAGES_BYTES_MAX) break
    ids.push(size.id)
  }
  if (ids.length === 0) return []
  const rows = await tx.sql<{ role: MessageRole; content: string | null; body_id: string | null }[]>`
    select role, content, body_id from session_messages where id = any(${ids}::uuid[]) order by id`
  const bodies = await readBodies(
    tx,
    rows.flatMap((row) => row.body_id ?? []),
  )
  return rows.map((row) => ({ role: row.role, content: row.content ?? bodies.get(row.body_id ?? '') ?? '' }))
}
