import type { MessageRole, Quality, QualityFlag } from '@muster/domain'
import { and, arrayContains, desc, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { bodies } from '../../schema/bodies.ts'
import { qualityFlags } from '../../schema/quality-flags.ts'
import { sessionMessages } from '../../schema/session-messages.ts'
import { readBodies } from '../core/bodies.ts'
import { anyOf } from '../core/lists.ts'
import { toFlag } from './quality-flags.ts'

export interface FlaggedFilter {
  /** Only this quality; without it, only training candidates. */
  quality?: Quality | undefined
  /** Flags that have all of these. */
  tags: readonly string[]
  after?: QualityFlag['subject'] | undefined
  limit: number
}

/** Flags in the order of kind and id, along the primary key, so that no page takes longer than the one before. */
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

/** The most that one example may have: no model learns from more, and no process should hold more. */
const MESSAGES_MAX = 1_000
const MESSAGES_BYTES_MAX = 16 * 1_048_576

/** The last messages about a task, oldest first. */
export async function listTaskMessages(tx: Tx, projectId: string, taskId: string): Promise<{ role: MessageRole; content: string }[]> {
  const sizes = await tx.orm
    .select({ id: sessionMessages.id, bytes: sql<number>`coalesce(octet_length(${sessionMessages.content}), octet_length(${bodies.bytes}), 0)` })
    .from(sessionMessages)
    .leftJoin(bodies, eq(bodies.id, sessionMessages.bodyId))
    .where(and(eq(sessionMessages.projectId, projectId), eq(sessionMessages.taskId, taskId)))
    .orderBy(desc(sessionMessages.taskId), desc(sessionMessages.id))
    .limit(MESSAGES_MAX)
  const ids: string[] = []
  let bytes = 0
  for (const size of sizes) {
    bytes += size.bytes
    if (bytes > MESSAGES_BYTES_MAX) break
    ids.push(size.id)
  }
  if (ids.length === 0) return []
  const { role, content, bodyId } = sessionMessages
  const rows = await tx.orm.select({ role, content, bodyId }).from(sessionMessages).where(anyOf(sessionMessages.id, ids)).orderBy(sessionMessages.id)
  const texts = await readBodies(
    tx,
    rows.flatMap((row) => row.bodyId ?? []),
  )
  return rows.map((row) => ({ role: row.role, content: row.content ?? texts.get(row.bodyId ?? '') ?? '' }))
}
