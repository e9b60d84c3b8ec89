import {
  bodies,
  type EndingRow,
  type LockedTask,
  lanes,
  outbox,
  pipeline,
  questions,
  settle,
  subagents,
  type Tx,
  tasks,
  transaction,
  updates,
} from '@muster/db'
import { type NewEvent, subtaskSessionId } from '@muster/domain'
import { runQueue } from '@muster/jobs'
import { leaveEndedRun, returnTaskToPending } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import { readRulesOfEnds, storeEvaluations } from '../evaluations/evaluate-output.ts'
import { questionEvent, updateEvent } from '../events/event-data.ts'
import { wakeWithCommit } from '../events/wake.ts'
import { surfaceTsgs } from '../guides/surface-tsgs.ts'
import { grantProjectPermitsSoon } from '../subtasks/grant-permits.ts'
import { takeCheckIn } from '../tasks/check-in.ts'
import { completeTaskInTransaction } from '../tasks/complete-task.ts'
import { lockForCompletion } from '../tasks/finish-task.ts'
import { askToRaise } from './ask-to-raise.ts'
import { decideRunEnd, type EndPlan, type ReturnPlan, type TerminalPlan, type WaitPlan, workerOf } from './decide-ends.ts'
import { type PreparedEnd, prepareEnds, type RunEnd } from './prepare-ends.ts'
import { startRevisionRound } from './revision-round.ts'
import { noteWaiting, settleAlone } from './settle-alone.ts'

/** `settled`: this end counts. `fenced`: another worker has the subtask now, and nothing was written. */
export type Settlement = 'settled' | 'fenced'

/** What a batch of ends writes. */
interface EndPlans {
  rows: readonly EndingRow[]
  terminal: readonly TerminalPlan[]
  returned: readonly ReturnPlan[]
  waiting: readonly WaitPlan[]
}

const NOTHING_GRANTED: lanes.Granted = { count: 0, isLeftToProject: false }

/**
 * Stores the ends of attempts of one project in one commit: rows, attempts, inbox, events, jobs, and the permits that they free. Answers
 * for each subtask whether its end counts. An end that an earlier call committed counts too, because the answer of that call may be lost.
 */
export async function settleRuns(deps: Deps, projectId: string, ends: readonly RunEnd[]): Promise<Map<string, Settlement>> {
  const prepared = prepareEnds(ends)
  const [first, ...others] = prepared
  if (first !== undefined && others.length === 0 && (await settleAlone(deps, projectId, first))) return new Map([[first.subtaskId, 'settled']])
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
  noteWaiting(deps, projectId, rules.hasWaiting)
  const rows = locked.filter((row) => byId.get(row.id)?.onlyIfLapsed !== true || row.leaseLapsed)
  if (rows.length < ends.length) {
    for (const id of await settle.findEnded(tx, ends)) settlements.set(id, 'settled')
  }
  if (rows.length === 0) return settlements

  for (const row of rows) {
    const reported = byId.get(row.id) as PreparedEnd
    byId.set(row.id, await askToRaise(deps, tx, projectId, row, reported, row.taskId === null ? null : (lockedTasks.get(row.taskId) ?? null)))
  }
  const facts = {
    projectId,
    tasks: lockedTasks,
    rules,
    targets: await readTargets(tx, rows),
    questions: await readQuestions(tx, [...byId.values()]),
    ageingSeconds: deps.settings.SUBTASK_AGEING_SECONDS,
    newId: deps.newId,
  }
  const plans = rows.map((row) => decideRunEnd(facts, row, byId.get(row.id) as PreparedEnd))
  for (const row of rows) settlements.set(row.id, 'settled')
  const terminal = plans.filter((plan) => plan.kind === 'terminal')
  const returned = plans.filter((plan) => plan.kind === 'return')
  const waiting = plans.filter((plan) => plan.kind === 'wait')
  // A run that failed gets all updates again, in its prompt. One that goes on from where it was gets those that did not reach it.
  const undeliveredIds = plans.flatMap(({ kind, row }) => {
    const reported = byId.get(row.id)
    return kind === 'return' && reported?.end.kind !== 'waiting' ? [] : (reported?.undeliveredUpdateIds ?? [])
  })
  if (undeliveredIds.length > 0) await updates.takeBackDeliveries(tx, projectId, undeliveredIds)
  for (const plan of terminal) await applyToTask(deps, tx, projectId, plan)
  // The next attempt finds guides for the failure of this one in its prompt.
  for (const { row, failure } of returned) {
    if (failure === null) continue
    await surfaceTsgs(deps, tx, { projectId, actor: workerOf(row), sessionId: subtaskSessionId(row.id) }, [failure])
  }
  await storeContinuations(tx, projectId, plans)
  const events = [
    ...(await withdrawQuestions(tx, projectId, terminal, rules.asking)),
    ...(await expireUpdates(tx, projectId, terminal)),
    ...plans.flatMap((plan) => plan.events),
  ]
  await writeEnds(deps, tx, projectId, { rows, terminal, returned, waiting }, events, conclude)
  tx.afterCommit(() => {
    for (const { row, evaluation } of terminal) {
      if (evaluation !== null) byId.get(row.id)?.onEvaluated?.({ score: evaluation.row.score, label: evaluation.row.recommendation })
    }
  })
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
      outbox.publish(tx, projectId, events, wakeWithCommit(deps, tx, events)),
      removeJobs(deps, tx, projectId, plans.rows),
    ]),
  )
  tx.afterCommit(() => {
    if (granted.isLeftToProject) grantProjectPermitsSoon(deps, projectId)
    if (granted.count + plans.returned.length > 0) deps.notifier.notify('run')
  })
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

/** The questions that some of these ends wait for. */
async function readQuestions(tx: Tx, ends: readonly PreparedEnd[]): ReturnType<typeof questions.listQuestionStatuses> {
  const ids = ends.flatMap(({ end }) => (end.kind === 'waiting' ? [end.questionId] : []))
  return ids.length === 0 ? new Map() : await questions.listQuestionStatuses(tx, ids)
}

/** Stores what waiting runs go on from, and removes what no attempt will go on from any more. */
async function storeContinuations(tx: Tx, projectId: string, plans: readonly EndPlan[]): Promise<void> {
  const outdated: string[] = []
  for (const { kind, row, write, body } of plans) {
    const isKept = kind !== 'terminal' && write.continuationBodyId === row.continuationBodyId
    if (row.continuationBodyId !== null && !isKept) outdated.push(row.continuationBodyId)
    if (kind !== 'terminal' && body !== null) await bodies.insertBody(tx, projectId, body.id, body.text)
  }
  if (outdated.length > 0) await bodies.deleteBodies(tx, outdated)
}

/** What an ended run has asked needs no answer any more. */
async function withdrawQuestions(tx: Tx, projectId: string, terminal: readonly TerminalPlan[], asking: ReadonlySet<string>): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  for (const { row } of terminal) {
    if (!asking.has(row.id)) continue
    const withdrawn = await questions.withdrawOpen(tx, projectId, { subtaskId: row.id })
    events.push(...withdrawn.map((question) => questionEvent('question.withdrawn', question, workerOf(row))))
  }
  return events
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
async function writeAndGrant(deps: Deps, tx: Tx, projectId: string, { terminal, returned, waiting }: EndPlans): Promise<lanes.Granted> {
  const agentIds = [...new Set([...terminal, ...waiting].map(({ row }) => row.agentId))]
  const writes = <T>(plans: readonly { write: T }[]): T[] => plans.map(({ write }) => write)
  const revisionRounds = terminal.flatMap(({ effect }) => (effect.kind === 'revise' ? [effect.round.row] : []))
  const [, , , , , granted] = await pipeline([
    terminal.length > 0 ? settle.writeTerminal(tx, projectId, writes(terminal)) : null,
    returned.length > 0 ? settle.writeReturns(tx, writes(returned)) : null,
    waiting.length > 0 ? settle.writeWaits(tx, writes(waiting)) : null,
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
