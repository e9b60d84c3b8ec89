import { assignments, type LockedTask, outbox, type Tx, taskUpdates, type Update } from '@muster/db'
import { requireController, requireScope, type Sender, subtaskSessionId, type UpdateType } from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { taskUpdateEvent } from '../events/event-data.ts'
import { lockOpenTask } from './finish-task.ts'

export interface TaskUpdateInput {
  type: UpdateType
  /** Names of the fields of the brief that changed. */
  fields?: string[]
  content: string
  diff?: unknown
  /** The revision that it made, or that the brief has as it is sent. */
  revision: number
  actor: Sender
}

/**
 * Queues an update for the assignee of a locked task and notifies the worker of a subtask that runs it. Without an assignee, a change of the
 * brief is superseded at once, because the first delivery brings the whole brief; a note stays queued.
 */
export async function queueTaskUpdate(deps: Pick<Deps, 'newId' | 'notifier'>, tx: Tx, task: LockedTask, input: TaskUpdateInput): Promise<Update> {
  const holder = await assignments.markUndelivered(tx, task.id)
  const isPartOfBrief = input.type !== 'note' && input.type !== 'revision_request'
  const update = await taskUpdates.insertTaskUpdate(tx, {
    id: deps.newId(),
    projectId: task.projectId,
    taskId: task.id,
    updateType: input.type,
    fields: input.fields ?? [],
    content: input.content,
    diff: input.diff ?? null,
    revision: input.revision,
    sender: { kind: input.actor.kind, id: input.actor.id, name: input.actor.name ?? null },
    status: holder === null && isPartOfBrief ? 'superseded' : 'queued',
  })
  await outbox.publish(tx, task.projectId, [
    taskUpdateEvent(update.status === 'queued' ? 'update.queued' : 'update.superseded', update.updateId, task.id, input.actor, {
      update_type: update.updateType,
      revision: update.revision,
    }),
  ])
  const { subtaskId } = task
  tx.afterCommit(() => {
    deps.notifier.notify('outbox')
    // Any notification about a subtask makes its worker look for updates, so there is no channel for updates alone.
    if (subtaskId !== null && holder === subtaskSessionId(subtaskId)) deps.notifier.notify('cancel', subtaskId)
  })
  return update
}

/**
 * Sends the assignee of a task a note, without changing the brief. Without an assignee, the note stays queued for the first one.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended
 */
export async function noteTask(ctx: Ctx, id: string, content: string): Promise<Update> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  return await inProject(ctx, async (tx) => {
    const task = await lockOpenTask(tx, id)
    return await queueTaskUpdate(ctx, tx, task, { type: 'note', content, revision: task.revision, actor: ctx.actor })
  })
}
