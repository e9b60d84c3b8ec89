import { claims, questions, settle, steps, subtasks, type Tx, tasks } from '@muster/db'
import {
  type AttemptEnd,
  DomainError,
  noteEvaluation,
  notFound,
  QUIET_SECONDS_MIN,
  requireFound,
  requireScope,
  type StepKind,
  type Subtask,
  type UsageAdded,
} from '@muster/domain'
import { runQueue } from '@muster/jobs'
import { type Ctx, inProject, Replay, reading } from '../core/ctx.ts'
import { idOf, matchesHash, newLeaseToken, newSubtaskCredential } from '../core/secrets.ts'
import { describeRestore } from '../restores/restores.ts'
import { lockForCompletion } from '../tasks/finish-task.ts'
import { takeRoom } from '../usage/quotas.ts'
import { attemptAttributes, isFailure, startWait } from './attempt-spans.ts'
import { buildPromptInTransaction, type RunPrompt } from './build-prompt.ts'
import { checkpointInTransaction, deliverTaskUpdates, type RenderedUpdate, type RunCheckpoint } from './checkpoint-run.ts'
import { type ClaimedRun, claimInTransaction } from './claim-runs.ts'
import { type PreparedEnd, prepareEnds, type RunEnd } from './prepare-ends.ts'
import { judgeSilence, type QuietRun } from './run-loops.ts'
import { settleInTransaction, settleRuns } from './settle-runs.ts'

/** Leases of outside workers. A worker that claims over HTTP runs the subtask, and proves it by the lease token. */

/** The one runner whose queue holds the work of a single project. */
const EXTERNAL = 'external'

export interface ClaimRequest {
  runner: string
  workerId: string
  leaseSeconds: number
}

export interface ClaimedSubtask {
  subtask: Subtask
  sessionId: string
  credential: string
  /** The span that asked for the subtask, for those of the worker. */
  traceparent: string | null
  lease: { token: string; attempt: number; expiresAt: Date }
  brief: Omit<RunPrompt, 'sessionId' | 'runsTask' | 'hasWaited' | 'delivered'>
}

/**
 * Claims the best waiting subtask of a runner for an outside worker; null if there is none, and while an operator has to decide about a restore.
 *
 * Repeated with the same `Idempotency-Key` while the lease is still held, it answers with the same subtask and new secrets:
 * secrets are never stored, and the worker that asks again has lost the first ones.
 *
 * @throws DomainError `runner_unavailable` for a runner that our own workers serve, `lease_lost` when what it repeats has ended
 */
export async function claimSubtask(ctx: Ctx, request: ClaimRequest): Promise<ClaimedSubtask | null> {
  requireScope(ctx.actor, 'subtasks:claim')
  requireNoLineage(ctx)
  // Every other queue holds the jobs of all projects, and a job whose row cannot be seen from this one would be discarded.
  if (request.runner !== EXTERNAL) {
    throw new DomainError('runner_unavailable', `Outside workers claim from the runner ${EXTERNAL}. The others are served by the workers of this server.`)
  }
  if (!ctx.settings.SUBTASK_ENABLED) return null
  try {
    const claimed = await inProject(
      ctx,
      async (tx) => {
        // What runs may have ended before, after the moment to which the database was restored.
        if ((await describeRestore(ctx)) !== null) return null
        const [run] = await claimInTransaction(ctx, tx, {
          workerId: request.workerId,
          queues: [runQueue(EXTERNAL, ctx.actor.projectId)],
          limit: 1,
          leaseSeconds: request.leaseSeconds,
          withLeaseToken: true,
        })
        // Committed anyway: it may have removed jobs without a row.
        if (run === undefined) return null
        tx.afterCommit(() => {
          ctx.notifier.notify('outbox')
          if (run.attempt === 1) startWait(ctx, run)?.end()
        })
        // The stored part of the answer, to recognise a repeated claim.
        return { subtask: { id: run.id }, lease: { attempt: run.attempt }, run }
      },
      // Nothing was claimed, so there is nothing to replay: the same key may try again.
      (result) => result !== null,
    )
    // A transaction of its own: building the prompt locks the task, and locks of tasks come before those of the rows just claimed.
    return claimed === null ? null : await reading(ctx, (tx) => describeClaim(ctx, tx, claimed.run))
  } catch (error) {
    if (error instanceof Replay) return await reclaim(ctx, error)
    throw error
  }
}

async function reclaim(ctx: Ctx, replay: Replay): Promise<ClaimedSubtask> {
  const { id, attempt } = replay.answer.body as { id: string; attempt: number }
  const credential = newSubtaskCredential(id)
  const lease = newLeaseToken()
  const { idempotency: _, ...plain } = ctx
  const row = await inProject(plain, (tx) => claims.reissueSecrets(tx, id, attempt, credential.hash, lease.hash))
  if (row === null) throw leaseLost()
  return await reading(plain, (tx) => describeClaim(plain, tx, { ...row, credential: credential.token, leaseToken: lease.token }))
}

async function describeClaim(ctx: Ctx, tx: Tx, run: ClaimedRun): Promise<ClaimedSubtask> {
  const { sessionId, runsTask: _, hasWaited: __, delivered: ___, ...brief } = await buildPromptInTransaction(ctx, tx, run)
  return {
    subtask: (await subtasks.findSubtask(tx, run.id)) as Subtask,
    sessionId,
    credential: run.credential,
    traceparent: run.traceparent,
    lease: { token: run.leaseToken as string, attempt: run.attempt, expiresAt: run.leaseExpiresAt },
    brief,
  }
}

export interface Heartbeat {
  leaseToken: string
  ackUpdateIds: string[]
  steps: { kind: StepKind; content: unknown }[]
  usage: Partial<UsageAdded>
}

/**
 * Renews an outside worker's lease by the length that it claimed, takes in its steps, and answers what it has to know. A run that goes in circles, or makes no step for
 * long, ends as blocked, and the answer asks the worker to stop. A notice comes with the next heartbeat.
 *
 * @throws DomainError `lease_lost`, `quota_exceeded` for steps without room: then nothing is stored, but the lease is renewed, so that the run can end
 */
export async function heartbeat(ctx: Ctx, id: string, input: Heartbeat): Promise<{ expiresAt: Date; cancelRequested: boolean; updates: RenderedUpdate[] }> {
  requireScope(ctx.actor, 'subtasks:claim')
  requireNoLineage(ctx)
  let looping: RunEnd | null = null
  let quiet: QuietRun | null = null
  const room = await roomFor(ctx, id, input.steps)
  const taken = room.refusal === null ? { steps: input.steps, usage: input.usage, acknowledgedIds: input.ackUpdateIds, takesUpdates: true } : RENEWAL
  const work = async (tx: Tx) => {
    const row = requireFound(await subtasks.findSubtask(tx, id), 'subtask')
    const undelivered = await deliverTaskUpdates(ctx, tx, ctx.actor.projectId, id, row.taskId)
    const { attempt, workerId } = await requireLease(tx, id, input.leaseToken)
    const checkpoint = {
      subtaskId: id,
      attempt,
      agentId: row.agentId,
      task: row.task,
      taskId: row.taskId,
      parentSessionId: row.parentSessionId,
      workerId,
      ...taken,
      afterStepSeq: null,
      renewsLease: true,
      repeatUnacknowledged: true,
    }
    const answer = await checkpointInTransaction(ctx, tx, ctx.actor.projectId, checkpoint, undelivered)
    if (answer === null) throw leaseLost()
    if (answer.blocked !== null) looping = { subtaskId: id, attempt, taskId: row.taskId, end: { kind: 'blocked', reason: answer.blocked, partialResult: null } }
    else if (input.steps.length === 0) quiet = await findSilence(tx, ctx.actor.projectId, { subtaskId: id, attempt })
    return { expiresAt: answer.leaseExpiresAt, cancelRequested: answer.cancelRequested, updates: answer.updates }
  }
  // A refusal is no answer to repeat.
  const answer = await inProject(ctx, work, () => room.refusal === null).finally(room.release)
  if (room.refusal !== null) throw room.refusal
  // A transaction of its own: the locks of tasks come before that of the row, which the checkpoint holds.
  if (looping === null && quiet !== null) looping = await endOfSilence(ctx, quiet)
  if (looping === null) return answer
  await settleRuns(ctx, ctx.actor.projectId, [looping])
  return { ...answer, cancelRequested: true }
}

/** What a heartbeat without room brings. */
const RENEWAL: Pick<RunCheckpoint, 'steps' | 'usage' | 'acknowledgedIds' | 'takesUpdates'> = { steps: [], usage: {}, acknowledgedIds: [], takesUpdates: false }

async function roomFor(ctx: Ctx, id: string, steps: Heartbeat['steps']): Promise<{ release?: () => void; refusal: DomainError | null }> {
  if (steps.length === 0) return { refusal: null }
  try {
    return { release: await takeRoom(ctx, Buffer.byteLength(JSON.stringify(steps)), id), refusal: null }
  } catch (error) {
    if (error instanceof DomainError && error.code === 'quota_exceeded') return { refusal: error }
    throw error
  }
}

/** The silence of a run whose worker lives; null while it is short. A run that has never made a step is not silent. */
async function findSilence(tx: Tx, projectId: string, run: { subtaskId: string; attempt: number }): Promise<QuietRun | null> {
  const last = await steps.findLastStep(tx, projectId, run)
  if (last === null || last.ageSeconds < QUIET_SECONDS_MIN) return null
  // Heartbeats may reach several processes, and all of them name the notice of this silence alike.
  const noticeId = idOf(`silence ${run.subtaskId} ${run.attempt} ${last.seq}`)
  return { projectId, ...run, quietSeconds: last.ageSeconds, noticeId }
}

async function endOfSilence(ctx: Ctx, quiet: QuietRun): Promise<RunEnd | null> {
  const answer = await judgeSilence(ctx, quiet)
  if (answer.kind !== 'blocked') return null
  return { subtaskId: quiet.subtaskId, attempt: quiet.attempt, end: { kind: 'blocked', reason: answer.reason, partialResult: null } }
}

export interface Completion {
  leaseToken: string
  result: string
  outputs?: Record<string, unknown> | undefined
  summary?: string | undefined
  usage?: Partial<UsageAdded> | undefined
  /** Set when the work could not be done: the result is kept as what there is. */
  blockedReason?: string | undefined
}

/** @throws DomainError `lease_lost`; a refused result is no error: the subtask goes back to pending with feedback, or fails */
export async function completeLease(ctx: Ctx, id: string, input: Completion): Promise<Subtask> {
  const end: AttemptEnd =
    input.blockedReason === undefined
      ? { kind: 'completed', result: input.result, truncated: false, outputs: input.outputs ?? {}, summary: input.summary ?? null }
      : { kind: 'blocked', reason: input.blockedReason, partialResult: input.result }
  return await endLease(ctx, id, input.leaseToken, end, input.usage)
}

export async function failLease(
  ctx: Ctx,
  id: string,
  input: { leaseToken: string; error: string; retryable?: boolean | undefined; usage?: Partial<UsageAdded> | undefined },
): Promise<Subtask> {
  return await endLease(
    ctx,
    id,
    input.leaseToken,
    { kind: 'errored', error: input.error, retryable: input.retryable ?? false, partialResult: null },
    input.usage,
  )
}

/**
 * Ends the attempt to wait for the answer to a question of this subtask. It holds no permit while it waits, and is pending again when the question is closed:
 * at once, if it is closed already.
 *
 * @throws DomainError `lease_lost`, `not_found` for a question that this subtask has not asked
 */
export async function waitForAnswer(
  ctx: Ctx,
  id: string,
  input: { leaseToken: string; questionId: string; continuation?: string | undefined; usage?: Partial<UsageAdded> | undefined },
): Promise<Subtask> {
  const { questionId, continuation = null } = input
  const question = await reading(ctx, (tx) => questions.findQuestion(tx, questionId))
  if (question?.subtaskId !== id) throw notFound('question')
  return await endLease(ctx, id, input.leaseToken, { kind: 'waiting', questionId, continuation }, input.usage)
}

/** Gives a subtask back: it is pending again at once, and the attempt counts as no failure. */
export async function releaseLease(ctx: Ctx, id: string, input: { leaseToken: string }): Promise<Subtask> {
  return await endLease(ctx, id, input.leaseToken, { kind: 'released' })
}

async function endLease(ctx: Ctx, id: string, token: string, end: AttemptEnd, usage: Partial<UsageAdded> = {}): Promise<Subtask> {
  requireScope(ctx.actor, 'subtasks:claim')
  requireNoLineage(ctx)
  let evaluated: Parameters<NonNullable<RunEnd['onEvaluated']>>[0] | null = null
  const [prepared] = prepareEnds([
    {
      ...{ subtaskId: id, attempt: 0, end, usage },
      onEvaluated: (result) => {
        evaluated = result
      },
    },
  ]) as [PreparedEnd]
  return await inProject(ctx, async (tx) => {
    // Locks of tasks come before those of subtasks.
    const [taskId = null] = await settle.listTaskIds(tx, [id])
    if (taskId !== null) {
      await lockForCompletion(tx, ctx.actor.projectId)
      await tasks.lockTask(tx, taskId)
    }
    const lease = await requireLease(tx, id, token)
    const { attempt } = lease
    const settlements = await settleInTransaction(ctx, tx, ctx.actor.projectId, [{ ...prepared, attempt, taskId }])
    if (settlements.get(id) !== 'settled') throw leaseLost()
    const subtask = (await subtasks.findSubtask(tx, id)) as Subtask
    tx.afterCommit(() => traceAttempt(ctx, subtask, lease, end, evaluated))
    return subtask
  })
}

/** The span of an attempt of an outside worker, once it has ended. The spans of the worker itself are beside it, because their parent is what asked for the subtask. */
function traceAttempt(
  { tracing }: Ctx,
  subtask: Subtask,
  lease: claims.Lease,
  end: AttemptEnd,
  evaluated: { score: number | null; label: string } | null,
): void {
  const { id, agentId, runner, model, revisionOf } = subtask
  const { attempt, traceparent, startedAt } = lease
  const span = tracing?.start(`invoke_agent ${agentId}`, {
    parent: traceparent,
    ...(startedAt !== null && { startedAt }),
    attributes: { ...attemptAttributes({ id, agentId, attempt, runner, model, revisionOf }), 'muster.end': end.kind },
  })
  if (evaluated !== null) noteEvaluation(span, 'rules', evaluated)
  span?.end(isFailure(end) ? end.kind : undefined)
}

async function requireLease(tx: Tx, id: string, token: string): Promise<claims.Lease & { workerId: string }> {
  const lease = requireFound(await claims.findLease(tx, id), 'subtask')
  if (lease.status !== 'running' || !matchesHash(token, lease.tokenHash)) throw leaseLost()
  return { ...lease, workerId: lease.workerId ?? 'unknown' }
}

function leaseLost(): DomainError {
  return new DomainError('lease_lost', 'This lease has ended: the subtask was finished, given back or taken over. Stop working on it; nothing was changed.')
}

/** A subtask's own credential reads its own work; leases are the business of the worker that holds the token. */
function requireNoLineage(ctx: Ctx): void {
  if (ctx.actor.lineage !== null) throw new DomainError('forbidden', "A subtask's own credential cannot hold leases.", { required_scope: 'subtasks:claim' })
}
