import { type CheckRun, checkIns, checkRuns, type TaskRevision, type TaskSummary, type Tx, taskRevisions, tasks, taskUpdates, type Update } from '@muster/db'
import {
  isTerminalTask,
  notFound,
  type Priority,
  renderContext,
  requireController,
  requireFound,
  requireOwnTask,
  requireScope,
  TASK_STATUSES,
  type Task,
  type TaskStatus,
} from '@muster/domain'
import { type Ctx, reading, readingMany } from '../core/ctx.ts'
import { idInCursor, numberInCursor, type Page, page } from '../core/page.ts'

/** @throws DomainError `not_found` */
export async function getTask(ctx: Ctx, id: string): Promise<Task> {
  requireScope(ctx.actor, 'tasks:read')
  return await reading(ctx, (tx) => findOwn(ctx, tx, id))
}

/** A task's context as a section of a prompt; empty for an empty context. [EN] 8.2 */
export async function getTaskContext(ctx: Ctx, id: string): Promise<string> {
  return renderContext((await getTask(ctx, id)).context)
}

export interface TaskQuery {
  status?: TaskStatus | undefined
  parentSession?: string | undefined
  subagentSession?: string | undefined
  priority?: Priority | undefined
  text?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Newest first. A sub-agent's own credential sees the tasks that its session holds. */
export async function listTasks(ctx: Ctx, query: TaskQuery): Promise<Page<TaskSummary>> {
  requireScope(ctx.actor, 'tasks:read')
  const { lineage } = ctx.actor
  const beforeId = idInCursor(query.cursor)
  if (lineage !== null && query.subagentSession !== undefined && query.subagentSession !== lineage.sessionId) return { items: [], nextCursor: null }
  const items = await readingMany(ctx, (tx) =>
    tasks.listTasks(tx, ctx.actor.projectId, {
      status: query.status,
      parentSessionId: query.parentSession,
      subagentSessionId: lineage?.sessionId ?? query.subagentSession,
      priority: query.priority,
      text: query.text,
      onlyId: lineage?.taskId ?? undefined,
      beforeId,
      limit: query.limit + 1,
    }),
  )
  return page(items, query.limit, (last) => last.id)
}

export interface TaskStats {
  total: number
  /** Those that have not ended. */
  active: number
  byStatus: Record<TaskStatus, number>
}

/** How many tasks there are in the project. [EN] 3.3 */
export async function getTaskStats(ctx: Ctx): Promise<TaskStats> {
  requireScope(ctx.actor, 'tasks:read')
  requireController(ctx.actor)
  const counts = await readingMany(ctx, (tx) => tasks.countTasks(tx, ctx.actor.projectId))
  const byStatus = Object.fromEntries(TASK_STATUSES.map((status) => [status, 0])) as Record<TaskStatus, number>
  for (const { status, count } of counts) byStatus[status] = count
  const sum = (statuses: readonly TaskStatus[]) => statuses.reduce((total, status) => total + byStatus[status], 0)
  return { total: sum(TASK_STATUSES), active: sum(TASK_STATUSES.filter((status) => !isTerminalTask(status))), byStatus }
}

interface PageQuery {
  limit: number
  cursor?: string | undefined
}

/** Every state of the brief, newest first. */
export async function listTaskRevisions(ctx: Ctx, id: string, query: PageQuery): Promise<Page<TaskRevision>> {
  requireScope(ctx.actor, 'tasks:read')
  const before = numberInCursor(query.cursor)
  const items = await readingMany(ctx, async (tx) => {
    await findOwn(ctx, tx, id)
    return await taskRevisions.listRevisions(tx, id, before, query.limit + 1)
  })
  return page(items, query.limit, (last) => String(last.revision))
}

/** What assignees have reported on the criteria of a task, newest first. */
export async function listTaskCheckIns(ctx: Ctx, id: string, query: PageQuery): Promise<Page<checkIns.TaskCheckIn>> {
  requireScope(ctx.actor, 'tasks:read')
  const before = idInCursor(query.cursor)
  const items = await readingMany(ctx, async (tx) => {
    await findOwn(ctx, tx, id)
    return await checkIns.listTaskCheckIns(tx, ctx.actor.projectId, id, before, query.limit + 1)
  })
  return page(items, query.limit, (last) => last.id)
}

/** The executions of the checks of a task, newest first. */
export async function listTaskChecks(ctx: Ctx, id: string, query: PageQuery): Promise<Page<CheckRun>> {
  requireScope(ctx.actor, 'tasks:read')
  const before = idInCursor(query.cursor)
  const items = await readingMany(ctx, async (tx) => {
    await findOwn(ctx, tx, id)
    return await checkRuns.listCheckRuns(tx, ctx.actor.projectId, id, before, query.limit + 1)
  })
  return page(items, query.limit, (last) => last.id)
}

/** The updates of a task with their receipts, oldest first. */
export async function listTaskUpdates(ctx: Ctx, id: string, query: PageQuery): Promise<Page<Update>> {
  requireScope(ctx.actor, 'tasks:read')
  const after = numberInCursor(query.cursor) ?? 0
  const items = await readingMany(ctx, async (tx) => {
    await findOwn(ctx, tx, id)
    return await taskUpdates.listTaskUpdates(tx, ctx.actor.projectId, id, after, query.limit + 1)
  })
  return page(items, query.limit, (last) => String(last.seq))
}

/**
 * One update of a task or a subtask. Its recipient can confirm that Muster sent it, and compare the content word for word.
 *
 * @throws DomainError `not_found`, which is the answer for one that is not genuine
 */
export async function confirmUpdate(ctx: Ctx, updateId: string): Promise<Update> {
  requireScope(ctx.actor, 'tasks:read')
  return await reading(ctx, async (tx) => {
    const update = requireFound(await taskUpdates.findUpdate(tx, updateId), 'update')
    const { lineage } = ctx.actor
    if (update.subtaskId !== null && lineage !== null && lineage.subtaskId !== update.subtaskId) throw notFound('update')
    if (update.taskId !== null && lineage !== null) await findOwn(ctx, tx, update.taskId, 'update')
    return update
  })
}

async function findOwn(ctx: Ctx, tx: Tx, id: string, what = 'task'): Promise<Task> {
  const task = requireFound(await tasks.findTask(tx, id), what)
  requireOwnTask(ctx.actor, task)
  return task
}
