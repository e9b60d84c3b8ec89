import type { SessionMessage } from '@muster/domain'
import { and, eq, getTableColumns, isNull, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { bodies } from '../../schema/bodies.ts'
import { sessionMessages } from '../../schema/session-messages.ts'
import { along } from '../core/lists.ts'

const { projectId: _, bodyId: __, ...COLUMNS } = getTableColumns(sessionMessages)

export type NewSessionMessage = Pick<
  typeof sessionMessages.$inferSelect,
  'projectId' | 'id' | 'sessionId' | 'role' | 'content' | 'bodyId' | 'model' | 'taskId' | 'agentName' | 'usage' | 'metadata' | 'evalScore' | 'evalSummary'
>

/** Stores a message of a session. Returns the time. */
export async function insertMessage(tx: Tx, message: NewSessionMessage): Promise<Date> {
  const [row] = await tx.orm.insert(sessionMessages).values(message).returning({ createdAt: sessionMessages.createdAt })
  return row?.createdAt as Date
}

/** Makes a session's messages without a task be about one. Returns those of an assistant, oldest first. */
export async function attributeMessages(
  tx: Tx,
  projectId: string,
  sessionId: string,
  taskId: string,
): Promise<{ content: string | null; bodyId: string | null }[]> {
  const rows = await tx.orm
    .update(sessionMessages)
    .set({ taskId })
    .where(and(eq(sessionMessages.projectId, projectId), eq(sessionMessages.sessionId, sessionId), isNull(sessionMessages.taskId)))
    .returning({ id: sessionMessages.id, role: sessionMessages.role, content: sessionMessages.content, bodyId: sessionMessages.bodyId })
  return rows.filter(({ role }) => role === 'assistant').sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Newest first. Of texts in `bodies`, only the length is read. */
export async function listMessages(
  tx: Tx,
  projectId: string,
  sessionId: string,
  page: { beforeId?: string | undefined; limit: number },
): Promise<SessionMessage[]> {
  const { where, orderBy } = along([[sessionMessages.sessionId, sessionId]], sessionMessages.id, page.beforeId)
  return await tx.orm
    .select({ ...COLUMNS, contentBytes: sql<number>`coalesce(octet_length(${bodies.bytes}), octet_length(${sessionMessages.content}))` })
    .from(sessionMessages)
    .leftJoin(bodies, eq(bodies.id, sessionMessages.bodyId))
    .where(and(eq(sessionMessages.projectId, projectId), ...where))
    .orderBy(...orderBy)
    .limit(page.limit)
}
