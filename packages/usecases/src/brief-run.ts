import { checkpoints, outbox, type Tx, transaction, updates } from '@muster/db'
import { type NewEvent, renderBrief, subtaskSessionId } from '@muster/domain'
import { holderOf } from './checkpoint-run.ts'
import type { ClaimedRun } from './claim-runs.ts'
import type { Deps } from './ctx.ts'
import { updateEvent } from './event-data.ts'

/** What a run is told before it starts. */
export interface RunBrief {
  text: string
  task: string
  criteria: { id: string; text: string }[]
  requiredOutputs: ClaimedRun['requiredOutputs']
  revision: number | null
  feedback: string | null
  sessionId: string
}

/** Renders the brief of a claimed run, with every note sent to it so far. Notes still queued count as delivered by it. */
export async function briefRun(deps: Deps, run: ClaimedRun): Promise<RunBrief> {
  if (run.updateSeq === 0) return compose(run, [])
  return await transaction(deps.db, run.projectId, (tx) => briefInTransaction(deps, tx, run))
}

/** The same in a caller's transaction. */
export async function briefInTransaction(deps: Deps, tx: Tx, run: ClaimedRun): Promise<RunBrief> {
  if (run.updateSeq === 0) return compose(run, [])
  // The row's lock keeps a note that arrives just now out of the brief and in the queue, or in the brief and out of the queue.
  const held = await checkpoints.lockRun(tx, { subtaskId: run.id, attempt: run.attempt })
  if (held === null) return compose(run, [])
  const fresh = await updates.takeQueuedUpdates(tx, run.projectId, run.id, holderOf(run.id, run.attempt))
  const notes = await updates.listNotesForBrief(tx, run.projectId, run.id, held.updateSeq)
  const events: NewEvent[] = fresh.map((update) =>
    updateEvent('update.delivered', update.updateId, run.id, { kind: 'system', id: 'brief' }, { delivered_to: holderOf(run.id, run.attempt) }),
  )
  await outbox.publish(tx, run.projectId, events)
  if (events.length > 0) tx.afterCommit(() => deps.bell.ring('outbox'))
  return compose(run, notes)
}

function compose(run: ClaimedRun, notes: { updateId: string; content: string }[]): RunBrief {
  return {
    text: renderBrief({
      task: run.task,
      parentSessionId: run.parentSessionId,
      background: run.background,
      requiredOutputs: run.requiredOutputs,
      updates: notes,
      feedback: run.feedback,
    }),
    task: run.task,
    criteria: [],
    requiredOutputs: run.requiredOutputs,
    revision: run.taskRevision,
    feedback: run.feedback,
    sessionId: subtaskSessionId(run.id),
  }
}
