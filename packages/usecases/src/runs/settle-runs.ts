import {
  bodies,
  type EndingRow,
  type LockedTask,
  lanes,
  outbox,
  type ReturnRow,
  settle,
  subagents,
  subtasks,
  type TerminalRow,
  type Tx,
  tasks,
  transaction,
  updates,
} from '@muster/db'
import { decideEnd, type EndDecision, isTerminalTask, type NewEvent, subtaskSessionId } from '@muster/domain'
import { runQueue } from '@muster/jobs'
import { returnTaskToPending } from '../assignments/return-task.ts'
import { leaveEndedRun } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import { evaluateEnd, type MadeEvaluation, readRulesOfEnds, storeEvaluations } from '../evaluations/evaluate-ends.ts'
import { evaluationEvent } from '../evaluations/evaluate-output.ts'
import { subtaskEvent, updateEvent } from '../events/event-data.ts'
import { surfaceTsgs } from '../guides/surface-tsgs.ts'
import { grantProjectPermitsSoon } from '../subtasks/grant-missed-permits.ts'
import { laneDefaults } from '../subtasks/lane-defaults.ts'
import { saidOfTask, takeCheckIn } from '../tasks/check-in.ts'
import { completeTaskInTransaction } from '../tasks/complete-task.ts'
import { lockForCompletion } from '../tasks/finish-task.ts'
import { type PreparedEnd, prepareEnds, type RunEnd } from './prepare-ends.ts'
import { isSentBack, type StartedRevisionRound, startRevisionRound } from './start-revision-round.ts'

/** `settled`: this end counts. `fenced`: somebody else has taken the subtask since, and nothing was written. */
export type Settlement = 'settled' | 'fenced'

const NOTHING_GRANTED: lanes.Granted = { count: 0, isLeftToProject: false }
const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsdMicros: 0, toolCalls: 0 }

/**
 * Brings attempts of one project to their ends: rows, attempts, inbox, events, jobs, and the slots they free, in one commit.
 * Answers per subtask whether its end counted. An end that was committed before, by a call whose answer was lost, counts.
 */
export async function settleRuns(deps: Deps, projectId: string, ends: readonly RunEnd[]): Promise<Map<string, Settlement>> {
  const prepared = prepareEnds(ends)
  return await transaction(deps.db, projectId, (tx) => settleInTransaction(deps, tx, projectId, prepared, (last) => tx.withCommit(last)))
}

/**
 * The same in a caller's transaction. Takes the locks of tasks, of rows, then of lanes.
 *
 * @param conclude takes the last statements, already on their way, where their answers are needed by nobody: awaits them, unless COMMIT is to follow them at once
 */
export async function settleInTransaction(
  deps: Deps,
  tx: Tx,
  projectId: string,
  reported: readonly PreparedEnd[],
  conclude: (last: Promise<unknown>) => unknown = (last) => last,
): Promise<Map<string, Settlement>> {
  // One end a subtask: of several attempts only the last can be the current one, and one end told twice must not be written twice.
  const byId = new Map(reported.toSorted((one, other) => one.attempt - other.attempt).map((end) => [end.subtaskId, end]))
  const ends = [...byId.values()]
  const settlements = new Map<string, Settlement>(ends.map((end) => [end.subtaskId, 'fenced']))
  const briefs = await lockTasksOf(tx, projectId, ends)
  // One packet: what is read is read behind the lock.
  const ids = ends.map((end) => end.subtaskId)
  const [locked, rulesOfEnds] = await Promise.all([settle.lockEnding(tx, ends), readRulesOfEnds(tx, projectId, ids, [...briefs.keys()])])
  const rows = locked.filter((row) => byId.get(row.id)?.onlyIfLapsed !== true || row.leaseLapsed)
  if (rows.length < ends.length) {
    for (const id of await settle.findEnded(tx, ends)) settlements.set(id, 'settled')
  }
  if (rows.length === 0) return settlements

  const terminal: TerminalRow[] = []
  const returned: (ReturnRow & { row: EndingRow })[] = []
  const events: NewEvent[] = []
  const evaluated: MadeEvaluation[] = []
  const revisionRounds: StartedRevisionRound[] = []
  const targets = await targetsOf(tx, rows)
  for (const row of rows) {
    const { end, usage: used, blocks } = byId.get(row.id) as PreparedEnd
    const lostMs = end.kind === 'lost' ? end.lostMs : 0
    const held = heldTask(briefs, row)
    const brief = held?.status === 'in_progress' ? held : null
    const accepted = outputsAskedFor(held, row)
    const decision = decideEnd({ ...row, requiredOutputs: accepted }, end)
    const usage = { ...NO_USAGE, ...used }
    const actor = { kind: 'worker', id: row.workerId }
    settlements.set(row.id, 'settled')
    if (decision.kind === 'back') {
      returned.push({
        row,
        id: row.id,
        attempt: row.attempt,
        failures: decision.failures,
        feedback: decision.feedback,
        outcome: end.kind,
        error: decision.event === 'subtask.released' ? null : decision.reason,
        lostMs,
        jobId: deps.newId(),
        usage,
      })
      events.push(subtaskEvent(decision.event, row, actor, { attempt: row.attempt, failures: decision.failures, reason: decision.reason }))
      continue
    }
    const made = decision.status === 'completed' ? evaluateEnd(deps, projectId, rulesOfEnds, row, { result: decision.result ?? '', blocks, accepted }) : null
    if (made !== null) evaluated.push(made)
    const said = made === null || held === null || isTerminalTask(held.status) ? null : saidOfTask(held.id, blocks)
    if (held !== null && said !== null) {
      await takeCheckIn({ ...deps, actor }, tx, held, said.blocks, { content: said.text, sessionId: subtaskSessionId(row.id) })
    }
    const next = brief !== null && made !== null && isSentBack(row, made.row.recommendation) ? await startRevisionRound(deps, tx, brief, row, made) : null
    if (next !== null) revisionRounds.push(next)
    else if (brief !== null) await endTask(deps, tx, brief, decision, made, actor)
    // Sent back while its run was still at it, and never heard of there.
    else if (held?.status === 'revision_requested') await leaveEndedRun(tx, held, actor)
    const isLong = decision.result !== null && bodies.needsBody(decision.result)
    const resultBodyId = isLong ? deps.newId() : null
    if (resultBodyId !== null) await bodies.insertBody(tx, projectId, resultBodyId, decision.result as string)
    terminal.push({
      id: row.id,
      attempt: row.attempt,
      status: decision.status,
      finalOutcome: decision.finalOutcome,
      result: isLong ? null : decision.result,
      resultBodyId,
      resultTruncated: decision.resultTruncated,
      summary: decision.summary,
      error: decision.error,
      outputs: decision.outputs,
      failures: decision.failures,
      lostMs,
      usage,
      inboxId: row.parentSessionId === null || next !== null ? null : deps.newId(),
    })
    if (made !== null) events.push(evaluationEvent(made.row, actor))
    events.push(
      subtaskEvent(`subtask.${decision.status}`, row, actor, {
        attempt: row.attempt,
        status: decision.status,
        final_outcome: decision.finalOutcome,
        result: decision.result,
        summary: decision.summary,
        error: decision.error,
        task_id: row.taskId,
        schedule_id: row.scheduleId,
        ...(row.subagentName === null ? {} : { subagent: { name: row.subagentName, version: row.subagentVersion } }),
        ...targets.get(row.id),
        ...(made === null ? {} : { evaluation: { id: made.row.id, score: made.row.score, recommendation: made.row.recommendation } }),
        ...(next === null ? {} : { revised_by: next.row.id }),
      }),
      ...(next === null ? [] : [next.created]),
    )
  }

  // The next attempt finds in its brief what is known of the failure of this one.
  for (const { row, outcome, error } of returned) {
    if (outcome !== 'errored' || error === null) continue
    await surfaceTsgs(deps, tx, { projectId, actor: { kind: 'worker', id: row.workerId }, sessionId: subtaskSessionId(row.id) }, [error])
  }

  const expired = await expireUpdates(tx, projectId, rows, terminal)
  let granted = NOTHING_GRANTED
  // A judge is asked by several statements, one after the other.
  const end = evaluated.some(({ judge }) => judge !== null) ? (last: Promise<unknown>) => last : conclude
  // One packet: the statements run in this order, and none needs the answer of another.
  await end(
    Promise.all([
      writeAndGrant(deps, tx, projectId, rows, { terminal, returned, revisionRounds }).then((count) => {
        granted = count
      }),
      evaluated.length > 0 ? storeEvaluations(deps, tx, projectId, evaluated) : null,
      outbox.publish(tx, projectId, [...expired, ...events]),
      removeJobs(deps, tx, projectId, rows),
    ]),
  )
  tx.afterCommit(() => {
    if (granted.isLeftToProject) grantProjectPermitsSoon(deps, projectId)
    if (granted.count + returned.length > 0) deps.notifier.notify('run')
    deps.notifier.notify('outbox')
  })
  return settlements
}

/** What the ends of runs say whose sub-agent has a target: how long they took, and by how much that was too long. Nothing is ended for it. */
async function targetsOf(tx: Tx, rows: readonly EndingRow[]): Promise<Map<string, Record<string, number>>> {
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

/** Locks the tasks that these subtasks are about, in their order, before any row of a subtask. */
async function lockTasksOf(tx: Tx, projectId: string, ends: readonly RunEnd[]): Promise<Map<string, LockedTask>> {
  const unknown = ends.filter((end) => end.taskId === undefined).map((end) => end.subtaskId)
  const taskIds = [...ends.flatMap((end) => end.taskId ?? []), ...(unknown.length > 0 ? await subtasks.listTaskIds(tx, unknown) : [])]
  if (taskIds.length === 0) return new Map()
  await lockForCompletion(tx, projectId)
  return new Map((await tasks.lockTasks(tx, [...new Set(taskIds)])).map((task) => [task.id, task]))
}

/** The task that a subtask was given to run: null where it only mentions one, or where the task has gone to somebody else. */
function heldTask(briefs: ReadonlyMap<string, LockedTask>, row: EndingRow): LockedTask | null {
  const task = row.taskId === null ? undefined : briefs.get(row.taskId)
  return task?.subtaskId === row.id && task.subagentSessionId === subtaskSessionId(row.id) ? task : null
}

/**
 * What the result has to bring: of a dispatched brief, what it asks for by now, not what it asked for when it was dispatched; and nothing
 * more where the run has handed the outputs in itself, by its own credential.
 */
function outputsAskedFor(task: LockedTask | null, row: EndingRow): EndingRow['requiredOutputs'] {
  if (task?.status === 'in_progress') return task.requiredOutputs
  return task?.status === 'completed' || task?.status === 'in_review' ? [] : row.requiredOutputs
}

/** What the end of the subtask that ran it means for a locked task. Its outputs have been held against what the task asks for. */
async function endTask(
  deps: Deps,
  tx: Tx,
  task: LockedTask,
  end: Extract<EndDecision, { kind: 'terminal' }>,
  made: MadeEvaluation | null,
  actor: NewEvent['actor'],
): Promise<void> {
  if (made !== null) {
    const completion = { outputs: end.outputs ?? {}, summary: end.summary, actor, evaluate: () => made, hasRunEnded: true }
    await completeTaskInTransaction(deps, tx, task.projectId, task.id, completion)
  } else {
    const lastError =
      end.error ?? (end.status === 'cancelled' ? 'The subtask that ran it was cancelled.' : `The subtask that ran it ended ${end.finalOutcome}.`)
    await returnTaskToPending(deps, tx, task.projectId, task.id, lastError, actor)
  }
}

async function expireUpdates(tx: Tx, projectId: string, rows: readonly EndingRow[], terminal: readonly TerminalRow[]): Promise<NewEvent[]> {
  const ended = new Set(terminal.map((row) => row.id))
  const steered = rows.filter((row) => row.updateSeq > 0 && ended.has(row.id)).map((row) => row.id)
  if (steered.length === 0) return []
  const expired = await updates.expireUpdates(tx, projectId, steered)
  return expired.map((update) => updateEvent('update.expired', update.updateId, update.subtaskId, { kind: 'system', id: 'settle' }))
}

/** Writes the ends, then gives freed slots on, under the lanes' locks: each statement sees what the one before it did. Answers how many it gave. */
async function writeAndGrant(
  deps: Deps,
  tx: Tx,
  projectId: string,
  rows: readonly EndingRow[],
  { terminal, returned, revisionRounds }: { terminal: readonly TerminalRow[]; returned: readonly ReturnRow[]; revisionRounds: readonly StartedRevisionRound[] },
): Promise<lanes.Granted> {
  const ended = new Set(terminal.map((row) => row.id))
  const agentIds = [...new Set(rows.filter((row) => ended.has(row.id)).map((row) => row.agentId))]
  const [, , , , granted] = await Promise.all([
    terminal.length > 0 ? settle.writeTerminal(tx, projectId, terminal) : null,
    returned.length > 0 ? settle.writeReturns(tx, returned) : null,
    // Before the slots are given on, so that they are considered.
    revisionRounds.length > 0
      ? settle.insertRevisionRounds(
          tx,
          revisionRounds.map(({ row }) => row),
        )
      : null,
    agentIds.length > 0 ? lanes.lockLanes(tx, projectId, agentIds) : null,
    agentIds.length > 0 ? lanes.grantPermits(tx, projectId, agentIds, laneDefaults(deps), deps.runJobs.inserting(tx)) : NOTHING_GRANTED,
    returned.length > 0
      ? deps.runJobs.insertForRows(
          tx,
          returned.map(({ id }) => id),
        )
      : null,
  ])
  return granted
}

async function removeJobs(deps: Deps, tx: Tx, projectId: string, rows: readonly EndingRow[]): Promise<void> {
  const byQueue = Map.groupBy(rows, (row) => runQueue(row.runner, projectId))
  await Promise.all(
    [...byQueue].map(([queue, group]) =>
      deps.runJobs.remove(
        tx,
        queue,
        group.map((row) => row.jobId),
      ),
    ),
  )
}
