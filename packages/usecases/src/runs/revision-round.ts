import { assignments, type EndingRow, type LockedTask, outbox, receivers, type settle, type Tx, tasks } from '@muster/db'
import { type NewEvent, PRIORITY_RANKS, type Recommendation, revisionRequest, type SubtaskBudget, subtaskSessionId } from '@muster/domain'
import { unassign } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import type { MadeEvaluation } from '../evaluations/evaluate-output.ts'
import { subtaskEvent, taskEvent } from '../events/event-data.ts'
import { EVALUATOR } from '../tasks/review-task.ts'
import { queueTaskUpdate } from '../tasks/send-task-update.ts'

/** Another subtask of a chain, after a poor result. */
export interface RevisionRoundPlan {
  row: settle.RevisionRound
  created: NewEvent
}

type SentBackBy = Pick<EndingRow, 'cancelRequested' | 'revisionRound' | 'maxRevisions'>

/** Whether a revision round follows: the result is poor, rounds remain, and no cancellation was requested. */
export function isSentBack(row: SentBackBy, recommendation: Recommendation): boolean {
  return recommendation === 'request_revision' && mayBeSentBack(row)
}

export function mayBeSentBack({ cancelRequested, revisionRound, maxRevisions }: SentBackBy): boolean {
  return !cancelRequested && revisionRound < maxRevisions
}

/** Plans the next subtask of a chain. Reads nothing and writes nothing. */
export function planRevisionRound(
  { newId, ageingSeconds }: { newId: () => string; ageingSeconds: number },
  task: LockedTask,
  ended: EndingRow,
  budget: SubtaskBudget,
): RevisionRoundPlan {
  const id = newId()
  return {
    row: {
      ...{ id, revisionOf: ended.id, taskRevision: task.revision, rankSeconds: PRIORITY_RANKS[ended.priority] * ageingSeconds },
      ...{ budgetMaxTokens: budget.maxTokens, budgetMaxCostMicros: budget.maxCostUsdMicros },
    },
    created: subtaskEvent('subtask.created', { ...ended, id }, EVALUATOR, {
      priority: ended.priority,
      runner: ended.runner,
      task_id: task.id,
      revision_of: ended.id,
      revision_round: ended.revisionRound + 1,
      ...(ended.subagentName === null ? {} : { subagent: { name: ended.subagentName, version: ended.subagentVersion } }),
    }),
  }
}

/**
 * Reassigns a locked task from a run with a poor result to the next subtask of its chain, and queues an update with the points to revise.
 * The row of that subtask is inserted with the end of this one.
 */
export async function startRevisionRound(
  deps: Deps,
  tx: Tx,
  task: LockedTask,
  ended: EndingRow,
  { id, evaluation: { evaluation, row } }: { id: string; evaluation: { evaluation: MadeEvaluation['evaluation']; row: { id: string } } },
): Promise<void> {
  const { projectId } = task
  const held = { ...task, subtaskId: id, subagentSessionId: subtaskSessionId(id) }
  const superseded = await unassign(tx, task, EVALUATOR)
  await assignments.openAssignment(tx, projectId, { taskId: task.id, sessionId: held.subagentSessionId, credentialHash: null })
  await tasks.writeTransition(tx, task.id, { status: 'in_progress', subagentSessionId: held.subagentSessionId, subtaskId: id })
  // As the inbox does, the callback of a chain reports only its last subtask.
  await receivers.moveCallbacks(tx, projectId, ended.id, id)
  const revisionRound = { subtask_id: id, revision_of: ended.id, revision_round: ended.revisionRound + 1, max_revisions: ended.maxRevisions }
  await outbox.publish(tx, projectId, [
    ...superseded,
    taskEvent('task.revision_requested', held, EVALUATOR, { note: null, evaluation_id: row.id, ...revisionRound }),
    taskEvent('task.assigned', held, EVALUATOR, { previous_session: task.subagentSessionId, subtask_id: id }),
  ])
  await queueTaskUpdate(deps, tx, held, { type: 'revision_request', content: revisionRequest(evaluation), revision: task.revision, actor: EVALUATOR })
}
