import {
  type Criterion,
  type Priority,
  type RequiredOutput,
  type SubtaskBudget,
  type Task,
  type TaskContext,
  type TaskStatus,
  toWebSearch,
} from '@muster/domain'
import { and, count, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import { pipeline, type Tx } from '../../client.ts'
import { taskTsgs } from '../../schema/task-tsgs.ts'
import { tasks } from '../../schema/tasks.ts'
import { tsgs } from '../../schema/tsgs.ts'
import { along, anyOf, given, planForValues } from '../core/lists.ts'
import { listDependencies } from './task-dependencies.ts'

// The search index of a task is not shown.
const { search: _, ...COLUMNS } = getTableColumns(tasks)

/** A task's own row, without guides and dependencies. */
export type LockedTask = Omit<typeof tasks.$inferSelect, 'search'>

export type NewTaskRow = Pick<
  Task,
  | 'id'
  | 'projectId'
  | 'title'
  | 'instructions'
  | 'description'
  | 'priority'
  | 'criteria'
  | 'requiredOutputs'
  | 'context'
  | 'warnings'
  | 'parentSessionId'
  | 'review'
  | 'clientCwd'
  | 'workspace'
  | 'budgetMaxTokens'
  | 'budgetMaxCostMicros'
  | 'metadata'
> & { status: 'pending' | 'blocked' }

/** Inserts a task at revision 1. Returns the time. */
export async function insertTask(tx: Tx, row: NewTaskRow): Promise<Date> {
  const [inserted] = await tx.orm.insert(tasks).values(row).returning({ createdAt: tasks.createdAt })
  return inserted?.createdAt as Date
}

/** One task with everything that belongs to it, or null. */
export async function findTask(tx: Tx, id: string): Promise<Task | null> {
  const [[row], tsgs, dependencies] = await Promise.all([
    tx.orm.select(COLUMNS).from(tasks).where(eq(tasks.id, id)),
    listLinkedTsgs(tx, id),
    listDependencies(tx, id),
  ])
  if (row === undefined) return null
  const { subtaskId: __, updateSeq: ___, ...task } = row
  return {
    ...task,
    tsgs,
    dependsOn: dependencies.map((each) => each.taskId),
    blockedBy: dependencies.filter((each) => each.status !== 'completed').map((each) => each.taskId),
  }
}

/** The guides of a task, in the order in which they were linked. */
export async function listLinkedTsgs(tx: Tx, taskId: string): Promise<Task['tsgs']> {
  return await tx.orm
    .select({ tsgId: taskTsgs.tsgId, title: tsgs.title })
    .from(taskTsgs)
    .innerJoin(tsgs, and(eq(tsgs.projectId, taskTsgs.projectId), eq(tsgs.tsgId, taskTsgs.tsgId)))
    .where(eq(taskTsgs.taskId, taskId))
    .orderBy(taskTsgs.linkedAt, taskTsgs.tsgId)
}

/** Locks a task's row until the end of the transaction. Locks of tasks come after those of sessions and before those of subtasks. */
export async function lockTask(tx: Tx, id: string): Promise<LockedTask | null> {
  const [row] = await tx.orm.select(COLUMNS).from(tasks).where(eq(tasks.id, id)).for('update')
  return row ?? null
}

/** Locks several, in the order of their ids, so that two transactions cannot wait for each other. Ignores unknown ids. */
export async function lockTasks(tx: Tx, ids: readonly string[]): Promise<LockedTask[]> {
  if (ids.length === 0) return []
  return await tx.orm.select(COLUMNS).from(tasks).where(anyOf(tasks.id, ids)).orderBy(tasks.id).for('update')
}

/** The fields of a task's own row that a revision may change. */
export interface RevisedFields {
  title: string
  instructions: string
  priority: Priority
  criteria: Criterion[]
  requiredOutputs: RequiredOutput[]
  context: TaskContext | null
  warnings: Task['warnings']
  clientCwd: string | null
  budgetMaxTokens: number | null
  budgetMaxCostMicros: number | null
  metadata: Record<string, unknown>
}

/** Writes the next revision of a locked task, without fields if only its guides or dependencies changed. Returns its number. */
export async function writeRevisedTask(tx: Tx, id: string, fields: Partial<RevisedFields>): Promise<number> {
  const [row] = await tx.orm
    .update(tasks)
    .set({ ...fields, revision: sql`${tasks.revision} + 1`, updatedAt: sql`muster_now()` })
    .where(eq(tasks.id, id))
    .returning({ revision: tasks.revision })
  return row?.revision as number
}

/** Adds to the budget of a locked task; null adds nothing. It is no part of the brief that its holder reads, so the revision stays. */
export async function raiseBudget(tx: Tx, id: string, { maxTokens, maxCostUsdMicros }: SubtaskBudget): Promise<void> {
  await tx.orm
    .update(tasks)
    .set({
      budgetMaxTokens: sql`${tasks.budgetMaxTokens} + ${maxTokens ?? 0}`,
      budgetMaxCostMicros: sql`${tasks.budgetMaxCostMicros} + ${maxCostUsdMicros ?? 0}`,
      updatedAt: sql`muster_now()`,
    })
    .where(eq(tasks.id, id))
}

/** A change of state, and the fields that it may change. Missing fields stay as they are. */
export interface Transition {
  status: TaskStatus
  completionOutputs?: Record<string, unknown>
  summary?: string | null
  subagentSessionId?: string | null
  subtaskId?: string | null
  lastError?: string | null
}

/** Moves a locked task to another state. A terminal one sets the time of completion. */
export async function writeTransition(tx: Tx, id: string, transition: Transition): Promise<void> {
  const isTerminal = ['completed', 'failed', 'cancelled'].includes(transition.status)
  await tx.orm
    .update(tasks)
    .set({ ...transition, updatedAt: sql`muster_now()`, ...(isTerminal ? { completedAt: sql`muster_now()` } : {}) })
    .where(eq(tasks.id, id))
}

/** Writes the progress that the assignee of a locked task reported. It is no part of the brief, so the revision stays. */
export async function writeProgress(tx: Tx, id: string, progress: { criteria: Criterion[]; nextSteps: string[] }): Promise<void> {
  await tx.orm
    .update(tasks)
    .set({ ...progress, updatedAt: sql`muster_now()` })
    .where(eq(tasks.id, id))
}

export interface TaskFilter {
  status?: TaskStatus | undefined
  parentSessionId?: string | undefined
  subagentSessionId?: string | undefined
  priority?: Priority | undefined
  /** Words to search for, as a web search takes them. */
  text?: string | undefined
  /** Only the one task that a sub-agent's own credential may see. */
  onlyId?: string | undefined
  beforeId?: string | undefined
  limit: number
}

export interface TaskSummary {
  id: string
  title: string
  status: TaskStatus
  priority: Priority
  parentSessionId: string | null
  subagentSessionId: string | null
  hasEnhancedContext: boolean
  deliverablesCount: number
  successCriteriaCount: number
  createdAt: Date
  updatedAt: Date
}

const SUMMARY = {
  id: tasks.id,
  title: tasks.title,
  status: tasks.status,
  priority: tasks.priority,
  parentSessionId: tasks.parentSessionId,
  subagentSessionId: tasks.subagentSessionId,
  hasEnhancedContext: sql<boolean>`${tasks.context} is not null`,
  deliverablesCount: sql<number>`coalesce(jsonb_array_length(${tasks.context} #> '{expected_deliverables,items}'), 0)`,
  successCriteriaCount: sql<number>`coalesce(jsonb_array_length(${tasks.context} #> '{success_criteria,criteria}'), 0)`,
  createdAt: tasks.createdAt,
  updatedAt: tasks.updatedAt,
}

/** Newest first. */
export async function listTasks(tx: Tx, projectId: string, filter: TaskFilter): Promise<TaskSummary[]> {
  if (filter.text !== undefined) return await searchTasks(tx, filter, filter.text)
  // The most selective filter leads.
  const [lead, ...rest] = given([
    [tasks.subagentSessionId, filter.subagentSessionId],
    [tasks.parentSessionId, filter.parentSessionId],
    [tasks.status, filter.status],
    [tasks.priority, filter.priority],
  ])
  const { where, orderBy } = along(lead === undefined ? [] : [lead], tasks.id, filter.beforeId)
  const others = [...rest, ...given([[tasks.id, filter.onlyId]])].map(([column, value]) => eq(column, value))
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.orm
      .select(SUMMARY)
      .from(tasks)
      .where(and(eq(tasks.projectId, projectId), ...where, ...others))
      .orderBy(...orderBy)
      .limit(filter.limit),
  ])
  return rows
}

/** The function bypasses row-level security, under which its index would stay unused. It searches only the project of the transaction. */
async function searchTasks(tx: Tx, filter: TaskFilter, text: string): Promise<TaskSummary[]> {
  const found = await tx.orm.execute<{ id: string }>(sql`
    select id from muster_search_tasks(
      ${toWebSearch(text)}, ${filter.beforeId ?? null}::uuid, ${filter.limit}, ${filter.status ?? null}, ${filter.priority === undefined ? null : sql.param(filter.priority, tasks.priority)}, ${filter.parentSessionId ?? null},
      ${filter.subagentSessionId ?? null}) as id`)
  const ids = found.map((row) => row.id).filter((id) => filter.onlyId === undefined || id === filter.onlyId)
  if (ids.length === 0) return []
  return await tx.orm.select(SUMMARY).from(tasks).where(anyOf(tasks.id, ids)).orderBy(desc(tasks.id))
}

/** How many tasks of a project each state has, without empty states. */
export async function countTasks(tx: Tx, projectId: string): Promise<{ status: TaskStatus; count: number }[]> {
  return await tx.orm.select({ status: tasks.status, count: count() }).from(tasks).where(eq(tasks.projectId, projectId)).groupBy(tasks.status)
}
