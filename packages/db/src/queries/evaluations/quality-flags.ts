import { type QualityFlag, subtaskSessionId } from '@muster/domain'
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { qualityFlags } from '../../schema/quality-flags.ts'
import { sessionMessages } from '../../schema/session-messages.ts'
import { subtasks } from '../../schema/subtasks.ts'
import { anyOf } from '../core/lists.ts'

/** A flag before it is stored. */
export type NewQualityFlag = Omit<QualityFlag, 'createdAt' | 'updatedAt'>

/** Writes the flag of a task or a subtask, in place of an earlier one. */
export async function putFlag(tx: Tx, projectId: string, flag: NewQualityFlag): Promise<QualityFlag> {
  const columns = {
    evaluationId: flag.evaluationId,
    quality: flag.quality,
    tags: flag.tags,
    trainingCandidate: flag.trainingCandidate,
    authorKind: flag.author.kind,
    authorId: flag.author.id,
  }
  const [row] = await tx.orm
    .insert(qualityFlags)
    .values({ projectId, subjectKind: flag.subject.kind, subjectId: flag.subject.id, ...columns })
    .onConflictDoUpdate({
      target: [qualityFlags.projectId, qualityFlags.subjectKind, qualityFlags.subjectId],
      set: { ...columns, updatedAt: sql`muster_now()` },
    })
    .returning()
  return toFlag(row as typeof qualityFlags.$inferSelect)
}

/** Flags all messages of the assistant about a task alike. Messages that name no task, in the sessions of its subtasks, become messages about it. */
export async function flagMessages(tx: Tx, projectId: string, { subject, quality, trainingCandidate }: NewQualityFlag): Promise<void> {
  const runs = await tx.orm
    .select({ id: subtasks.id })
    .from(subtasks)
    .where(and(eq(subtasks.projectId, projectId), eq(subtasks.taskId, subject.id)))
  const sessionIds = runs.map(({ id }) => subtaskSessionId(id))
  if (sessionIds.length > 0)
    await tx.orm
      .update(sessionMessages)
      .set({ taskId: subject.id })
      .where(and(eq(sessionMessages.projectId, projectId), anyOf(sessionMessages.sessionId, sessionIds), isNull(sessionMessages.taskId)))
  await tx.orm
    .update(sessionMessages)
    .set({ qualityFlag: quality, trainingCandidate })
    .where(and(eq(sessionMessages.projectId, projectId), eq(sessionMessages.taskId, subject.id), eq(sessionMessages.role, 'assistant')))
}

export function toFlag(row: typeof qualityFlags.$inferSelect): QualityFlag {
  return {
    subject: { kind: row.subjectKind, id: row.subjectId },
    quality: row.quality,
    tags: row.tags,
    trainingCandidate: row.trainingCandidate,
    evaluationId: row.evaluationId,
    author: { kind: row.authorKind, id: row.authorId },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}
