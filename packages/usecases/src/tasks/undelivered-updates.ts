import { injections, type LockedTask, pipeline, type Tx, tasks, taskUpdates, type Update } from '@muster/db'
import {
  type BriefDiff,
  CRITERIA_FIELDS,
  type HandInWays,
  isTerminalTask,
  type NewEvent,
  renderAssignment,
  renderShortAssignment,
  renderTaskUpdate,
  SHORT_BRIEF_LENGTH_MAX,
  type Task,
  type TaskUpdateText,
  titleOf,
  type UpdateType,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

/** One item about a task that is delivered to a session. */
export interface UndeliveredItem {
  kind: 'assignment' | 'update'
  taskId: string
  /** Null where it is the brief itself. */
  update: Update | null
  revision: number
  text: string
  /** The same for a holder that is shown no more than this, as far as that is possible. */
  shorten(lengthMax: number): string
}

/** The undelivered items of one task that a session holds. */
export interface UndeliveredTask {
  taskId: string
  assignmentGeneration: number
  seq: number
  revision: number
  items: UndeliveredItem[]
}

/** Tasks and updates that one request delivers; the next one gets the rest. */
const TASKS_MAX = 50
const UPDATES_PER_TASK_MAX = 500
/** Of a delivery in one statement. Each task's fit into one row of the outbox, and no task has more updates than a request delivers. */
export const DELIVERY_LIMITS: injections.DeliveryLimits = { tasks: TASKS_MAX, updates: UPDATES_PER_TASK_MAX }

/**
 * Locks the tasks that have undelivered items for a session, so that none is added before the delivery is recorded, and finds the items. The
 * session must be locked. Both statements go in one pipeline, which may be that of the session's lock: each sees what was committed
 * before it began, so the second sees the changes that the first waited for.
 */
export async function findUndeliveredUpdates(tx: Tx, projectId: string, sessionId: string): Promise<injections.UndeliveredRow[]> {
  const [locked, found] = await pipeline([
    injections.lockTasksWithUndelivered(tx, projectId, sessionId, TASKS_MAX),
    injections.listTasksWithUndelivered(tx, projectId, sessionId, { tasks: TASKS_MAX, updatesPerTask: UPDATES_PER_TASK_MAX }),
  ])
  // A task that had nothing undelivered when the tasks were locked is left for the next request.
  return found.filter((each) => locked.includes(each.taskId) && !isTerminalTask(each.status))
}

/**
 * Renders the items in the order in which the session got its tasks: the whole brief first, then its updates in order. [B5]
 *
 * @param fence of this delivery, see `fenceOf`
 */
export async function renderUndeliveredUpdates(
  tx: Tx,
  projectId: string,
  found: readonly injections.UndeliveredRow[],
  fence: string,
  handIn?: HandInWays,
): Promise<UndeliveredTask[]> {
  const undelivered: UndeliveredTask[] = []
  for (const each of found) undelivered.push(each.isBriefDelivered ? renderUpdates(each, fence) : await readBrief(tx, projectId, each, fence, handIn))
  return undelivered
}

/** The same for tasks of which no whole brief waits. */
export function renderUpdatesOfTasks(found: readonly injections.UndeliveredRow[], fence: string): UndeliveredTask[] {
  return found.map((each) => renderUpdates(each, fence))
}

/**
 * The first of the items that fit into an answer of this length, in order, and the length that they take. What comes after the first that does not fit waits.
 * A brief that would make the answer long is shortened if it is the first, and waits otherwise.
 */
export function fitUndelivered(undelivered: readonly UndeliveredTask[], lengthMax: number): { fitting: UndeliveredTask[]; length: number; isAll: boolean } {
  const fitting: UndeliveredTask[] = []
  let length = 0
  for (const task of undelivered) {
    const items: UndeliveredItem[] = []
    for (const item of task.items) {
      const wholeMax = item.kind === 'assignment' ? Math.min(lengthMax, SHORT_BRIEF_LENGTH_MAX) : lengthMax
      const text = length === 0 && item.text.length > wholeMax ? item.shorten(lengthMax) : item.text
      if (length + text.length > (length === 0 ? lengthMax : wholeMax)) break
      items.push({ ...item, text })
      length += text.length + SEPARATOR_LENGTH
    }
    if (items.length === task.items.length) fitting.push({ ...task, items })
    else {
      const last = items.at(-1)
      if (last !== undefined) fitting.push({ ...task, seq: last.update?.seq ?? task.seq, revision: last.revision, items })
      return { fitting, length, isAll: false }
    }
  }
  return { fitting, length, isAll: true }
}

/** Of the empty line between two items. */
const SEPARATOR_LENGTH = 2

async function readBrief(
  tx: Tx,
  projectId: string,
  { taskId, assignmentGeneration, updateSeq, revision }: injections.UndeliveredRow,
  fence: string,
  handIn?: HandInWays,
): Promise<UndeliveredTask> {
  const { brief, notes } = await briefOfTask(tx, { id: taskId, projectId })
  const text = renderBriefOfTask(brief, notes, fence, handIn)
  const shorten = (lengthMax: number) => renderShortAssignment(brief, fence, noteTexts(brief, notes), { handIn: handIn ?? 'call', lengthMax })
  return { taskId, assignmentGeneration, seq: updateSeq, revision, items: [{ kind: 'assignment', taskId, update: null, revision, text, shorten }] }
}

/** A brief with the notes that belong to it, as its holder gets it first. Without `handIn`, for a run, it does not say how to hand in: the runner takes the outputs in. */
export function renderBriefOfTask(brief: Task, notes: readonly Update[], fence: string, handIn?: HandInWays): string {
  return renderAssignment(brief, fence, noteTexts(brief, notes), { handIn })
}

function noteTexts({ id, title }: Task, notes: readonly Update[]): TaskUpdateText[] {
  return notes.map((note) => toUpdateText(note, { kind: 'task', id, title }))
}

/** The whole brief of a locked task, with its notes. */
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
    items: renderTaskUpdates({ ...found, id: taskId }, queued, fence).map(({ update, text, shorten }) => ({
      kind: 'update',
      taskId,
      update,
      revision: update.revision ?? deliveredRevision ?? revision,
      text,
      shorten,
    })),
  }
}

/**
 * Renders the updates of one task. The last one that changes criteria carries the check-in form of the current revision, because the same
 * delivery brings everything up to that revision.
 */
export function renderTaskUpdates(
  task: Pick<Task, 'id' | 'title' | 'revision'> & { criteria: Task['criteria'] | null },
  updates: readonly Update[],
  fence: string,
): (Pick<UndeliveredItem, 'text' | 'shorten'> & { update: Update })[] {
  const { criteria } = task
  const last = updates.findLast(({ fields }) => fields.some((field) => CRITERIA_FIELDS.includes(field)))
  return updates.map((update) => {
    const reportOn = update === last && criteria !== null ? { ...task, criteria } : null
    const shown = { ...toUpdateText(update, { kind: 'task', id: task.id, title: task.title }), reportOn }
    return { update, text: renderTaskUpdate(shown, fence), shorten: (lengthMax) => renderTaskUpdate(shown, fence, lengthMax) }
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
 * Records deliveries to a session: the receipts, the delivery cursors, and that an assigned task, or one sent back for revision, is in
 * progress. Tasks that have been assigned to another session since are skipped. The tasks must be locked. Returns the ids of the tasks
 * that the session still holds.
 */
export async function recordDeliveries(
  deps: Pick<Deps, 'notifier'>,
  tx: Tx,
  projectId: string,
  sessionId: string,
  deliveries: readonly injections.Delivery[],
  actor: NewEvent['actor'],
): Promise<string[]> {
  const delivered = await Promise.all(
    deliveries.map((delivery) => {
      const subject = { kind: 'task', id: delivery.taskId } as const
      const data = { task_id: delivery.taskId, delivered_to: sessionId }
      return injections.writeDelivery(tx, projectId, sessionId, delivery, { type: 'update.delivered', subject, data, actor })
    }),
  )
  if (delivered.some((count) => count !== null && count > 0)) tx.afterCommit(() => deps.notifier.notify('outbox'))
  return deliveries.filter((_, place) => delivered[place] !== null).map((delivery) => delivery.taskId)
}
