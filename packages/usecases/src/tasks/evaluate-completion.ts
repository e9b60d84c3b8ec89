import { assignments, bodies, checkIns, type LockedTask, outbox, type Tx, taskRevisions } from '@muster/db'
import { completionText, earlierLines, findBlocks, isChecked, outputChecks } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { evaluateOutput, evaluationEvent, judgeFor, type MadeEvaluation, readProjectRules, storeEvaluations } from '../evaluations/evaluate-output.ts'
import { type SaidOfTask, saidOfTask, takeCheckIn } from './check-in.ts'

/**
 * Evaluates the outputs of a locked task and stores the evaluation, by the criteria of the newest revision that its assignee is known to
 * have and by the assignee's check-ins. A check-in inside the outputs is stored too.
 */
export async function evaluateCompletion(
  ctx: Ctx,
  tx: Tx,
  task: LockedTask,
  { outputs, summary }: { outputs: Record<string, unknown>; summary: string | null },
): Promise<MadeEvaluation> {
  const { projectId, id: taskId, subagentSessionId: sessionId } = task
  const output = completionText(summary, outputs)
  const blocks = findBlocks(output)
  const said = saidOfTask(taskId, blocks)
  const [projectRules, known] = await Promise.all([readProjectRules(tx, projectId), readKnown(tx, task, said)])
  const checks = outputChecks(task.requiredOutputs)
  const { evaluation, row } = evaluateOutput(
    ctx.newId(),
    { projectId, origin: 'completion', taskId, subtaskId: null, messageId: null, sessionId, subagentName: null },
    {
      output,
      blocks,
      criteria: [...known.criteria, ...checks.criteria],
      criteriaRevision: known.revision,
      taskId,
      checkIns: known.said.map((checkIn) => earlierLines(checkIn, known.criteria)),
      schemaVerdicts: checks.schemaVerdicts,
      settings: projectRules.rules,
    },
  )
  const outputBodyId = bodies.needsBody(output) ? ctx.newId() : null
  if (outputBodyId !== null) await bodies.insertBody(tx, projectId, outputBodyId, output)
  // Where there are checks, a judge is asked once they have ended.
  const judge = evaluation.criteria.some(isChecked) ? null : judgeFor(projectRules, evaluation)
  const made = { evaluation, row: { ...row, output: outputBodyId === null ? output : null, outputBodyId }, judge }
  await storeEvaluations(ctx, tx, projectId, [made])
  await outbox.publish(tx, projectId, [evaluationEvent(made.row, ctx.actor)])
  if (said !== null) await takeCheckIn(ctx, tx, task, said.blocks, { content: said.text, sessionId: ctx.actor.lineage?.sessionId ?? sessionId })
  return made
}

/** The newest revision that the assignee has received or named in a check-in; the current one for a task without an assignee. */
async function readKnown(
  tx: Tx,
  task: LockedTask,
  now: SaidOfTask | null,
): Promise<{ revision: number; criteria: LockedTask['criteria']; said: checkIns.StoredCheckIn[] }> {
  const held = await assignments.findActiveAssignment(tx, task.id)
  const said =
    held === null ? [] : await checkIns.listCheckIns(tx, task.projectId, { taskIds: [task.id], sessionIds: [held.sessionId], since: held.assignedAt })
  const revisions = [held?.deliveredRevision ?? null, ...said.map((checkIn) => checkIn.revision), ...(now?.blocks ?? []).map((block) => block.revision)]
  const known = Math.max(0, ...revisions.filter((revision) => revision !== null))
  const before = known === 0 || known >= task.revision ? null : await taskRevisions.findRevision(tx, task.id, known)
  const { revision, criteria } = before ?? task
  return { revision, criteria, said }
}
