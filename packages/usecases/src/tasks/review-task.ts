import { evaluations, type LockedTask, outbox, type Tx, tasks } from '@muster/db'
import {
  DomainError,
  type Evaluation,
  isOutputCriterion,
  type NewEvent,
  outputProblems,
  type PersonVerdict,
  type ReviewDecision,
  requireController,
  requireOwnCriteria,
  requireScope,
  restsOnSelfReport,
  reviewRequest,
  revisionRequest,
  type Sender,
  statesAfterReview,
  type Task,
} from '@muster/domain'
import { leaveEndedRun } from '../assignments/unassign-task.ts'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { storeReview } from '../evaluations/store-review.ts'
import { taskEvent } from '../events/event-data.ts'
import { finishTask, isHeldByEndedRun, lockForCompletion, lockOpenTask, outputsMissing } from './finish-task.ts'
import { queueTaskUpdate } from './send-task-update.ts'

export interface Review {
  decision: ReviewDecision
  note?: string | undefined
  /** What the person says of single criteria. Those that are not named keep the verdict they have. */
  criteria?: readonly PersonVerdict[] | undefined
}

const DEFAULT_REQUEST = 'The result was not accepted. Compare it with the acceptance criteria and complete the task again.'

/**
 * Reviews a submitted task: `approve` completes it, `request_revision` sends its assignee an update with what to revise. To be approved,
 * the outputs must fit the current revision, which may be newer than the submission. The decision, and verdicts on criteria, are stored as an
 * evaluation, in the same commit.
 *
 * @throws DomainError `not_found`, `invalid_transition` when it is not in review, `outputs_missing`, `validation_failed` for a verdict on what is no
 * criterion of the task
 */
export async function reviewTask(ctx: Ctx, id: string, { decision, note, criteria = [] }: Review): Promise<Task> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    if (decision === 'approve') await lockForCompletion(tx, projectId)
    const task = await lockOpenTask(tx, id)
    const said = requireOwnCriteria(task.criteria, criteria)
    if (task.status !== 'in_review') {
      throw new DomainError('invalid_transition', `This task is ${task.status}. It can be reviewed once its outputs are submitted.`, {
        status_now: task.status,
      })
    }
    if (decision === 'approve') {
      const problems = outputProblems(task.requiredOutputs, task.completionOutputs ?? {})
      if (problems.length > 0) throw outputsMissing(problems)
      await keepReview(ctx, tx, task, { decision, note: note ?? null, said })
      await finishTask(ctx, tx, task, { status: 'completed' }, ctx.actor)
    } else {
      // It locks the run, and locks come before what is written.
      const hasRunEnded = await isHeldByEndedRun(tx, task)
      await keepReview(ctx, tx, task, { decision, note: note ?? null, said })
      const content = reviewRequest(note ?? DEFAULT_REQUEST, task.criteria, said)
      await requestRevision(ctx, tx, task, { content, note: note ?? null, actor: ctx.actor, hasRunEnded })
    }
    return (await tasks.findTask(tx, id)) as Task
  })
}

/** Stores the review, and the state of each criterion that it names. */
async function keepReview(ctx: Ctx, tx: Tx, task: LockedTask, review: Parameters<typeof storeReview>[3]): Promise<void> {
  await storeReview(ctx, tx, task, review)
  if (review.said.length > 0) await tasks.writeProgress(tx, task.id, { criteria: statesAfterReview(task.criteria, review.said), nextSteps: task.nextSteps })
}

/** The actor of an automatic decision. */
export const EVALUATOR: NewEvent['actor'] = { kind: 'system', id: 'evaluation' }

/** What a decision goes by. */
type DecidedEvaluation = Pick<Evaluation, 'score' | 'recommendation' | 'criteria' | 'reflection' | 'trust'>

/** `left`: there was nothing to decide, or it is for a person or a controller. */
type AutomaticDecision = 'completed' | 'revision_requested' | 'left'

/**
 * Reviews a task with `review: auto` by the recommendation of its evaluation, once the verdicts of the judge are stored. An approval that rests
 * on the word of the agent alone is left to a person or a controller, unless the project trusts that word. Changes nothing if
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
): Promise<AutomaticDecision> {
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
): Promise<AutomaticDecision> {
  if (evaluation.recommendation === 'request_revision') {
    await requestRevision(deps, tx, task, { content: revisionRequest(evaluation), note: null, actor: EVALUATOR, hasRunEnded, evaluationId })
    return 'revision_requested'
  }
  if (evaluation.recommendation !== 'approve' || !isTrusted(evaluation) || !isStillAskedFor(task, evaluation)) return 'left'
  await finishTask(deps, tx, task, { status: 'completed' }, EVALUATOR)
  return 'completed'
}

function isTrusted({ trust, criteria }: DecidedEvaluation): boolean {
  return trust === 'self_report' || !restsOnSelfReport(criteria)
}

/** Sends a locked task in review back to its holder, with what is to be revised. */
async function requestRevision(
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

/**
 * Whether the approved outputs still fit the current revision. If the brief has changed since the submission, a person or a controller
 * decides.
 */
function isStillAskedFor(task: LockedTask, { criteria }: DecidedEvaluation): boolean {
  if (outputProblems(task.requiredOutputs, task.completionOutputs ?? {}).length > 0) return false
  const judged = new Map(criteria.filter((criterion) => !isOutputCriterion(criterion)).map((criterion) => [criterion.id, criterion]))
  return task.criteria.every(({ id, text, required, check }) => {
    const then = judged.get(id)
    return then?.text === text && then.check === check && (then.required || !required)
  })
}
