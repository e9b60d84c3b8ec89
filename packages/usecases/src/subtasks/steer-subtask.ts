import { outbox, subtasks, type Update, updates } from '@muster/db'
import { DomainError, isTerminal, requireFound, requireScope } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { updateEvent } from '../events/event-data.ts'
import { grantFreePermits } from './grant-permits.ts'

export interface NewSubtaskUpdate {
  content: string
  delivery: 'next_step' | 'interrupt'
  /** Whether a runner takes updates while it runs. */
  steerable: (runner: string) => boolean
  /** Whether it then breaks off what it is doing for one that asks for it; unless told, none does. */
  interruptible?: (runner: string) => boolean
}

/**
 * Queues a note for a subtask. A pending one receives it with its prompt, a running one between two steps. With `interrupt` it is delivered
 * before the current step has ended, if the runner supports that; otherwise at the next step, and the answer says so.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended, `not_steerable`, `spawn_blocked` for a subtask's own credential
 */
export async function steerSubtask(ctx: Ctx, id: string, input: NewSubtaskUpdate): Promise<Update> {
  requireScope(ctx.actor, 'subtasks:write')
  return await inProject(ctx, async (tx) => {
    const row = requireFound(await subtasks.lockSubtask(tx, id), 'subtask')
    if (isTerminal(row.status)) {
      throw new DomainError('invalid_transition', `This subtask has already ended as ${row.status}; it takes no more updates.`, { status_now: row.status })
    }
    if (row.status === 'running' && !input.steerable(row.runner)) {
      throw new DomainError('not_steerable', `The runner ${row.runner} takes no updates while it runs. Cancel the subtask, or wait for its result.`)
    }
    const interrupts = input.delivery === 'interrupt' && row.status === 'running' && (input.interruptible?.(row.runner) ?? false)
    const update = await updates.insertNote(tx, {
      id: ctx.newId(),
      projectId: ctx.actor.projectId,
      subtaskId: id,
      content: input.content,
      sender: { kind: ctx.actor.kind, id: ctx.actor.id, name: ctx.actor.name ?? null },
      delivery: interrupts ? 'interrupt' : 'next_step',
    })
    await outbox.publish(tx, ctx.actor.projectId, [updateEvent('update.queued', update.updateId, id, ctx.actor)])
    // While its row was locked here, a freed permit may have passed it by, and its lane may never free another one.
    if (row.status === 'pending' && !row.hasPermit) await grantFreePermits(ctx, tx, ctx.actor.projectId, [row.agentId])
    tx.afterCommit(() => {
      ctx.notifier.notify('outbox')
      if (row.status === 'running') ctx.notifier.notify('cancel', id)
    })
    return update
  })
}
