import type { QualityFlag } from '@muster/domain'
import { and, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { qualityFlags } from '../../schema/quality-flags.ts'
import { sessionMessages } from '../../schema/session-messages.ts'

/** A flag before it is stored. Null leaves it as it was whether it is an example to learn from; before the first flag it is none. */
export type NewQualityFlag = Omit<QualityFlag, 'trainingCandidate' | 'createdAt' | 'updatedAt'> & { trainingCandidate: boolean | null }

/** Writes what is said of a task or a subtask, in place of what was said before. */
export async function putFlag(tx: Tx, projectId: string, flag: NewQualityFlag): Promise<QualityFlag> {
  const said = {
    evaluationId: flag.evaluationId,
    quality: flag.quality,
    tags: flag.tags,
    authorKind: flag.author.kind,
    authorId: flag.author.id,
    ...(flag.trainingCandidate === null ? {} : { trainingCandidate: flag.trainingCandidate }),
  }
  const [row] = await tx.orm
    .insert(qualityFlags)
    .values({ projectId, subjectKind: flag.subject.kind, subjectId: flag.subject.id, ...said })
    .onConflictDoUpdate({
      target: [qualityFlags.projectId, qualityFlags.subjectKind, qualityFlags.subjectId],
      set: { ...said, updatedAt: sql`muster_now()` },
    })
    .returning()
  return toFlag(row as typeof qualityFlags.$inferSelect)
}

/** Says the same of everything that the assistant has said about a task. */
export async function flagMessages(tx: Tx, projectId: string, { subject, quality, trainingCandidate }: NewQualityFlag): Promise<void> {
  await tx.orm
    .update(sessionMessages)
    .set({ qualityFlag: quality, ...(trainingCandidate === null ? {} : { trainingCandidate }) })
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
