import { assignments, type EndingRow, type LockedTask, outbox, type Tx, tasks } from '@muster/db'
import { revisionRequest, subtaskSessionId } from '@muster/domain'
import { unassign } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import type { MadeEvaluation } from '../evaluations/evaluate-ends.ts'
import { taskEvent } from '../events/event-data.ts'
import { EVALUATOR } from '../tasks/decide-review.ts'
import { queueTaskUpdate } from '../tasks/send-task-update.ts'

/**
 * Reassigns a locked task from a run with a poor result to the next subtask of its chain, and queues an update with the points to revise.
 * The row of that subtask is inserted with the end of this one.
 */
export async function startRevisionRound(
  deps: Deps,
  tx: Tx,
  task: LockedTask,
  ended: EndingRow,
  { id, evaluation: { evaluation, row } }: { id: string; evaluation: Pick<MadeEvaluation, 'evaluation' | 'row'> },
): Promise<void> {
  const { projectId } = task
  const held = { ...task, subtaskId: id, subagentSessionId: subtaskSessionId(id) }
  const superseded = await unassign(tx, task, EVALUATOR)
  await assignments.openAssignment(tx, projectId, { taskId: task.id, sessionId: held.subagentSessionId, credentialHash: null })
  await tasks.writeTransition(tx, task.id, { status: 'in_progress', subagentSessionId: held.subagentSessionId, subtaskId: id })
  const revisionRound = { subtask_id: id, revision_of: ended.id, revision_round: ended.revisionRound + 1, max_revisions: ended.maxRevisions }
  await outbox.publish(tx, projectId, [
    ...superseded,
    taskEvent('task.revision_requested', held, EVALUATOR, { note: null, evaluation_id: row.id, ...revisionRound }),
    taskEvent('task.assigned', held, EVALUATOR, { previous_session: task.subagentSessionId, subtask_id: id }),
  ])
  await queueTaskUpdate(deps, tx, held, { type: 'revision_request', content: revisionRequest(evaluation), revision: task.revision, actor: EVALUATOR })
}
