import { evaluations, type LockedTask, outbox, subtasks, type Tx, tasks } from '@muster/db'
import { type Evaluation, isOutputCriterion, isTerminal, type NewEvent, outputProblems, revisionRequest, type Sender } from '@muster/domain'
import { leaveEndedRun } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import { taskEvent } from '../events/event-data.ts'
import { finishTask, isHeldByRun, lockForCompletion } from './finish-task.ts'
import { queueTaskUpdate } from './send-task-update.ts'

/** The actor of an automatic decision. */
export const EVALUATOR: NewEvent['actor'] = { kind: 'system', id: 'evaluation' }

/** What a decision goes by. */
export type DecidedEvaluation = Pick<Evaluation, 'score' | 'recommendation' | 'criteria' | 'reflection'>

/** `left`: there was nothing to decide, or it is for a person or a controller. */
export type ReviewDecision = 'completed' | 'revision_requested' | 'left'

/**
 * Reviews a task with `review: auto` by the recommendation of its evaluation, once the verdicts of the judge are stored. Changes nothing if
 * the task is no longer in review or the evaluation is not that of the newest submission. Locks dependencies, the task and its subtask, in
 * this order: call it before other locks are taken.
 *
 * @param input.evaluationId the evaluation without a judge, written at submission (`judge_of` of the judged one)
 * @param input.evaluation the judged one
 */
export async function decideReview(
  deps: Deps,
  tx: Tx,
  { projectId, taskId, evaluationId, evaluation }: { projectId: string; taskId: string; evaluationId: string; evaluation: DecidedEvaluation },
): Promise<ReviewDecision> {
  await lockForCompletion(tx, projectId)
  const task = await tasks.lockTask(tx, taskId)
  if (task === null || task.status !== 'in_review' || task.review !== 'auto') return 'left'
  if ((await evaluations.findSubmitted(tx, projectId, taskId, task.subagentSessionId)) !== evaluationId) return 'left'
  return await decideLockedReview(deps, tx, task, { evaluationId, evaluation, hasRunEnded: await isHeldByEndedRun(tx, task) })
}

/**
 * The same for a locked task that is in review, in the transaction of its submission.
 *
 * @param input.hasRunEnded whether its assignee is a run that has ended and so cannot receive a request
 */
export async function decideLockedReview(
  deps: Deps,
  tx: Tx,
  task: LockedTask,
  { evaluationId, evaluation, hasRunEnded }: { evaluationId: string; evaluation: DecidedEvaluation; hasRunEnded: boolean },
): Promise<ReviewDecision> {
  if (evaluation.recommendation === 'request_revision') {
    await requestRevision(deps, tx, task, { content: revisionRequest(evaluation), note: null, actor: EVALUATOR, hasRunEnded, evaluationId })
    return 'revision_requested'
  }
  if (evaluation.recommendation !== 'approve' || !isStillAskedFor(task, evaluation)) return 'left'
  await finishTask(deps, tx, task, { status: 'completed' }, EVALUATOR)
  return 'completed'
}

/** Sends a locked task in review back to its holder, with what is to be revised. */
export async function requestRevision(
  deps: Pick<Deps, 'newId' | 'notifier'>,
  tx: Tx,
  task: LockedTask,
  request: { content: string; note: string | null; actor: Sender; hasRunEnded: boolean; evaluationId?: string },
): Promise<void> {
  const { content, note, actor, hasRunEnded, evaluationId } = request
  await tasks.writeTransition(tx, task.id, { status: 'revision_requested' })
  if (hasRunEnded) await leaveEndedRun(tx, task, actor)
  await outbox.publish(tx, task.projectId, [
    taskEvent('task.revision_requested', { ...task, status: 'revision_requested' }, actor, {
      note,
      ...(evaluationId === undefined ? {} : { evaluation_id: evaluationId }),
    }),
  ])
  await queueTaskUpdate(deps, tx, task, { type: 'revision_request', content, revision: task.revision, actor })
}

/** Whether a locked task is held by the session of a subtask that is over. */
export async function isHeldByEndedRun(tx: Tx, task: LockedTask): Promise<boolean> {
  if (task.subtaskId === null || !isHeldByRun(task)) return false
  const run = await subtasks.lockSubtask(tx, task.subtaskId)
  return run === null || isTerminal(run.status)
}

/**
 * Whether the approved outputs still fit the current revision. If the brief has changed since the submission, a person or a controller
 * decides.
 */
function isStillAskedFor(task: LockedTask, { criteria }: DecidedEvaluation): boolean {
  if (outputProblems(task.requiredOutputs, task.completionOutputs ?? {}).length > 0) return false
  const judged = new Map(criteria.filter((criterion) => !isOutputCriterion(criterion)).map(({ id, text }) => [id, text]))
  return task.criteria.every(({ id, text }) => judged.get(id) === text)
}
