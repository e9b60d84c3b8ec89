import { evaluations, type LockedTask, outbox, type Tx, tasks } from '@muster/db'
import {
  DomainError,
  type Evaluation,
  isOutputCriterion,
  type NewEvent,
  outputProblems,
  requireController,
  requireScope,
  restsOnSelfReport,
  revisionRequest,
  type Sender,
  type Task,
} from '@muster/domain'
import { leaveEndedRun } from '../assignments/unassign-task.ts'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { taskEvent } from '../events/event-data.ts'
import { finishTask, isHeldByEndedRun, lockForCompletion, lockOpenTask, outputsMissing } from './finish-task.ts'
import { queueTaskUpdate } from './send-task-update.ts'

export interface Review {
  decision: 'approve' | 'request_revision'
  note?: string | undefined
}

const DEFAULT_REQUEST = 'The result was not accepted. Compare it with the acceptance criteria and complete the task again.'

/**
 * Reviews a submitted task: `approve` completes it, `request_revision` sends its assignee an update with what to revise. To be approved,
 * the outputs must fit the current revision, which may be newer than the submission.
 *
 * @throws DomainError `not_found`, `invalid_transition` when it is not in review, `outputs_missing`
 */
export async function reviewTask(ctx: Ctx, id: string, { decision, note }: Review): Promise<Task> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    if (decision === 'approve') await lockForCompletion(tx, projectId)
    const task = await lockOpenTask(tx, id)
    if (task.status !== 'in_review') {
      throw new DomainError('invalid_transition', `This task is ${task.status}. It can be reviewed once its outputs are submitted.`, {
        status_now: task.status,
      })
    }
    if (decision === 'approve') {
      const problems = outputProblems(task.requiredOutputs, task.completionOutputs ?? {})
      if (problems.length > 0) throw outputsMissing(problems)
      await finishTask(ctx, tx, task, { status: 'completed' }, ctx.actor)
    } else {
      const hasRunEnded = await isHeldByEndedRun(tx, task)
      await requestRevision(ctx, tx, task, { content: note ?? DEFAULT_REQUEST, note: note ?? null, actor: ctx.actor, hasRunEnded })
    }
    return (await tasks.findTask(tx, id)) as Task
  })
}

/** The actor of an automatic decision. */
export const EVALUATOR: NewEvent['actor'] = { kind: 'system', id: 'evaluation' }

/** What a decision goes by. */
type DecidedEvaluation = Pick<Evaluation, 'score' | 'recommendation' | 'criteria' | 'reflection' | 'trust'>

/** `left`: there was nothing to decide, or it is for a person or a controller. */
type ReviewDecision = 'completed' | 'revision_requested' | 'left'

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
  return task.criteria.every(({ id, text, required }) => judged.get(id)?.text === text && (judged.get(id)?.required === true || !required))
}
