import { injections, type LockedTask, type Tx, tasks, taskUpdates, type Update } from '@muster/db'
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
  turn: number
  seq: number
  revision: number
  items: TaskNewsItem[]
}

/** Tasks and updates that one request hands over; the next one gets the rest. */
const TASKS_MAX = 50
const UPDATES_PER_TASK_MAX = 500

/**
 * Locks the tasks of which a session has not been told everything, so that nothing is added before it is recorded as told, and finds what
 * that is. The session must be locked. Both go in one packet, and may go in that of the session's lock: each statement sees what was
 * committed before it began, and so the second what others did while the first waited for them.
 */
export async function findTaskNews(tx: Tx, projectId: string, sessionId: string): Promise<injections.NewsOfTask[]> {
  const [locked, found] = await Promise.all([
    injections.lockTasksWithNews(tx, projectId, sessionId, TASKS_MAX),
    injections.listTasksWithNews(tx, projectId, sessionId, { tasks: TASKS_MAX, updatesPerTask: UPDATES_PER_TASK_MAX }),
  ])
  // What there was nothing new about when the tasks were locked is for the next time.
  return found.filter((each) => locked.includes(each.taskId) && !isTerminalTask(each.status))
}

/** Puts what was found into words, in the order in which the session got its tasks: the whole brief first, then its changes in their order. [B5] */
export async function wordTaskNews(tx: Tx, projectId: string, found: readonly injections.NewsOfTask[]): Promise<TaskNews[]> {
  const news: TaskNews[] = []
  for (const each of found) news.push(each.isIntroduced ? wordUpdates(each) : await readBrief(tx, projectId, each))
  return news
}

async function readBrief(tx: Tx, projectId: string, { taskId, turn, updateSeq, revision }: injections.NewsOfTask): Promise<TaskNews> {
  const { brief, notes } = await briefOfTask(tx, { id: taskId, projectId })
  const text = renderAssignment(brief, notes.map(toUpdateText))
  return { taskId, turn, seq: updateSeq, revision, items: [{ kind: 'assignment', taskId, update: null, revision, text }] }
}

/** A locked task with everything that its brief says, and the notes that belong to it. */
export async function briefOfTask(tx: Tx, task: Pick<LockedTask, 'id' | 'projectId'>): Promise<{ brief: Task; notes: Update[] }> {
  const [brief, notes] = await Promise.all([tasks.findTask(tx, task.id), taskUpdates.listNotesForTaskBrief(tx, task.projectId, task.id)])
  return { brief: brief as Task, notes }
}

function wordUpdates({ taskId, turn, queued, updateSeq, revision, deliveredRevision }: injections.NewsOfTask): TaskNews {
  const last = queued.length === UPDATES_PER_TASK_MAX ? queued.at(-1) : undefined
  return {
    taskId,
    turn,
    seq: last?.seq ?? updateSeq,
    revision: last?.revision ?? revision,
    items: queued.map((update) => ({
      kind: 'update',
      taskId,
      update,
      revision: update.revision ?? deliveredRevision ?? revision,
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
  const delivered = await Promise.all(
    told.map((handover) => {
      const subject = { kind: 'task', id: handover.taskId } as const
      const data = { task_id: handover.taskId, delivered_to: sessionId }
      return injections.writeHandover(tx, projectId, sessionId, handover, { type: 'update.delivered', subject, data, actor })
    }),
  )
  if (delivered.some((count) => count !== null && count > 0)) tx.afterCommit(() => deps.bell.ring('outbox'))
  return told.filter((_, place) => delivered[place] !== null).map((handover) => handover.taskId)
}
