import { injections, type LockedTask, outbox, type Tx, tasks, taskUpdates, type Update } from '@muster/db'
import {
  type BriefDiff,
  isTerminalTask,
  type NewEvent,
  renderAssignment,
  renderTaskUpdate,
  type Task,
  type TaskUpdateText,
  type UpdateType,
} from '@muster/domain'
import type { Deps } from './ctx.ts'
import { taskUpdateEvent } from './event-data.ts'

/** One thing that a session is told of a task. */
export interface TaskNewsItem {
  kind: 'assignment' | 'update'
  taskId: string
  /** Null where it is the brief itself. */
  update: Update | null
  revision: number
  text: string
}

/** What a session has not been told yet of one task that it holds. */
export interface TaskNews {
  taskId: string
  seq: number
  revision: number
  items: TaskNewsItem[]
}

/** Tasks and updates that one request hands over; the next one gets the rest. */
const TASKS_MAX = 50
const UPDATES_PER_TASK_MAX = 500

/**
 * Reads what a session has not been told yet of the tasks that it holds, in the order in which it got them: the whole brief first, then
 * its changes in their order. The session must be locked; locks the tasks, so that nothing is added before it is recorded as told. [B5]
 */
export async function readTaskNews(tx: Tx, projectId: string, sessionId: string): Promise<TaskNews[]> {
  const candidates = await injections.listTasksWithNews(tx, projectId, sessionId, TASKS_MAX)
  if (candidates.length === 0) return []
  const ids = candidates.map((candidate) => candidate.taskId)
  const locked = new Map((await tasks.lockTasks(tx, ids)).map((task) => [task.id, task]))
  // Again, now that nobody can change it: a task may have gone to another session while its lock was waited for.
  const current = (await injections.listTasksWithNews(tx, projectId, sessionId, TASKS_MAX)).filter((each) => locked.has(each.taskId))
  const news: TaskNews[] = []
  for (const told of current) {
    const task = locked.get(told.taskId) as LockedTask
    if (isTerminalTask(task.status)) continue
    news.push(told.isIntroduced ? await readUpdates(tx, task, told) : await readBrief(tx, task))
  }
  return news
}

async function readBrief(tx: Tx, task: LockedTask): Promise<TaskNews> {
  const { brief, notes } = await briefOfTask(tx, task)
  const text = renderAssignment(brief, notes.map(toUpdateText))
  const item = { kind: 'assignment', taskId: task.id, update: null, revision: task.revision, text } as const
  return { taskId: task.id, seq: task.updateSeq, revision: task.revision, items: [item] }
}

/** A locked task with everything that its brief says, and the notes that belong to it. */
export async function briefOfTask(tx: Tx, task: LockedTask): Promise<{ brief: Task; notes: Update[] }> {
  const [brief, notes] = await Promise.all([tasks.findTask(tx, task.id), taskUpdates.listNotesForTaskBrief(tx, task.projectId, task.id)])
  return { brief: brief as Task, notes }
}

async function readUpdates(tx: Tx, task: LockedTask, told: injections.NewsOfTask): Promise<TaskNews> {
  const queued = await taskUpdates.listQueuedTaskUpdates(tx, task.projectId, task.id, UPDATES_PER_TASK_MAX)
  const last = queued.length === UPDATES_PER_TASK_MAX ? queued.at(-1) : undefined
  return {
    taskId: task.id,
    seq: last?.seq ?? task.updateSeq,
    revision: last?.revision ?? task.revision,
    items: queued.map((update) => ({
      kind: 'update',
      taskId: task.id,
      update,
      revision: update.revision ?? told.deliveredRevision ?? task.revision,
      text: renderTaskUpdate(toUpdateText(update)),
    })),
  }
}

export function toUpdateText(update: Update): TaskUpdateText {
  return {
    updateId: update.updateId,
    updateType: update.updateType as UpdateType,
    revision: update.revision,
    sender: update.sender,
    createdAt: update.createdAt,
    content: update.content,
    diff: update.diff as BriefDiff | null,
  }
}

/**
 * Records that a session has been told of its tasks as far as it was handed over: receipts, and the first sign of life, by which an
 * assigned task is in progress, and one that was sent back is again. What went to another session meanwhile is left alone. The tasks must
 * be locked. Answers the tasks that the session still held.
 */
export async function recordTaskNews(
  deps: Pick<Deps, 'bell'>,
  tx: Tx,
  projectId: string,
  sessionId: string,
  told: readonly injections.Handover[],
  actor: NewEvent['actor'],
): Promise<string[]> {
  const events: NewEvent[] = []
  const held: string[] = []
  for (const handover of told) {
    const delivered = await injections.writeHandover(tx, projectId, sessionId, handover)
    if (delivered === null) continue
    held.push(handover.taskId)
    events.push(...delivered.map((id) => taskUpdateEvent('update.delivered', id, handover.taskId, actor, { delivered_to: sessionId })))
    await tasks.beginWork(tx, handover.taskId)
  }
  await outbox.publish(tx, projectId, events)
  if (events.length > 0) tx.afterCommit(() => deps.bell.ring('outbox'))
  return held
}
