import { checkpoints, injections, outbox, pipeline, steps, type Tx, tasks, taskUpdates, transaction, type Update, updates } from '@muster/db'
import {
  cutToBytes,
  cutToCodePoints,
  fenceOf,
  type NewEvent,
  NO_USAGE,
  PROMPT_BYTES_MAX,
  renderTaskUpdate,
  type StepKind,
  subtaskSessionId,
  toStorableJson,
  toStorableText,
  type UsageAdded,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { subtaskEvent, taskUpdateEvent, updateEvent } from '../events/event-data.ts'
import {
  findUndeliveredUpdates,
  recordDeliveries,
  renderTaskUpdates,
  renderUndeliveredUpdates,
  subjectOfRun,
  toUpdateText,
  type UndeliveredTask,
} from '../tasks/undelivered-updates.ts'
import { TIMEOUT_GRACE_SECONDS } from './claim-runs.ts'
import { hasFailure, watchLoops } from './run-loops.ts'

export interface RunCheckpoint {
  subtaskId: string
  attempt: number
  agentId: string
  task: string
  /** The task of the subtask. If the run holds it, it receives its updates. */
  taskId: string | null
  parentSessionId: string | null
  workerId: string
  steps: readonly { kind: StepKind; content: unknown }[]
  /** What the attempt has sent first, with the checkpoint after that. */
  prompt?: GivenPrompt | null
  usage: Partial<UsageAdded>
  /** Updates that the agent has acknowledged. */
  acknowledgedIds: readonly string[]
  /** Whether the run accepts updates. If so, queued ones are delivered now. */
  takesUpdates: boolean
  /** Number of the last step that is known to be stored; null if the caller does not count and never repeats. */
  afterStepSeq: number | null
  /** Renews the lease; false if the worker renews all its leases in one statement. */
  renewsLease: boolean
  /** Repeat delivered but unacknowledged updates: for outside workers, whose answer may have been lost. */
  repeatUnacknowledged: boolean
}

/** The texts that a runner has sent first. */
export interface GivenPrompt {
  system: string | null
  message: string | null
  isContinued: boolean
}

export interface CheckpointAnswer {
  cancelRequested: boolean
  leaseExpiresAt: Date
  /** Number of the last stored step. */
  stepSeq: number
  updates: RenderedUpdate[]
  /** Why the run has to end as blocked, because it goes in circles; null if it goes on. */
  blocked: string | null
}

/** An update with its text for the agent. */
export type RenderedUpdate = Update & { text: string }

/** Between two steps of a run: stores its steps and delivers updates. Null if the attempt is no longer the current one. */
export async function checkpointRun(deps: Deps, projectId: string, input: RunCheckpoint): Promise<CheckpointAnswer | null> {
  return await transaction(deps.db, projectId, (tx) => checkpointInTransaction(deps, tx, projectId, input))
}

/**
 * The undelivered updates of the task that a run holds; null if there are none, which one query tells. Locks the task, so it comes before
 * the lock of the run's row.
 */
export async function deliverTaskUpdates(
  deps: Pick<Deps, 'newId'>,
  tx: Tx,
  projectId: string,
  subtaskId: string,
  taskId: string | null,
): Promise<UndeliveredTask | null> {
  const sessionId = subtaskSessionId(subtaskId)
  if (taskId === null || !(await injections.taskHasUpdates(tx, taskId, sessionId))) return null
  const [, found] = await pipeline([injections.lockSession(tx, projectId, sessionId), findUndeliveredUpdates(tx, projectId, sessionId)])
  const undelivered = await renderUndeliveredUpdates(tx, projectId, found, fenceOf(deps.newId()))
  return undelivered.find((each) => each.taskId === taskId) ?? null
}

/** The same in a caller's transaction. `taken` is the answer of `deliverTaskUpdates`, for a caller that has locked the run's row since. */
export async function checkpointInTransaction(
  deps: Deps,
  tx: Tx,
  projectId: string,
  input: RunCheckpoint,
  taken?: UndeliveredTask | null,
): Promise<CheckpointAnswer | null> {
  const { subtaskId, attempt } = input
  const undelivered = taken === undefined && input.takesUpdates ? await deliverTaskUpdates(deps, tx, projectId, subtaskId, input.taskId) : (taken ?? null)
  const row = await checkpoints.writeCheckpoint(tx, projectId, {
    subtaskId,
    attempt,
    steps: input.steps.map((step) => ({ kind: step.kind, content: toStorableJson(step.content) })),
    usage: { ...NO_USAGE, ...input.usage },
    afterStepSeq: input.afterStepSeq,
    renewsLease: input.renewsLease,
    timeoutGraceSeconds: TIMEOUT_GRACE_SECONDS,
  })
  if (row === null) return null
  if (input.prompt != null) await steps.insertPrompt(tx, projectId, input, boundedPrompt(input.prompt))
  const actor = { kind: 'worker', id: input.workerId }
  const holder = holderOf(subtaskId, attempt)
  const events: NewEvent[] = []

  const sessionId = subtaskSessionId(subtaskId)
  if (input.acknowledgedIds.length > 0) {
    const acknowledged = await updates.acknowledgeUpdates(tx, projectId, subtaskId, input.acknowledgedIds)
    events.push(...acknowledged.map((id) => updateEvent('update.acknowledged', id, subtaskId, actor)))
    if (input.taskId !== null && acknowledged.length < input.acknowledgedIds.length) {
      const ofTask = await taskUpdates.acknowledgeTaskUpdatesById(tx, projectId, input.taskId, sessionId, input.acknowledgedIds)
      events.push(...ofTask.map((id) => taskUpdateEvent('update.acknowledged', id, input.taskId as string, actor)))
    }
  }
  // Before updates are taken, so that a notice comes with this answer.
  const stored = { stepSeq: row.stepSeq, count: input.steps.length, isFresh: row.isFresh }
  const loops = hasFailure(input.steps) ? await watchLoops(deps, tx, projectId, { subtaskId, attempt }, stored) : null
  let delivered: RenderedUpdate[] = []
  if (input.takesUpdates && (row.updateSeq > 0 || (loops !== null && loops.notices > 0))) {
    const repeated = input.repeatUnacknowledged ? await updates.listUnacknowledged(tx, projectId, subtaskId, holder) : []
    const fresh = await updates.takeQueuedUpdates(tx, projectId, subtaskId, holder)
    events.push(...fresh.map((update) => updateEvent('update.delivered', update.updateId, subtaskId, actor, { delivered_to: holder })))
    delivered = renderNotes(deps, input, [...repeated, ...fresh])
  }
  if (input.takesUpdates && input.taskId !== null) {
    if (input.repeatUnacknowledged) delivered.push(...(await repeatUnacknowledged(deps, tx, projectId, input.taskId, sessionId)))
    if (undelivered !== null) delivered.push(...(await deliverUndelivered(deps, tx, projectId, input, undelivered, actor)))
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
  if (events.length > 0) tx.afterCommit(() => deps.notifier.notify('outbox'))
  return { cancelRequested: row.cancelRequested, leaseExpiresAt: row.leaseExpiresAt, stepSeq: row.stepSeq, updates: delivered, blocked: loops?.blocked ?? null }
}

function boundedPrompt({ system, message, isContinued }: GivenPrompt): Omit<steps.SentPrompt, 'attempt' | 'at'> {
  const [first, second] = [system, message].map((text) => (text === null ? null : cutToBytes(toStorableText(text), PROMPT_BYTES_MAX)))
  return { system: first?.text ?? null, message: second?.text ?? null, isContinued, isCut: first?.truncated === true || second?.truncated === true }
}

/** Notes for the subtask itself. */
function renderNotes(deps: Pick<Deps, 'newId'>, { subtaskId, task }: RunCheckpoint, notes: readonly Update[]): RenderedUpdate[] {
  const fence = fenceOf(deps.newId())
  const subject = subjectOfRun({ id: subtaskId, task })
  return notes.map((note) => ({ ...note, text: renderTaskUpdate(toUpdateText(note, subject), fence) }))
}

/** Delivered but unacknowledged updates of the task, in a new block: the first delivery may have been lost. */
async function repeatUnacknowledged(deps: Pick<Deps, 'newId'>, tx: Tx, projectId: string, taskId: string, sessionId: string): Promise<RenderedUpdate[]> {
  const repeated = await taskUpdates.listUnacknowledgedTaskUpdates(tx, projectId, taskId, sessionId)
  const task = repeated.length === 0 ? null : await tasks.findTask(tx, taskId)
  return task === null ? [] : renderTaskUpdates(task, repeated, fenceOf(deps.newId())).map(({ update, text }) => ({ ...update, text }))
}

/** Delivers changes of its brief to a run, and records the delivered revision. */
async function deliverUndelivered(
  deps: Deps,
  tx: Tx,
  projectId: string,
  input: RunCheckpoint,
  undelivered: UndeliveredTask,
  actor: NewEvent['actor'],
): Promise<RenderedUpdate[]> {
  const held = await recordDeliveries(deps, tx, projectId, subtaskSessionId(input.subtaskId), [undelivered], actor)
  if (held.length === 0) return []
  await checkpoints.writeTaskRevision(tx, input.subtaskId, input.attempt, undelivered.revision)
  return undelivered.items.flatMap(({ update, text }) => (update === null ? [] : [{ ...update, text }]))
}

/** Who an update is delivered to: one attempt, so that the next one gets it again, in its brief. */
export function holderOf(subtaskId: string, attempt: number): string {
  return `subtask-${subtaskId}#${attempt}`
}
