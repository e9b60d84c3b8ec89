import type { Criterion, RequiredOutput } from '@muster/domain'
import { and, desc, eq, lt } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { taskRevisions } from '../../schema/task-revisions.ts'

/** One revision of a task: what changed, and what outputs are evaluated against from then on. */
export interface TaskRevision {
  taskId: string
  revision: number
  fields: string[]
  diff: unknown
  criteria: Criterion[]
  requiredOutputs: RequiredOutput[]
  author: { kind: string; id: string }
  createdAt: Date
}

/** Stores a revision. The task must be locked, and its row have the same content. */
export async function insertRevision(tx: Tx, projectId: string, revision: Omit<TaskRevision, 'createdAt'>): Promise<void> {
  const { author, ...columns } = revision
  await tx.orm.insert(taskRevisions).values({ projectId, ...columns, authorKind: author.kind, authorId: author.id })
}

/** Newest first. */
export async function listRevisions(tx: Tx, taskId: string, before: number | undefined, limit: number): Promise<TaskRevision[]> {
  const rows = await tx.orm
    .select()
    .from(taskRevisions)
    .where(and(eq(taskRevisions.taskId, taskId), before === undefined ? undefined : lt(taskRevisions.revision, before)))
    .orderBy(desc(taskRevisions.revision))
    .limit(limit)
  return rows.map(toRevision)
}

export async function findRevision(tx: Tx, taskId: string, revision: number): Promise<TaskRevision | null> {
  const [row] = await tx.orm
    .select()
    .from(taskRevisions)
    .where(and(eq(taskRevisions.taskId, taskId), eq(taskRevisions.revision, revision)))
  return row === undefined ? null : toRevision(row)
}

function toRevision(row: typeof taskRevisions.$inferSelect): TaskRevision {
  return {
    taskId: row.taskId,
    revision: row.revision,
    fields: row.fields,
    diff: row.diff,
    criteria: row.criteria,
    requiredOutputs: row.requiredOutputs,
    author: { kind: row.authorKind, id: row.authorId },
    createdAt: row.createdAt,
  }
}
