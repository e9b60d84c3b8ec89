import { checkpoints, outbox, type Tx, transaction, type Update, updates } from '@muster/db'
import { cutToCodePoints, type NewEvent, type StepKind, toStorableJson, type Usage } from '@muster/domain'
import { TIMEOUT_GRACE_SECONDS } from './claim-runs.ts'
import type { Deps } from './ctx.ts'
import { subtaskEvent, updateEvent } from './event-data.ts'

export interface RunCheckpoint {
  subtaskId: string
  attempt: number
  agentId: string
  task: string
  parentSessionId: string | null
  workerId: string
  steps: readonly { kind: StepKind; content: unknown }[]
  usage: Partial<Omit<Usage, 'steps'>>
  /** Updates that the work has taken in. */
  acknowledgedIds: readonly string[]
  /** Whether the run takes updates; if so, those queued are handed over now. */
  takesUpdates: boolean
  /** Place of the last step that is known to be stored; null where the caller keeps no count, and repeats nothing. */
  afterStepSeq: number | null
  /** Renews the lease; false where a worker renews all of its own at once. */
  renewsLease: boolean
  /** Hand over again what was handed over before but not acknowledged: for outside workers, whose answer may have been lost. */
  repeatUnacknowledged: boolean
}

export interface CheckpointAnswer {
  cancelRequested: boolean
  leaseExpiresAt: Date
  /** Place of the last step stored so far. */
  stepSeq: number
  updates: Update[]
}

/** Between two steps of a run: stores what it did, hands over what is new. Null when the attempt is no longer the current one. */
export async function checkpointRun(deps: Deps, projectId: string, input: RunCheckpoint): Promise<CheckpointAnswer | null> {
  return await transaction(deps.db, projectId, (tx) => checkpointInTransaction(deps, tx, projectId, input))
}

/** The same in a caller's transaction. */
export async function checkpointInTransaction(deps: Deps, tx: Tx, projectId: string, input: RunCheckpoint): Promise<CheckpointAnswer | null> {
  const { subtaskId, attempt } = input
  const row = await checkpoints.writeCheckpoint(tx, projectId, {
    subtaskId,
    attempt,
    steps: input.steps.map((step) => ({ kind: step.kind, content: toStorableJson(step.content) })),
    usage: { inputTokens: 0, outputTokens: 0, costUsdMicros: 0, toolCalls: 0, ...input.usage },
    afterStepSeq: input.afterStepSeq,
    renewsLease: input.renewsLease,
    timeoutGraceSeconds: TIMEOUT_GRACE_SECONDS,
  })
  if (row === null) return null
  const actor = { kind: 'worker', id: input.workerId }
  const holder = holderOf(subtaskId, attempt)
  const events: NewEvent[] = []

  if (input.acknowledgedIds.length > 0) {
    const acknowledged = await updates.acknowledgeUpdates(tx, projectId, subtaskId, input.acknowledgedIds)
    events.push(...acknowledged.map((id) => updateEvent('update.acknowledged', id, subtaskId, actor)))
  }
  let handedOver: Update[] = []
  if (input.takesUpdates && row.updateSeq > 0) {
    const repeated = input.repeatUnacknowledged ? await updates.listUnacknowledged(tx, projectId, subtaskId, holder) : []
    const fresh = await updates.takeQueuedUpdates(tx, projectId, subtaskId, holder)
    events.push(...fresh.map((update) => updateEvent('update.delivered', update.updateId, subtaskId, actor, { delivered_to: holder })))
    handedOver = [...repeated, ...fresh]
  }
  if (input.steps.length > 0) {
    const last = input.steps.findLast((step) => step.kind === 'message')
    const subject = { id: subtaskId, agentId: input.agentId, task: input.task, parentSessionId: input.parentSessionId }
    events.push(
      subtaskEvent('subtask.progress', subject, actor, {
        attempt,
        steps: row.stepSeq,
        message: typeof last?.content === 'string' ? cutToCodePoints(last.content, 500) : null,
      }),
    )
  }
  await outbox.publish(tx, projectId, toStorableJson(events))
  if (events.length > 0) tx.afterCommit(() => deps.bell.ring('outbox'))
  return { cancelRequested: row.cancelRequested, leaseExpiresAt: row.leaseExpiresAt, stepSeq: row.stepSeq, updates: handedOver }
}

/** Who an update is delivered to: one attempt, so that the next one gets it again, in its brief. */
export function holderOf(subtaskId: string, attempt: number): string {
  return `subtask-${subtaskId}#${attempt}`
}
