import { injections, type LockedTask, pipeline, type Tx, tasks, taskUpdates, type Update } from '@muster/db'
import {
  type BriefDiff,
  CRITERIA_FIELDS,
  isTerminalTask,
  type NewEvent,
  renderAssignment,
  renderTaskUpdate,
  type Task,
  type TaskUpdateText,
  titleOf,
  type UpdateType,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

/** One thing that a session is told of a task. */
export interface UndeliveredItem {
  kind: 'assignment' | 'update'
  taskId: string
  /** Null where it is the brief itself. */
  update: Update | null
  revision: number
  text: string
}

/** What a session has not been told yet of one task that it holds. */
export interface UndeliveredTask {
  taskId: string
  assignmentGeneration: number
  seq: number
  revision: number
  items: UndeliveredItem[]
}

/** Tasks and updates that one request hands over; the next one gets the rest. */
const TASKS_MAX = 50
const UPDATES_PER_TASK_MAX = 500

/**
 * Locks the tasks of which a session has not been told everything, so that nothing is added before it is recorded as told, and finds what
 * that is. The session must be locked. Both go in one packet, and may go in that of the session's lock: each statement sees what was
 * committed before it began, and so the second what others did while the first waited for them.
 */
export async function findUndeliveredUpdates(tx: Tx, projectId: string, sessionId: string): Promise<injections.UndeliveredRow[]> {
  const [locked, found] = await pipeline([
    injections.lockTasksWithUndelivered(tx, projectId, sessionId, TASKS_MAX),
    injections.listTasksWithUndelivered(tx, projectId, sessionId, { tasks: TASKS_MAX, updatesPerTask: UPDATES_PER_TASK_MAX }),
  ])
  // What there was nothing new about when the tasks were locked is for the next time.
  return found.filter((each) => locked.includes(each.taskId) && !isTerminalTask(each.status))
}

/**
 * Puts what was found into words, in the order in which the session got its tasks: the whole brief first, then its changes in their order. [B5]
 *
 * @param fence of this delivery, see `fenceOf`
 */
export async function renderUndeliveredUpdates(
  tx: Tx,
  projectId: string,
  found: readonly injections.UndeliveredRow[],
  fence: string,
): Promise<UndeliveredTask[]> {
  const undelivered: UndeliveredTask[] = []
  for (const each of found) undelivered.push(each.isBriefDelivered ? renderUpdates(each, fence) : await readBrief(tx, projectId, each, fence))
  return undelivered
}

async function readBrief(
  tx: Tx,
  projectId: string,
  { taskId, assignmentGeneration, updateSeq, revision }: injections.UndeliveredRow,
  fence: string,
): Promise<UndeliveredTask> {
  const { brief, notes } = await briefOfTask(tx, { id: taskId, projectId })
  const text = renderBriefOfTask(brief, notes, fence)
  return { taskId, assignmentGeneration, seq: updateSeq, revision, items: [{ kind: 'assignment', taskId, update: null, revision, text }] }
}

/** A brief with the notes that belong to it, as its holder gets it first. */
export function renderBriefOfTask(brief: Task, notes: readonly Update[], fence: string): string {
  const subject = { kind: 'task', id: brief.id, title: brief.title } as const
  return renderAssignment(
    brief,
    fence,
    notes.map((note) => toUpdateText(note, subject)),
  )
}

/** A locked task with everything that its brief says, and the notes that belong to it. */
export async function briefOfTask(tx: Tx, task: Pick<LockedTask, 'id' | 'projectId'>): Promise<{ brief: Task; notes: Update[] }> {
  const [brief, notes] = await Promise.all([tasks.findTask(tx, task.id), taskUpdates.listNotesForTaskBrief(tx, task.projectId, task.id)])
  return { brief: brief as Task, notes }
}

function renderUpdates(found: injections.UndeliveredRow, fence: string): UndeliveredTask {
  const { taskId, assignmentGeneration, queued, updateSeq, revision, deliveredRevision } = found
  const last = queued.length === UPDATES_PER_TASK_MAX ? queued.at(-1) : undefined
  return {
    taskId,
    assignmentGeneration,
    seq: last?.seq ?? updateSeq,
    revision: last?.revision ?? revision,
    items: renderTaskUpdates({ ...found, id: taskId }, queued, fence).map(({ update, text }) => ({
      kind: 'update',
      taskId,
      update,
      revision: update.revision ?? deliveredRevision ?? revision,
      text,
    })),
  }
}

/**
 * Updates of one task, in words. The last that changes criteria brings the form of the revision that the task has now: the holder gets
 * everything up to it in the same delivery.
 */
export function renderTaskUpdates(
  task: Pick<Task, 'id' | 'title' | 'revision'> & { criteria: Task['criteria'] | null },
  updates: readonly Update[],
  fence: string,
): { update: Update; text: string }[] {
  const { criteria } = task
  const last = updates.findLast(({ fields }) => fields.some((field) => CRITERIA_FIELDS.includes(field)))
  return updates.map((update) => {
    const reportOn = update === last && criteria !== null ? { ...task, criteria } : null
    return { update, text: renderTaskUpdate({ ...toUpdateText(update, { kind: 'task', id: task.id, title: task.title }), reportOn }, fence) }
  })
}

/** A subtask as its updates name it: by the first line of what it is to do. */
export function subjectOfRun(run: { id: string; task: string }): TaskUpdateText['subject'] {
  return { kind: 'subtask', id: run.id, title: titleOf(run.task) }
}

export function toUpdateText(update: Update, subject: TaskUpdateText['subject']): TaskUpdateText {
  return {
    updateId: update.updateId,
    subject,
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
export async function recordDeliveries(
  deps: Pick<Deps, 'notifier'>,
  tx: Tx,
  projectId: string,
  sessionId: string,
  handovers: readonly injections.Handover[],
  actor: NewEvent['actor'],
): Promise<string[]> {
  const delivered = await Promise.all(
    handovers.map((handover) => {
      const subject = { kind: 'task', id: handover.taskId } as const
      const data = { task_id: handover.taskId, delivered_to: sessionId }
      return injections.writeHandover(tx, projectId, sessionId, handover, { type: 'update.delivered', subject, data, actor })
    }),
  )
  if (delivered.some((count) => count !== null && count > 0)) tx.afterCommit(() => deps.notifier.notify('outbox'))
  return handovers.filter((_, place) => delivered[place] !== null).map((handover) => handover.taskId)
}
