import { type Criterion, type RequiredOutput, type Task, type TaskContext, type TaskPriority, type TaskStatus, toWebSearch } from '@muster/domain'
import { and, desc, eq, getTableColumns, inArray, sql } from 'drizzle-orm'
import { pipeline, type Tx } from '../../client.ts'
import { tasks } from '../../schema/tasks.ts'
import { along, given, planForValues } from '../core/newest-first.ts'
import { listDependencies } from './task-dependencies.ts'

// The words that a task is found by are nobody's to read.
const { search: _, ...COLUMNS } = getTableColumns(tasks)

type Row = Omit<typeof tasks.$inferSelect, 'search'>

/** A task's own row, without what other tables say of it, and with what only its changes need. */
export interface LockedTask extends Omit<Task, 'tsgs' | 'dependsOn' | 'blockedBy'> {
  /** The subtask that runs it now, or ran it last. */
  subtaskId: string | null
  /** Number of its last update. */
  updateSeq: number
}

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
  | 'metadata'
> & { status: 'pending' | 'blocked' }

/** Inserts a task at revision 1. Answers when. */
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
  const { subtaskId: __, updateSeq: ___, ...task } = toLockedTask(row)
  return {
    ...task,
    tsgs,
    dependsOn: dependencies.map((each) => each.taskId),
    blockedBy: dependencies.filter((each) => each.status !== 'completed').map((each) => each.taskId),
  }
}

/** The guides of a task, in the order in which they were linked. */
export async function listLinkedTsgs(tx: Tx, taskId: string): Promise<Task['tsgs']> {
  const rows = await tx.sql<{ tsg_id: string; title: string }[]>`
    select l.tsg_id, g.title from task_tsgs l join tsgs g on g.project_id = l.project_id and g.tsg_id = l.tsg_id
    where l.task_id = ${taskId} order by l.linked_at, l.tsg_id`
  return rows.map((row) => ({ tsgId: row.tsg_id, title: row.title }))
}

/** Locks a task's row until the end of the transaction. Locks of tasks come after those of sessions and before those of subtasks. */
export async function lockTask(tx: Tx, id: string): Promise<LockedTask | null> {
  const [row] = await tx.orm.select(COLUMNS).from(tasks).where(eq(tasks.id, id)).for('update')
  return row === undefined ? null : toLockedTask(row)
}

/** Locks several, in the order of their ids, so that two transactions cannot wait for each other. Unknown ids are left out. */
export async function lockTasks(tx: Tx, ids: readonly string[]): Promise<LockedTask[]> {
  if (ids.length === 0) return []
  const rows = await tx.orm
    .select(COLUMNS)
    .from(tasks)
    .where(inArray(tasks.id, ids as string[]))
    .orderBy(tasks.id)
    .for('update')
  return rows.map(toLockedTask)
}

/** What a revision may change of a task's own row. */
export interface RevisedFields {
  title: string
  instructions: string
  priority: TaskPriority
  criteria: Criterion[]
  requiredOutputs: RequiredOutput[]
  context: TaskContext | null
  warnings: Task['warnings']
  clientCwd: string | null
  metadata: Record<string, unknown>
}

/** Writes the next revision of a locked task; without fields, one that changed only what belongs to it. Answers its number. */
export async function writeRevisedTask(tx: Tx, id: string, fields: Partial<RevisedFields>): Promise<number> {
  const [row] = await tx.orm
    .update(tasks)
    .set({ ...fields, revision: sql`${tasks.revision} + 1`, updatedAt: sql`muster_now()` })
    .where(eq(tasks.id, id))
    .returning({ revision: tasks.revision })
  return row?.revision as number
}

/** What a step through the states may change besides the status. Absent fields stay as they are. */
export interface Transition {
  status: TaskStatus
  completionOutputs?: Record<string, unknown>
  summary?: string | null
  subagentSessionId?: string | null
  subtaskId?: string | null
  lastError?: string | null
}

/** Moves a locked task to another state. The time of the end is set with the terminal ones. */
export async function writeTransition(tx: Tx, id: string, transition: Transition): Promise<void> {
  const isTerminal = ['completed', 'failed', 'cancelled'].includes(transition.status)
  await tx.orm
    .update(tasks)
    .set({ ...transition, updatedAt: sql`muster_now()`, ...(isTerminal ? { completedAt: sql`muster_now()` } : {}) })
    .where(eq(tasks.id, id))
}

/** Writes what a holder of a locked task says of its progress, which is no part of the brief: the revision stays. */
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
  priority?: TaskPriority | undefined
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
  priority: TaskPriority
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
  // What narrows it down most comes first, and leads.
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

/** The function looks past row-level security, under which its index would stay unused, and in the transaction's project alone. */
async function searchTasks(tx: Tx, filter: TaskFilter, text: string): Promise<TaskSummary[]> {
  const found = await tx.sql<{ id: string }[]>`
    select id from muster_search_tasks(
      ${toWebSearch(text)}, ${filter.beforeId ?? null}::uuid, ${filter.limit}, ${filter.status ?? null}, ${filter.priority ?? null}, ${filter.parentSessionId ?? null},
      ${filter.subagentSessionId ?? null}) as id`
  const ids = found.map((row) => row.id).filter((id) => filter.onlyId === undefined || id === filter.onlyId)
  if (ids.length === 0) return []
  return await tx.orm.select(SUMMARY).from(tasks).where(inArray(tasks.id, ids)).orderBy(desc(tasks.id))
}

/** How many tasks of a project are in which state; those without any are left out. */
export async function countTasks(tx: Tx, projectId: string): Promise<{ status: TaskStatus; count: number }[]> {
  return await tx.sql<{ status: TaskStatus; count: number }[]>`select status, count(*) as count from tasks where project_id = ${projectId} group by status`
}

function toLockedTask(row: Row): LockedTask {
  return {
    id: row.id,
    projectId: row.projectId,
    title: row.title,
    instructions: row.instructions,
    description: row.description,
    status: row.status,
    revision: row.revision,
    priority: row.priority,
    criteria: row.criteria,
    requiredOutputs: row.requiredOutputs,
    completionOutputs: row.completionOutputs,
    summary: row.summary,
    parentSessionId: row.parentSessionId,
    subagentSessionId: row.subagentSessionId,
    context: row.context,
    warnings: row.warnings,
    review: row.review,
    clientCwd: row.clientCwd,
    workspace: row.workspace,
    metadata: row.metadata,
    lastError: row.lastError,
    nextSteps: row.nextSteps,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    completedAt: row.completedAt,
    subtaskId: row.subtaskId,
    updateSeq: row.updateSeq,
  }
}
