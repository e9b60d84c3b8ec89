import { bodies, type Database, readOnce, type Step, steps, subtasks, type Update, updates } from '@muster/db'
import { notFound, ownSubjectId, requireFound, requireOwnSubtask, requireScope, type Subtask, type SubtaskStatus } from '@muster/domain'
import { BatchExecutor } from '../core/batch-executor.ts'
import { type Ctx, reading } from '../core/ctx.ts'
import { idInCursor, numberInCursor, type Page, page } from '../core/page.ts'

/** @throws DomainError `not_found` */
export async function getSubtask(ctx: Ctx, id: string): Promise<Subtask> {
  requireScope(ctx.actor, 'subtasks:read')
  requireOwnSubtask(ctx.actor, id)
  const { subtask, resultBodyId } = requireFound(await readsOf(ctx.db).add({ projectId: ctx.actor.projectId, id }), 'subtask')
  return resultBodyId === null ? subtask : { ...subtask, result: await reading(ctx, (tx) => bodies.readBody(tx, resultBodyId)) }
}

interface SubtaskRead {
  projectId: string
  id: string
}

type SubtaskReads = BatchExecutor<SubtaskRead, subtasks.SubtaskHead | null>
const readsByDatabase = new WeakMap<Database, SubtaskReads>()

/** Reads that come at once share a statement for each project. None sees a state from before its call. */
function readsOf(db: Database): SubtaskReads {
  const known = readsByDatabase.get(db)
  if (known !== undefined) return known
  const reads: SubtaskReads = new BatchExecutor((items) => readHeads(db, items), { batchesAtOnce: 4, batchSizeMax: 50 })
  readsByDatabase.set(db, reads)
  return reads
}

async function readHeads(db: Database, items: readonly SubtaskRead[]): Promise<{ answer: subtasks.SubtaskHead | null }[]> {
  const found = await Promise.all(
    [...Map.groupBy(items, ({ projectId }) => projectId)].map(async ([projectId, reads]) => {
      const ids = reads.map(({ id }) => id)
      return [projectId, await readOnce(db, projectId, (tx) => subtasks.listSubtaskHeads(tx, ids))] as const
    }),
  )
  const byProject = new Map(found)
  return items.map(({ projectId, id }) => ({ answer: byProject.get(projectId)?.get(id) ?? null }))
}

export interface SubtaskQuery {
  status?: SubtaskStatus | undefined
  /** The parent session. */
  session?: string | undefined
  agentId?: string | undefined
  taskId?: string | undefined
  scheduleId?: string | undefined
  /** Its name. */
  subagent?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Newest first. A subtask's own credential sees itself alone. */
export async function listSubtasks(ctx: Ctx, query: SubtaskQuery): Promise<Page<Subtask>> {
  requireScope(ctx.actor, 'subtasks:read')
  const beforeId = idInCursor(query.cursor)
  const items = await reading(ctx, (tx) =>
    subtasks.listSubtasks(tx, ctx.actor.projectId, {
      status: query.status,
      parentSessionId: query.session,
      agentId: ctx.actor.agentId ?? query.agentId,
      taskId: query.taskId,
      scheduleId: query.scheduleId,
      subagentName: query.subagent,
      onlyId: ownSubjectId(ctx.actor),
      beforeId,
      limit: query.limit + 1,
    }),
  )
  return page(items, query.limit, (last) => last.id)
}

/** The transcript, oldest first. */
export async function listSteps(ctx: Ctx, subtaskId: string, query: { limit: number; cursor?: string | undefined }): Promise<Page<Step>> {
  return await listOfSubtask(ctx, subtaskId, query, (tx, afterSeq, limit) => steps.listSteps(tx, ctx.actor.projectId, subtaskId, afterSeq, limit))
}

/** The updates with their receipts, oldest first. */
export async function listUpdates(ctx: Ctx, subtaskId: string, query: { limit: number; cursor?: string | undefined }): Promise<Page<Update>> {
  return await listOfSubtask(ctx, subtaskId, query, (tx, afterSeq, limit) => updates.listUpdates(tx, ctx.actor.projectId, subtaskId, afterSeq, limit))
}

async function listOfSubtask<T extends { seq: number }>(
  ctx: Ctx,
  subtaskId: string,
  query: { limit: number; cursor?: string | undefined },
  read: (tx: Parameters<typeof subtasks.findSubtask>[0], afterSeq: number, limit: number) => Promise<T[]>,
): Promise<Page<T>> {
  requireScope(ctx.actor, 'subtasks:read')
  requireOwnSubtask(ctx.actor, subtaskId)
  const afterSeq = numberInCursor(query.cursor) ?? 0
  const items = await reading(ctx, async (tx) => {
    if (!(await subtasks.subtaskExists(tx, subtaskId))) throw notFound('subtask')
    return await read(tx, afterSeq, query.limit + 1)
  })
  return page(items, query.limit, (last) => String(last.seq))
}
