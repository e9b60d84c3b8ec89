import { type CheckRun, checkRuns, evaluationReads, evaluations, inbox, type LockedTask, outbox, type StoredEvaluation, settle, type Tx } from '@muster/db'
import { type CheckEnd, type Evaluation, type NewEvent, outputProblems, summarize, withChecks } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { evaluationEvent, judgeFor, readProjectRules, requestJudgement } from '../evaluations/evaluate-output.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { reserveRound } from '../runs/chain-budget.ts'
import { isSentBack, planRevisionRound, startRevisionRound } from '../runs/revision-round.ts'
import { grantFreePermits } from '../subtasks/grant-permits.ts'
import { finishTask, isHeldByEndedRun, isHeldByRun, reportTask } from '../tasks/finish-task.ts'
import { writeCheckedStates } from '../tasks/insert-checks.ts'
import { decideLockedReview } from '../tasks/review-task.ts'
import { endsAsBefore, evaluateAgain } from './evaluate-again.ts'

export const CHECKS: NewEvent['actor'] = { kind: 'system', id: 'checks' }

/**
 * Decides about a submission whose checks have all ended, in the transaction that ends the last one. Writes the evaluation with their verdicts, and then
 * starts the next revision round, or completes the task, or leaves it in review. Where a judge is configured and the result is not sent
 * back, it is asked first, and its evaluation has the verdicts of both. A task that is not in review any more, or was submitted again, stays as it is.
 * Repeated checks that all end as before change nothing: the submission is evaluated and decided about again only if one ends otherwise.
 *
 * @param locked the task, after the dependencies
 */
export async function concludeChecks(deps: Deps, tx: Tx, locked: LockedTask, runs: readonly CheckRun[]): Promise<void> {
  const [checkRun] = runs
  if (checkRun === undefined) return
  const { evaluationId, subtaskId, batchId } = checkRun
  const { projectId, id } = locked
  const isCurrent =
    evaluationId === null || (locked.status === 'in_review' && (await evaluations.findSubmitted(tx, projectId, id, locked.subagentSessionId)) === evaluationId)
  const task = isCurrent ? await writeCheckedStates(tx, locked, runs) : locked
  if (evaluationId === null) return
  const first = await evaluationReads.findEvaluation(tx, projectId, evaluationId)
  if (first === null) return
  const earlier = await checkRuns.listEarlierOf(tx, projectId, checkRun)
  if (earlier.length > 0 && (!isCurrent || endsAsBefore(runs, earlier))) return
  const stored = earlier.length === 0 ? first : await evaluateAgain(deps, tx, first, batchId, CHECKS)
  const run = subtaskId === null ? null : await settle.lockCompleted(tx, subtaskId)
  const checked = addChecks(stored, runs)
  const isSent = isCurrent && run !== null && isHeldByRun(task) && task.subtaskId === run.id && isSentBack(run, checked.recommendation)
  const budget = isSent ? await reserveRound(deps, tx, task, run) : null
  const round =
    isSent && budget !== null ? planRevisionRound({ newId: deps.newId, ageingSeconds: deps.settings.SUBTASK_AGEING_SECONDS }, task, run, budget) : null
  const judge = checked.recommendation === 'request_revision' ? null : judgeFor(await readProjectRules(tx, projectId), checked)
  if (judge !== null) await requestJudgement(deps, tx, { projectId, evaluationId: stored.id, model: judge.model })
  else await storeChecked(deps, tx, stored, checked, round?.row.id)

  if (isSent && round !== null) {
    await startRevisionRound(deps, tx, task, run, { id: round.row.id, evaluation: { evaluation: checked, row: stored } })
    await settle.insertRevisionRounds(tx, [round.row])
    await outbox.publish(tx, projectId, [round.created])
    wakeAfterCommit(deps, tx, [round.created])
    await grantFreePermits(deps, tx, projectId, [run.agentId])
    return
  }
  if (run !== null) await inbox.insertSubtaskItem(tx, projectId, deps.newId(), run.id)
  if (isCurrent) await decide(deps, tx, task, stored.id, checked, judge !== null)
}

async function decide(deps: Deps, tx: Tx, task: LockedTask, evaluationId: string, evaluation: Evaluation, waitsForJudge: boolean): Promise<void> {
  // The brief may ask for other outputs since. Then a person or a controller decides.
  if (task.review === 'none' && outputProblems(task.requiredOutputs, task.completionOutputs ?? {}).length === 0) {
    await finishTask(deps, tx, task, { status: 'completed' }, CHECKS)
    return
  }
  if (task.review === 'auto' && !waitsForJudge) {
    const hasRunEnded = await isHeldByEndedRun(tx, task)
    if ((await decideLockedReview(deps, tx, task, { evaluationId, evaluation, hasRunEnded })) !== 'left') return
  }
  await reportTask(deps, tx, task, 'in_review')
}

/** A stored evaluation with the verdicts of its checks. */
export function addChecks({ detail, score, recommendation, criteriaRevision }: StoredEvaluation, runs: readonly CheckRun[]): Evaluation {
  const { threshold, approveAt, gates, trust = 'evidence' } = detail
  const given: Evaluation = { ...detail, trust, score, recommendation, criteriaRevision }
  return withChecks(given, { threshold, approveAt, gates }, new Map(runs.map((run) => [run.criterionId, endOf(run)])))
}

function endOf({ status, reason, output }: CheckRun): Pick<CheckEnd, 'status' | 'reason' | 'output'> {
  return { status: status === 'met' || status === 'unmet' ? status : 'could_not_run', reason, output: output ?? '' }
}

/**
 * Stores the evaluation with the verdicts of checks, and without those of a judge.
 *
 * @param revisedBy the revision round that follows. The end of its run was announced before the checks, and so this event names it
 */
export async function storeChecked(deps: Deps, tx: Tx, first: StoredEvaluation, checked: Evaluation, revisedBy?: string): Promise<void> {
  const { projectId, origin, taskId, subtaskId, messageId, sessionId, subagentName, criteriaRevision, ruleVersion, detail } = first
  const { score, recommendation, warnings, dimensions, criteria, closedGates } = checked
  const output = recommendation === 'request_revision' ? ((await evaluationReads.findOutput(tx, projectId, first.id))?.output ?? '') : null
  const row = {
    ...{ projectId, origin, taskId, subtaskId, messageId, sessionId, subagentName, criteriaRevision, ruleVersion, score, recommendation },
    id: deps.newId(),
    detail: { ...detail, warnings, dimensions, criteria, closedGates },
    summary: output === null ? null : summarize(checked, output),
    judgeOf: first.id,
    judge: null,
    output: null,
    outputBodyId: null,
  }
  await evaluations.insertEvaluations(tx, projectId, [row])
  const event = evaluationEvent(row, CHECKS)
  await outbox.publish(tx, projectId, [revisedBy === undefined ? event : { ...event, data: { ...event.data, revised_by: revisedBy } }])
  tx.afterCommit(() => deps.notifier.notify('outbox'))
}
