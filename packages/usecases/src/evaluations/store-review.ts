import { evaluationReads, evaluations, type LockedTask, outbox, type StoredEvaluation, type Tx } from '@muster/db'
import { type Evaluation, evaluate, type PersonVerdict, type ReviewDecision, RULE_VERSION, withReview } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { evaluationEvent, readProjectRules } from './evaluate-output.ts'

/**
 * Stores a review of the submission of a locked task as an evaluation of its own, next to those that the rule and a judge have made. A submission is
 * reviewed once. If none is known, only verdicts are worth storing.
 */
export async function storeReview(
  ctx: Ctx,
  tx: Tx,
  task: LockedTask,
  { decision, note, said }: { decision: ReviewDecision; note: string | null; said: readonly PersonVerdict[] },
): Promise<void> {
  const { projectId, id: taskId, subagentSessionId: sessionId } = task
  const firstId = await evaluations.findSubmitted(tx, projectId, taskId, sessionId)
  if (firstId === null && said.length === 0) return
  const stored = firstId === null ? null : await evaluationReads.findEvaluation(tx, projectId, await evaluationReads.findJudged(tx, projectId, firstId))
  const { given, threshold, approveAt, gates } = stored === null ? await ofNothing(tx, task) : asGiven(stored)
  const reviewed = withReview(given, { gates }, task, { decision, said })
  const { score, recommendation, criteriaRevision, warnings, reflection, dimensions, criteria, closedGates, trust } = reviewed
  const { kind, id } = ctx.actor
  const row = {
    ...{ projectId, origin: 'review' as const, taskId, subtaskId: null, messageId: null, sessionId, subagentName: stored?.subagentName ?? null },
    ...{ id: ctx.newId(), score, recommendation, criteriaRevision, ruleVersion: stored?.ruleVersion ?? RULE_VERSION },
    detail: { warnings, reflection, dimensions, criteria, threshold, approveAt, gates, closedGates, trust, review: { note, author: { kind, id } } },
    ...{ summary: null, judgeOf: null, reviewOf: firstId, judge: null, output: null, outputBodyId: null },
  }
  if ((await evaluations.insertEvaluations(tx, projectId, [row])).length === 0) return
  await outbox.publish(tx, projectId, [evaluationEvent(row, ctx.actor)])
  tx.afterCommit(() => ctx.notifier.notify('outbox'))
}

function asGiven({ detail, score, recommendation, criteriaRevision }: StoredEvaluation) {
  const { threshold, approveAt, gates, trust = 'evidence' } = detail
  return { given: { ...detail, trust, score, recommendation, criteriaRevision } satisfies Evaluation, threshold, approveAt, gates }
}

async function ofNothing(tx: Tx, { projectId, criteria, revision }: LockedTask) {
  const { rules } = await readProjectRules(tx, projectId)
  const given = { ...evaluate({ output: '', criteria, criteriaRevision: revision, settings: rules }), score: null }
  return { given, threshold: rules.threshold, approveAt: rules.approveAt, gates: rules.gates }
}
