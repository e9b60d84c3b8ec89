import {
  assignments,
  bodies,
  type EndingRow,
  type LockedTask,
  lanes,
  outbox,
  pipeline,
  settle,
  subagents,
  type Tx,
  tasks,
  transaction,
  updates,
} from '@muster/db'
import { type NewEvent, revisionRequest, subtaskSessionId } from '@muster/domain'
import { runQueue } from '@muster/jobs'
import { leaveEndedRun, returnTaskToPending, unassign } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import { type MadeEvaluation, readRulesOfEnds, storeEvaluations } from '../evaluations/evaluate-output.ts'
import { taskEvent, updateEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { surfaceTsgs } from '../guides/surface-tsgs.ts'
import { grantProjectPermitsSoon } from '../subtasks/grant-permits.ts'
import { takeCheckIn } from '../tasks/check-in.ts'
import { completeTaskInTransaction } from '../tasks/complete-task.ts'
import { lockForCompletion } from '../tasks/finish-task.ts'
import { EVALUATOR } from '../tasks/review-task.ts'
import { queueTaskUpdate } from '../tasks/send-task-update.ts'
import { decideRunEnd, type ReturnPlan, type TerminalPlan, workerOf } from './decide-ends.ts'
import { type PreparedEnd, prepareEnds, type RunEnd } from './prepare-ends.ts'

/** `settled`: this end counts. `fenced`: another worker has the subtask now, and nothing was written. */
export type Settlement = 'settled' | 'fenced'

/** What a batch of ends writes. */
interface EndPlans {
  rows: readonly EndingRow[]
  terminal: readonly TerminalPlan[]
  returned: readonly ReturnPlan[]
}

const NOTHING_GRANTED: lanes.Granted = { count: 0, isLeftToProject: false }

/**
 * Stores the ends of attempts of one project in one commit: rows, attempts, inbox, events, jobs, and the permits that they free. Answers
 * for each subtask whether its end counts. An end that an earlier call committed counts too, because the answer of that call may be lost.
 */
export async function settleRuns(deps: Deps, projectId: string, ends: readonly RunEnd[]): Promise<Map<string, Settlement>> {
  const prepared = prepareEnds(ends)
  return await transaction(deps.db, projectId, (tx) => settleInTransaction(deps, tx, projectId, prepared, (last) => tx.withCommit(last)))
}

/**
 * The same in a caller's transaction. Takes the locks of tasks, rows and lanes, in this order.
 *
 * @param conclude receives the last statements, already sent. The default awaits them; `tx.withCommit` sends COMMIT with them
 */
export async function settleInTransaction(
  deps: Deps,
  tx: Tx,
  projectId: string,
  reported: readonly PreparedEnd[],
  conclude: (last: Promise<unknown>) => unknown = (last) => last,
): Promise<Map<string, Settlement>> {
  // One end per subtask: of several attempts only the last can be current, and a repeated report must not be written twice.
  const byId = new Map(reported.toSorted((one, other) => one.attempt - other.attempt).map((end) => [end.subtaskId, end]))
  const ends = [...byId.values()]
  const settlements = new Map<string, Settlement>(ends.map((end) => [end.subtaskId, 'fenced']))
  const lockedTasks = await lockTasksOf(tx, projectId, ends)
  // Read behind the locks of the rows.
  const ids = ends.map((end) => end.subtaskId)
  const [locked, rules] = await pipeline([settle.lockEnding(tx, ends), readRulesOfEnds(tx, projectId, ids, [...lockedTasks.keys()])])
  const rows = locked.filter((row) => byId.get(row.id)?.onlyIfLapsed !== true || row.leaseLapsed)
  if (rows.length < ends.length) {
    for (const id of await settle.findEnded(tx, ends)) settlements.set(id, 'settled')
  }
  if (rows.length === 0) return settlements

  const facts = {
    projectId,
    tasks: lockedTasks,
    rules,
    targets: await readTargets(tx, rows),
    ageingSeconds: deps.settings.SUBTASK_AGEING_SECONDS,
    newId: deps.newId,
  }
  const plans = rows.map((row) => decideRunEnd(facts, row, byId.get(row.id) as PreparedEnd))
  for (const row of rows) settlements.set(row.id, 'settled')
  const terminal = plans.filter((plan) => plan.kind === 'terminal')
  const returned = plans.filter((plan) => plan.kind === 'return')
  const undeliveredIds = terminal.flatMap(({ row }) => byId.get(row.id)?.undeliveredUpdateIds ?? [])
  if (undeliveredIds.length > 0) await updates.takeBackDeliveries(tx, projectId, undeliveredIds)
  for (const plan of terminal) await applyToTask(deps, tx, projectId, plan)
  // The next attempt finds guides for the failure of this one in its prompt.
  for (const { row, failure } of returned) {
    if (failure === null) continue
    await surfaceTsgs(deps, tx, { projectId, actor: workerOf(row), sessionId: subtaskSessionId(row.id) }, [failure])
  }
  const events = [...(await expireUpdates(tx, projectId, terminal)), ...plans.flatMap((plan) => plan.events)]
  await writeEnds(deps, tx, projectId, { rows, terminal, returned }, events, conclude)
  return settlements
}

/** Applies an end to the task of its subtask: check-in, completion, revision round or return. Stores a long result. */
async function applyToTask(deps: Deps, tx: Tx, projectId: string, { row, checkIn, effect, body }: TerminalPlan): Promise<void> {
  const actor = workerOf(row)
  if (checkIn !== null) {
    await takeCheckIn({ ...deps, actor }, tx, checkIn.task, checkIn.blocks, { content: checkIn.text, sessionId: subtaskSessionId(row.id) })
  }
  switch (effect.kind) {
    case 'revise':
      await startRevisionRound(deps, tx, effect.task, row, { id: effect.round.row.id, evaluation: effect.evaluation })
      break
    case 'complete': {
      const { task, evaluation, outputs, summary } = effect
      await completeTaskInTransaction(deps, tx, projectId, task.id, { outputs, summary, actor, evaluate: () => evaluation, hasRunEnded: true })
      break
    }
    case 'return':
      await returnTaskToPending(deps, tx, projectId, effect.task.id, effect.lastError, actor)
      break
    case 'leave':
      await leaveEndedRun(tx, effect.task, actor)
      break
    default:
  }
  if (body !== null) await bodies.insertBody(tx, projectId, body.id, body.text)
}

/**
 * Reassigns a locked task from a run with a poor result to the next subtask of its chain, and queues an update with the points to revise.
 * The row of that subtask is inserted with the end of this one.
 */
async function startRevisionRound(
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

/** Writes ends, evaluations and events, grants the freed permits and removes the jobs, in one pipeline. Notifies after the commit. */
async function writeEnds(
  deps: Deps,
  tx: Tx,
  projectId: string,
  plans: EndPlans,
  events: readonly NewEvent[],
  conclude: (last: Promise<unknown>) => unknown,
): Promise<void> {
  const evaluated = plans.terminal.flatMap(({ evaluation }) => evaluation ?? [])
  let granted = NOTHING_GRANTED
  // Requests to a judge are several statements, each of which needs the answer of the one before, so COMMIT cannot be sent with them.
  const end = evaluated.some(({ judge }) => judge !== null) ? (last: Promise<unknown>) => last : conclude
  await end(
    pipeline([
      writeAndGrant(deps, tx, projectId, plans).then((answer) => {
        granted = answer
      }),
      evaluated.length > 0 ? storeEvaluations(deps, tx, projectId, evaluated) : null,
      outbox.publish(tx, projectId, events),
      removeJobs(deps, tx, projectId, plans.rows),
    ]),
  )
  tx.afterCommit(() => {
    if (granted.isLeftToProject) grantProjectPermitsSoon(deps, projectId)
    if (granted.count + plans.returned.length > 0) deps.notifier.notify('run')
  })
  wakeAfterCommit(deps, tx, events)
}

/** For runs whose sub-agent has a target latency: how long they took, and by how much they exceeded it. */
async function readTargets(tx: Tx, rows: readonly EndingRow[]): Promise<Map<string, Record<string, number>>> {
  const ids = rows.filter((row) => row.subagentName !== null).map((row) => row.id)
  if (ids.length === 0) return new Map()
  const targets = await subagents.findTargets(tx, ids)
  return new Map(
    [...targets].map(([id, { targetMs, tookMs }]) => [
      id,
      { target_latency_ms: targetMs, took_ms: tookMs, ...(tookMs > targetMs ? { target_exceeded_by_ms: tookMs - targetMs } : {}) },
    ]),
  )
}

/** Locks the tasks of these subtasks, ordered by id, before any row of a subtask. */
async function lockTasksOf(tx: Tx, projectId: string, ends: readonly RunEnd[]): Promise<Map<string, LockedTask>> {
  const unknown = ends.filter((end) => end.taskId === undefined).map((end) => end.subtaskId)
  const taskIds = [...ends.flatMap((end) => end.taskId ?? []), ...(unknown.length > 0 ? await settle.listTaskIds(tx, unknown) : [])]
  if (taskIds.length === 0) return new Map()
  await lockForCompletion(tx, projectId)
  return new Map((await tasks.lockTasks(tx, [...new Set(taskIds)])).map((task) => [task.id, task]))
}

async function expireUpdates(tx: Tx, projectId: string, terminal: readonly TerminalPlan[]): Promise<NewEvent[]> {
  const steered = terminal.filter(({ row }) => row.updateSeq > 0).map(({ row }) => row.id)
  if (steered.length === 0) return []
  const expired = await updates.expireUpdates(tx, projectId, steered)
  return expired.map((update) => updateEvent('update.expired', update.updateId, update.subtaskId, { kind: 'system', id: 'settle' }))
}

/** Writes the ends, then grants the freed permits under the locks of the lanes. Each statement sees the effects of the one before. */
async function writeAndGrant(deps: Deps, tx: Tx, projectId: string, { terminal, returned }: EndPlans): Promise<lanes.Granted> {
  const agentIds = [...new Set(terminal.map(({ row }) => row.agentId))]
  const writes = <T>(plans: readonly { write: T }[]): T[] => plans.map(({ write }) => write)
  const revisionRounds = terminal.flatMap(({ effect }) => (effect.kind === 'revise' ? [effect.round.row] : []))
  const [, , , , granted] = await pipeline([
    terminal.length > 0 ? settle.writeTerminal(tx, projectId, writes(terminal)) : null,
    returned.length > 0 ? settle.writeReturns(tx, writes(returned)) : null,
    // Before permits are granted, so that these rows are candidates.
    revisionRounds.length > 0 ? settle.insertRevisionRounds(tx, revisionRounds) : null,
    agentIds.length > 0 ? lanes.lockLanes(tx, projectId, agentIds) : null,
    agentIds.length > 0 ? lanes.grantPermits(tx, projectId, agentIds, lanes.laneDefaults(deps.settings), deps.runJobs.inserting(tx)) : NOTHING_GRANTED,
    returned.length > 0
      ? deps.runJobs.insertForRows(
          tx,
          returned.map(({ row }) => row.id),
        )
      : null,
  ])
  return granted
}

async function removeJobs(deps: Deps, tx: Tx, projectId: string, rows: readonly EndingRow[]): Promise<void> {
  const byQueue = Map.groupBy(rows, (row) => runQueue(row.runner, projectId))
  const jobIdsOf = (group: readonly EndingRow[]) => group.map((row) => row.jobId)
  await pipeline([...byQueue].map(([queue, group]) => deps.runJobs.remove(tx, queue, jobIdsOf(group))))
}
