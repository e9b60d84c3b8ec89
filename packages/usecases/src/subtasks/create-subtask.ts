import { lanes, type NewSubtaskRow, pipeline, spawn, type Tx, toNewSubtask, transaction, writeOnce } from '@muster/db'
import {
  DomainError,
  type Priority,
  type RequiredOutput,
  type RunnerChooser,
  requireScope,
  requireSpawnAllowed,
  type Scope,
  type Subtask,
} from '@muster/domain'
import { type RunJobs, runCall, runQueue } from '@muster/jobs'
import { BatchExecutor, isolating, type Outcome } from '../core/batch-executor.ts'
import { auditEntryOf, type Ctx, type Deps, inProject, recordWrites } from '../core/ctx.ts'
import { type Callback, insertCallback, insertDefinedCallbacks } from '../deliveries/insert-callback.ts'
import { subtaskEvent } from '../events/event-data.ts'
import { engageSubagent, resolveRunner } from '../subagents/engage-subagent.ts'
import { grantProjectPermitsSoon, takeLaterPermit } from './grant-permits.ts'
import { type Asking, reserveBudgets } from './reserve-budgets.ts'

export interface NewSubtask {
  /** Its id, of which the caller wants to know before it exists. Default: a new one. */
  id?: string | undefined
  task: string
  agentId?: string | undefined
  priority?: Priority | undefined
  timeoutSeconds?: number | undefined
  notify?: boolean | undefined
  parentSessionId?: string | undefined
  taskId?: string | undefined
  /** The name of a runner, or a function that chooses one, called only when the subtask is accepted. */
  runner: string | RunnerChooser
  /** Overrides the model of the sub-agent. */
  model?: string | undefined
  /** The sub-agent to run, in the background. */
  subagent?: string | undefined
  requiredOutputs?: RequiredOutput[] | undefined
  maxAttempts?: number | undefined
  budget?: { maxSteps?: number | undefined; maxTokens?: number | undefined; maxCostUsdMicros?: number | undefined } | undefined
  metadata?: Record<string, unknown> | undefined
  /** Where its end is sent to. Null: nowhere, whatever the definition of its sub-agent says. */
  callback?: Callback | null | undefined
  /** The number of revision rounds after a poor result. Only for dispatched tasks, because results without criteria are never poor. */
  maxRevisions?: number | undefined
}

/** So many subtasks at once are work for every worker. */
const CALLED_EACH_MAX = 50

export const DEFAULT_AGENT = 'default'
const DEFAULT_MAX_ATTEMPTS = 2
export const DEFAULT_MAX_STEPS = 50

/**
 * Accepts a subtask: row, event and, if its lane has a free permit, the job, in one commit. [011] spawn_task
 *
 * @throws DomainError `subtasks_disabled`, `spawn_blocked`, `forbidden`, `pending_limit_reached`, `budget_exhausted`, and what `engageSubagent` refuses
 */
export async function createSubtask(ctx: Ctx, input: NewSubtask): Promise<Subtask> {
  if (input.subagent !== undefined) return await createRun(ctx, input, input.subagent)
  const row = prepareSubtask(ctx, input)
  // A stored answer commits with its effect, which needs a transaction of its own.
  if (ctx.idempotency === undefined && input.callback == null) return await batchExecutorsOf(ctx).add({ ctx, row })
  return await inProject(ctx, (tx) => insertWithCallback(ctx, tx, { row }, input.callback))
}

/** The same for a run of a sub-agent. The version of its definition is stored with it. */
async function createRun(ctx: Ctx, input: NewSubtask, subagent: string): Promise<Subtask> {
  const prepared = prepareRun(ctx, input)
  return await inProject(ctx, async (tx) => {
    const row = await inBackground(ctx, tx, prepared, input.runner, subagent)
    return await insertWithCallback(ctx, tx, { row }, input.callback)
  })
}

/** Inserts a prepared subtask in a caller's transaction, with its callback, or that of its sub-agent. Takes the lock of its lane last. */
export async function insertWithCallback(ctx: Ctx, tx: Tx, prepared: Omit<Prepared, 'ctx'>, callback: Callback | null | undefined): Promise<Subtask> {
  if (callback === undefined) await insertDefinedCallbacks(ctx, tx, ctx.actor.projectId, [prepared.row])
  else if (callback !== null) await insertCallback(ctx, tx, prepared.row.id, callback)
  return unwrap((await insertPrepared(ctx, tx, ctx.actor.projectId, [{ ...prepared, ctx }]))[0])
}

/** A subtask before its runner is chosen. */
export type PreparedRun = Omit<NewSubtaskRow, 'runner' | 'runnerReason'>

/**
 * Resolves the runner of a prepared subtask, and makes it a background run of the named sub-agent, if any.
 *
 * @throws DomainError as `engageSubagent` and the choice of the runner do
 */
export async function inBackground(
  ctx: Ctx,
  tx: Tx,
  prepared: PreparedRun,
  runner: NewSubtask['runner'],
  subagent: string | null | undefined,
): Promise<NewSubtaskRow> {
  if (subagent == null) return { ...prepared, ...resolveRunner(runner, null) }
  return await engageSubagent(ctx, tx, prepared, { name: subagent, model: prepared.model, runner, runInBackground: true })
}

/** Checks the caller, fills in defaults, and chooses the runner of a subtask without a sub-agent. */
export function prepareSubtask(ctx: Ctx, input: NewSubtask): NewSubtaskRow {
  return { ...prepareRun(ctx, input), ...resolveRunner(input.runner, null) }
}

/** The same without the runner, which for a sub-agent is chosen once its definition is known. */
export function prepareRun(ctx: Ctx, input: Omit<NewSubtask, 'runner'>, scope: Scope = 'subtasks:write'): PreparedRun {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, scope)
  const { settings, actor } = ctx
  if (!settings.SUBTASK_ENABLED) throw new DomainError('subtasks_disabled', 'Subtasks are switched off on this server (SUBTASK_ENABLED=false).')
  return {
    id: input.id ?? ctx.newId(),
    projectId: actor.projectId,
    agentId: actor.agentId ?? input.agentId ?? DEFAULT_AGENT,
    parentSessionId: input.parentSessionId ?? null,
    task: input.task,
    taskId: input.taskId ?? null,
    taskRevision: null,
    scheduleId: null,
    subagentName: null,
    subagentVersion: null,
    resumeOf: null,
    background: true,
    priority: input.priority ?? 'normal',
    model: input.model ?? null,
    timeoutSeconds: input.timeoutSeconds ?? settings.SUBTASK_DEFAULT_TIMEOUT,
    maxAttempts: input.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    budgetMaxSteps: input.budget?.maxSteps ?? DEFAULT_MAX_STEPS,
    budgetMaxTokens: input.budget?.maxTokens ?? null,
    budgetMaxCostMicros: input.budget?.maxCostUsdMicros ?? null,
    notify: input.notify ?? true,
    requiredOutputs: input.requiredOutputs ?? [],
    metadata: input.metadata ?? {},
    traceparent: ctx.traceparent ?? null,
    maxRevisions: input.maxRevisions ?? 0,
    jobId: ctx.newId(),
  }
}

/** A row that is ready to be inserted, with the context of its caller. */
export interface Prepared extends Asking {
  ctx: Ctx
}

/** The outcome for one subtask of a batch: accepted, or refused because of the limit of pending subtasks or a budget. */
export type Spawned = { answer: Subtask } | { error: DomainError }

function unwrap(spawned: Spawned | undefined): Subtask {
  if (spawned === undefined) throw new Error('missing outcome of a spawned subtask')
  if ('error' in spawned) throw spawned.error
  return spawned.answer
}

/** Inserts prepared subtasks of one project, in their order, in a caller's transaction. Takes the locks of lanes; locks of rows come before. */
export async function insertPrepared(deps: Deps, tx: Tx, projectId: string, prepared: readonly Prepared[]): Promise<Spawned[]> {
  return (await insertWithLimits(deps, tx, projectId, prepared)).spawned
}

function insertRows(deps: Deps, tx: Tx, projectId: string, rows: readonly Prepared[], options: spawn.InsertOptions) {
  const { settings, runJobs } = deps
  const [defaults, created] = [lanes.laneDefaults(settings), rows.map(withCreatedEvent)]
  return spawn.insertSubtasks(tx, projectId, created, defaults, settings.SUBTASK_AGEING_SECONDS, runJobs.inserting(tx), options)
}

async function insertWithLimits(deps: Deps, tx: Tx, projectId: string, prepared: readonly Prepared[]): Promise<{ spawned: Spawned[]; hasBudget: boolean }> {
  const defaults = lanes.laneDefaults(deps.settings)
  const agentIds = prepared.map(({ row }) => row.agentId)
  let asking = prepared
  let overBudget = new Map<string, DomainError>()
  // Almost no project has a budget, so the rows are sent with the lock, and are not inserted where there is one.
  const mayHaveRoom = prepared.every(({ taskBudget }) => taskBudget === undefined)
  let [hasBudget, inserted] = await pipeline([
    lanes.lockProjectLanes(tx, projectId, agentIds, defaults),
    mayHaveRoom ? insertRows(deps, tx, projectId, prepared, { isReserved: false }) : new Map<string, spawn.InsertedSubtask>(),
  ])
  if (hasBudget || !mayHaveRoom) {
    const { reserved, refusals } = await reserveBudgets(deps, tx, projectId, prepared)
    if (reserved.length > 0) inserted = await insertRows(deps, tx, projectId, reserved, { isReserved: true })
    asking = reserved
    overBudget = refusals
  }
  const rowsById = new Map(asking.map(({ row }) => [row.id, row]))
  const startable: NewSubtaskRow[] = []
  const spawned: Spawned[] = []
  const fullLanes = new Map<string, DomainError>()
  for (const { row: asked } of prepared) {
    const row = rowsById.get(asked.id) ?? asked
    const accepted = inserted.get(row.id)
    if (accepted === undefined) {
      const error = overBudget.get(row.id) ?? fullLanes.get(row.agentId) ?? (await isFull(tx, projectId, row.agentId, defaults))
      if (!overBudget.has(row.id)) fullLanes.set(row.agentId, error)
      spawned.push({ error })
      continue
    }
    const hasTaken = accepted.outranksHolder && (await takeLaterPermit(deps, tx, projectId, row, accepted.rankAt))
    if (accepted.hasPermit || hasTaken) startable.push(row)
    spawned.push({ answer: toNewSubtask(row, accepted.createdAt) })
  }
  if ([...inserted.values()].some(({ isLeftToProject }) => isLeftToProject)) tx.afterCommit(() => grantProjectPermitsSoon(deps, projectId))
  if (startable.length > 0) tx.afterCommit(() => callWorkers(deps, startable))
  if (inserted.size > 0) tx.afterCommit(() => deps.notifier.notify('outbox'))
  return { spawned, hasBudget }
}

/** Calls a worker for each of these subtasks, or all workers where so many wait. */
function callWorkers({ notifier }: Deps, startable: readonly NewSubtaskRow[]): void {
  if (startable.length > CALLED_EACH_MAX) notifier.notify('run')
  else for (const row of startable) notifier.notify('run', runCall(row))
}

/** The time of creation in answers before it is known. The audit log does not have it. */
const NOT_YET = new Date(0)

/**
 * Inserts a prepared subtask that gets a permit, in one statement that commits by itself. Null where it takes more; nothing was inserted then.
 *
 * @returns the time of its creation
 */
async function insertAlone(deps: Deps, projectId: string, prepared: Prepared): Promise<Date | null> {
  const { ctx, row } = prepared
  const { SUBTASK_AGEING_SECONDS } = deps.settings
  const notification = deps.notifier.withCommit('run', [runCall(row)])
  const entry = auditEntryOf(ctx, toNewSubtask(row, NOT_YET))
  const createdAt = await writeOnce(deps.db, projectId, (tx) =>
    spawn.insertAlone(
      tx,
      withCreatedEvent(prepared),
      lanes.laneDefaults(deps.settings),
      SUBTASK_AGEING_SECONDS,
      runQueue(row.runner, projectId),
      entry,
      notification,
    ),
  )
  if (createdAt === null) return null
  notification.committed()
  deps.notifier.notify('outbox')
  return createdAt
}

interface InsertedAtOnce {
  accepted: Map<string, Date>
  hasBudget: boolean
  havePermits: boolean
}

/**
 * Inserts prepared subtasks in one round trip: COMMIT is sent with the statements. Of those that need an answer before the COMMIT, it inserts none:
 * where the project has a budget, where a subtask meets a limit, and where one would take the permit of a less urgent one.
 *
 * @returns those that it has inserted, with the time of their creation; and whether all of them have permits
 */
async function insertAtOnce(deps: Deps, projectId: string, prepared: readonly Prepared[]): Promise<InsertedAtOnce> {
  const { sent, notification } = await transaction(deps.db, projectId, async (tx) => {
    const ids = prepared.map(({ row }) => row.id)
    const locked = lanes.lockProjectLanes(
      tx,
      projectId,
      prepared.map(({ row }) => row.agentId),
      lanes.laneDefaults(deps.settings),
    )
    const notification = deps.notifier.withCommit(
      'run',
      prepared.map(({ row }) => runCall(row)),
    )
    const inserted = insertRows(deps, tx, projectId, prepared, { isReserved: false, takesNoPermit: true, notice: notification })
    const sent = pipeline([locked, inserted] as const)
    tx.withCommit(sent)
    const callers = prepared.map((each) => each.ctx)
    // Which of them are accepted is not known yet, only what their answers would be.
    recordWrites(
      tx,
      projectId,
      callers,
      prepared.map(({ row }) => toNewSubtask(row, NOT_YET)),
      ids,
    )
    return { sent, notification }
  })
  const [hasBudget, rows] = await sent
  const all = [...rows.values()]
  if (all.some(({ isLeftToProject }) => isLeftToProject)) grantProjectPermitsSoon(deps, projectId)
  if (all.some(({ hasPermit }) => hasPermit)) notification.committed()
  if (all.length > 0) deps.notifier.notify('outbox')
  return {
    hasBudget,
    accepted: new Map([...rows].map(([id, { createdAt }]) => [id, createdAt])),
    havePermits: all.length === prepared.length && all.every(({ hasPermit }) => hasPermit),
  }
}

function withCreatedEvent({ ctx, row }: Prepared) {
  const { priority, runner, subagentName: name, subagentVersion: version } = row
  return { row, created: subtaskEvent('subtask.created', row, ctx.actor, { priority, runner, ...(name === null ? {} : { subagent: { name, version } }) }) }
}

async function isFull(tx: Tx, projectId: string, agentId: string, defaults: lanes.LaneDefaults): Promise<DomainError> {
  const { limit, limitedBy } = await spawn.findPendingLimit(tx, projectId, agentId, defaults)
  const whose = limitedBy === 'agent' ? `Agent ${agentId}` : 'This project, over all of its agents,'
  const message = `${whose} already has ${limit} pending subtasks, which is its limit. Try again when one has started.`
  return new DomainError('pending_limit_reached', message, { retryAfterSeconds: 1, limit, limited_by: limitedBy, agent_id: agentId })
}

/** More than one at once, because one may be waiting for a lock. */
const BATCHES = { batchesAtOnce: 4, batchSizeMax: 50, prefersLargeBatches: true }
const batches = new WeakMap<RunJobs, Map<string, BatchExecutor<Prepared, Subtask>>>()

/** Concurrent spawns of a project without an `Idempotency-Key` share a transaction. */
function batchExecutorsOf(ctx: Ctx): BatchExecutor<Prepared, Subtask> {
  const ofProcess = batches.get(ctx.runJobs) ?? new Map<string, BatchExecutor<Prepared, Subtask>>()
  batches.set(ctx.runJobs, ofProcess)
  const { projectId } = ctx.actor
  const known = ofProcess.get(projectId)
  if (known !== undefined) return known
  const executor = new BatchExecutor<Prepared, Subtask>(acceptingIn(projectId), BATCHES)
  ofProcess.set(projectId, executor)
  return executor
}

/** How one project accepts batches: at once where that is possible, and what is left with all that a limit or a budget asks for. */
function acceptingIn(projectId: string): (prepared: readonly Prepared[]) => Promise<Outcome<Subtask>[]> {
  // As the last batch found it.
  let hasBudget = false
  let hasRoom = true
  return async (prepared) => {
    const [first] = prepared as [Prepared]
    const { ctx: deps } = first
    const mayBeAtOnce = !hasBudget && prepared.every(({ taskBudget }) => taskBudget === undefined)
    if (mayBeAtOnce && hasRoom && prepared.length === 1) {
      const createdAt = await insertAlone(deps, projectId, first)
      if (createdAt !== null) return [{ answer: toNewSubtask(first.row, createdAt) }]
    }
    const atOnce = mayBeAtOnce ? await insertAtOnce(deps, projectId, prepared) : { accepted: new Map<string, Date>(), hasBudget, havePermits: false }
    hasBudget = atOnce.hasBudget
    hasRoom = atOnce.havePermits
    const left = prepared.filter(({ row }) => !atOnce.accepted.has(row.id))
    const others = new Map<string, Outcome<Subtask>>()
    const insertLeft = async (rows: readonly Prepared[]) => {
      const limited = await transaction(deps.db, projectId, async (tx) => {
        const answer = await insertWithLimits(deps, tx, projectId, rows)
        const callers = rows.map((each) => each.ctx)
        const accepted = answer.spawned.map((each) => ('answer' in each ? each.answer : undefined))
        recordWrites(tx, projectId, callers, accepted)
        return answer
      })
      hasBudget = limited.hasBudget
      return limited.spawned
    }
    // A failure here is one of these alone: the others are accepted.
    const parts = left.length === 0 ? [] : await isolating(left, insertLeft).catch((error: unknown) => [{ items: left, error }])
    for (const part of parts) {
      for (const [place, { row }] of part.items.entries()) others.set(row.id, 'error' in part ? part : (part.answer[place] as Spawned))
    }
    return prepared.map(({ row }) => {
      const createdAt = atOnce.accepted.get(row.id)
      return createdAt === undefined ? (others.get(row.id) as Outcome<Subtask>) : { answer: toNewSubtask(row, createdAt) }
    })
  }
}
