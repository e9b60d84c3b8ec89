import { assignments, type EndingRow, type LockedTask, outbox, type settle, type Tx, tasks } from '@muster/db'
import { type NewEvent, PRIORITY_RANKS, type Recommendation, revisionRequest, subtaskSessionId } from '@muster/domain'
import { unassign } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import type { MadeEvaluation } from '../evaluations/evaluate-ends.ts'
import { subtaskEvent, taskEvent } from '../events/event-data.ts'
import { EVALUATOR } from '../tasks/decide-review.ts'
import { queueTaskUpdate } from '../tasks/queue-task-update.ts'

/** A round of a chain that follows a poor one: its row is written with the end of that, before the lane's slots are given on. */
export interface StartedRevisionRound {
  row: settle.RevisionRound
  created: NewEvent
}

/** Whether a result is sent back: it is poor, there are rounds left, and nobody wants the work to stop. */
export function isSentBack(row: Pick<EndingRow, 'cancelRequested' | 'revisionRound' | 'maxRevisions'>, recommendation: Recommendation): boolean {
  return recommendation === 'request_revision' && !row.cancelRequested && row.revisionRound < row.maxRevisions
}

/**
 * Gives a locked task from a run whose result is poor to the next round of its chain, with what is to be revised: a subtask that was asked
 * for as the one before it, in everything.
 */
export async function startRevisionRound(
  deps: Deps,
  tx: Tx,
  task: LockedTask,
  ended: EndingRow,
  { evaluation, row: { id: evaluationId } }: Pick<MadeEvaluation, 'evaluation' | 'row'>,
): Promise<StartedRevisionRound> {
  const { projectId } = task
  const id = deps.newId()
  const held = { ...task, subtaskId: id, subagentSessionId: subtaskSessionId(id) }
  const superseded = await unassign(tx, task, EVALUATOR)
  await assignments.openAssignment(tx, projectId, { taskId: task.id, sessionId: held.subagentSessionId, credentialHash: null })
  await tasks.writeTransition(tx, task.id, { status: 'in_progress', subagentSessionId: held.subagentSessionId, subtaskId: id })
  const round = { subtask_id: id, revision_of: ended.id, revision_round: ended.revisionRound + 1, max_revisions: ended.maxRevisions }
  await outbox.publish(tx, projectId, [
    ...superseded,
    taskEvent('task.revision_requested', held, EVALUATOR, { note: null, evaluation_id: evaluationId, ...round }),
    taskEvent('task.assigned', held, EVALUATOR, { previous_session: task.subagentSessionId, subtask_id: id }),
  ])
  await queueTaskUpdate(deps, tx, held, { type: 'revision_request', content: revisionRequest(evaluation), revision: task.revision, actor: EVALUATOR })
  return {
    row: {
      id,
      revisionOf: ended.id,
      taskRevision: task.revision,
      rankSeconds: PRIORITY_RANKS[ended.priority] * deps.settings.SUBTASK_AGEING_SECONDS,
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
