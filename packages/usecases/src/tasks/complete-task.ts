import { injections, type LockedTask, outbox, type Tx, tasks } from '@muster/db'
import {
  DomainError,
  isChecked,
  type NewEvent,
  notFound,
  type OutputProblem,
  outputProblems,
  requireFound,
  requireOpenTask,
  requireOwnTask,
  requireScope,
  type Task,
  type TaskStatus,
} from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import type { MadeEvaluation } from '../evaluations/evaluate-output.ts'
import { taskEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { evaluateCompletion } from './evaluate-completion.ts'
import { finishTask, isHeldByEndedRun, lockForCompletion, outputsMissing, reportTask } from './finish-task.ts'
import { insertChecks } from './insert-checks.ts'
import { decideLockedReview } from './review-task.ts'

/** What becomes of an attempt to complete a task. Only `outcome` has changed anything. */
export type TaskCompletion =
  | { outcome: 'completed' | 'in_review' | 'revision_requested' }
  /** Required outputs are absent or do not fit. */
  | { problems: OutputProblem[] }
  /** It is in a state that nothing completes: ended, blocked or already in review. */
  | { refused: TaskStatus }

const COMPLETABLE: readonly TaskStatus[] = ['pending', 'assigned', 'in_progress', 'revision_requested']

/** What a task is completed with, and by whom. */
export interface HandIn {
  outputs: Record<string, unknown>
  summary: string | null
  actor: NewEvent['actor']
  /** Evaluates the outputs once they are accepted. The caller stores the evaluation. */
  evaluate: (task: LockedTask) => Promise<MadeEvaluation> | MadeEvaluation
  /** Whether the task is held by a run that ends with it. */
  hasRunEnded: boolean
}

/** The session whose final message hands a task in. */
export interface HandingSession {
  sessionId: string
  /** The revision that the hand-in names; null where it names none. */
  revision: number | null
  /** Whether the session gets one more turn for what it has not received. */
  hasMoreTurns: boolean
}

/**
 * Submits the outputs of a task and evaluates them in the same commit. They are validated against the locked revision, so that an output
 * that a concurrent revision adds is either required or came after the completion. [B5] Completion
 *
 * @param input.from hands in for a session, which must hold the task and know all of it
 * @throws DomainError `not_found`, `invalid_transition`, `outputs_missing` naming each output that is absent or does not fit; with `from` also
 * `revision_stale`, and `conflict` while something about the task waits for the session
 */
export async function completeTask(
  ctx: Ctx,
  id: string,
  input: { outputs: Record<string, unknown>; summary?: string | undefined; from?: HandingSession },
): Promise<Task> {
  requireScope(ctx.actor, 'tasks:write')
  return await inProject(ctx, async (tx) => {
    const { outputs, summary = null, from } = input
    await requireOwn(ctx, tx, id)
    if (from !== undefined) await requireHandingSession(ctx, tx, id, from)
    const completion = await completeTaskInTransaction(ctx, tx, ctx.actor.projectId, id, {
      outputs,
      summary,
      actor: ctx.actor,
      evaluate: (task) => evaluateCompletion(ctx, tx, task, { outputs, summary }),
      hasRunEnded: false,
    })
    if ('problems' in completion) throw outputsMissing(completion.problems)
    if ('refused' in completion) throw cannotBeCompleted(completion.refused)
    return (await tasks.findTask(tx, id)) as Task
  })
}

/**
 * Completes a task in the caller's transaction if its outputs fit the locked revision; changes nothing otherwise. With `review: auto` the
 * evaluation decides at once, unless a judge is asked as well. Where a criterion names a check, the task is in review until the checks have ended,
 * whatever its review mode. A caller that locks tasks first must call `lockForCompletion` before that.
 *
 * @throws DomainError `not_found`
 */
export async function completeTaskInTransaction(
  deps: Deps,
  tx: Tx,
  projectId: string,
  taskId: string,
  { outputs, summary, actor, evaluate, hasRunEnded }: HandIn,
): Promise<TaskCompletion> {
  await lockForCompletion(tx, projectId)
  const task = requireFound(await tasks.lockTask(tx, taskId), 'task')
  if (!COMPLETABLE.includes(task.status)) return { refused: task.status }
  const problems = outputProblems(task.requiredOutputs, outputs)
  if (problems.length > 0) return { problems }
  const { evaluation, row, judge } = await evaluate(task)
  const waitsForChecks = evaluation.criteria.some(isChecked)
  if (task.review === 'none' && !waitsForChecks) {
    await finishTask(deps, tx, task, { status: 'completed', outputs, summary, lastError: null }, actor)
    return { outcome: 'completed' }
  }
  await tasks.writeTransition(tx, taskId, { status: 'in_review', completionOutputs: outputs, summary, lastError: null })
  const events = [taskEvent('task.in_review', { ...task, status: 'in_review' }, actor, { summary, review: task.review })]
  await outbox.publish(tx, projectId, events)
  wakeAfterCommit(deps, tx, events)
  if (waitsForChecks) {
    // They decide, and report, when they have ended.
    await insertChecks(deps, tx, task, {
      criteria: evaluation.criteria,
      evaluationId: row.id,
      subtaskId: row.subtaskId,
      place: hasRunEnded ? (deps.place ?? null) : null,
    })
    return { outcome: 'in_review' }
  }
  if (task.review === 'manual' || judge !== null) {
    await reportTask(deps, tx, task, 'in_review')
    return { outcome: 'in_review' }
  }
  const submitted: LockedTask = { ...task, status: 'in_review', completionOutputs: outputs, summary }
  const decision = await decideLockedReview(deps, tx, submitted, {
    evaluationId: row.id,
    evaluation,
    hasRunEnded: hasRunEnded || (await isHeldByEndedRun(tx, task)),
  })
  if (decision !== 'left') return { outcome: decision }
  await reportTask(deps, tx, task, 'in_review')
  return { outcome: 'in_review' }
}

function cannotBeCompleted(status: TaskStatus): DomainError {
  requireOpenTask({ status })
  const why =
    status === 'blocked'
      ? 'This task is blocked. Complete the tasks that it waits for first; if there are none, assign or dispatch it again.'
      : 'This task has been submitted and waits for review.'
  return new DomainError('invalid_transition', why, { status_now: status })
}

/** A sub-agent completes its own task and no other. Whose it is may change until it is locked. */
async function requireOwn(ctx: Ctx, tx: Tx, id: string): Promise<void> {
  if (ctx.actor.lineage === null) return
  await lockForCompletion(tx, ctx.actor.projectId)
  const task = requireFound(await tasks.lockTask(tx, id), 'task')
  requireOwnTask(ctx.actor, task)
}

/** Who holds the task and what waits for it may change until it is locked. */
async function requireHandingSession(ctx: Ctx, tx: Tx, id: string, { sessionId, revision, hasMoreTurns }: HandingSession): Promise<void> {
  await lockForCompletion(tx, ctx.actor.projectId)
  const task = await tasks.lockTask(tx, id)
  if (task === null || task.subagentSessionId !== sessionId) throw notFound('task')
  if (!COMPLETABLE.includes(task.status)) throw cannotBeCompleted(task.status)
  if (revision !== null && revision !== task.revision) {
    throw new DomainError('revision_stale', `The task is at revision ${task.revision}, and this is for revision ${revision}. Read the task again.`)
  }
  if (hasMoreTurns && (await injections.taskHasUpdates(tx, id, sessionId))) {
    throw new DomainError('conflict', 'Something about the task has come that this session had not received. Read it first.')
  }
}
