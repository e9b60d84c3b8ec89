import { type LockedTask, outbox, type Tx, taskDependencies, taskRevisions, tasks, type Update } from '@muster/db'
import {
  type BriefDiff,
  type BriefFields,
  changedFields,
  DomainError,
  diffBrief,
  findCycle,
  mergeAllCriteria,
  renderUpdateContent,
  requireController,
  requireFound,
  requireOpenTask,
  requireScope,
  type Sender,
  shownDiff,
  type Task,
  toBriefFields,
  updateTypeOf,
} from '@muster/domain'
import { type Ctx, type Deps, inProject, reading } from '../core/ctx.ts'
import { type ChangeOf, toChange } from '../core/precondition.ts'
import { taskEvent } from '../events/event-data.ts'
import { findBlockers } from './create-task.ts'
import { lockOpenTask } from './finish-task.ts'
import { queueTaskUpdate } from './send-task-update.ts'
import { type ValidatedTask, validateBrief } from './validate-task.ts'

/** The fields of a brief that can be revised. Null removes a field or resets it to its default. */
export type BriefPatch = Omit<BriefFields, 'description' | 'tsgs' | 'parent_session_id' | 'review'>

const CONTEXT_FIELDS = [
  'background_context',
  'expected_deliverables',
  'success_criteria',
  'constraints',
  'relevant_files',
  'related_documentation',
  // Relative files start there.
  'client_cwd',
] as const satisfies (keyof BriefPatch)[]

/** The revision that the change was made from: one of these, `any`, or undefined where the caller named none. */
export type ExpectedRevision = readonly number[] | 'any' | undefined

export interface RevisedTask {
  task: Task
  /** Null if no visible part of the brief changed: priority, budget, metadata and dependencies are not shown in it. */
  update: Update | null
  diff: BriefDiff
}

/**
 * Revises a brief: writes the next revision with its diff and author, and queues the update for the assignee, in one commit. A patch that
 * changes nothing makes no revision. The patched brief is validated as a whole, because one field can give another its meaning. [B5] update_task
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended, `revision_required`, `revision_stale` with the current
 *   revision, `validation_failed`, `dependency_cycle` with the path
 */
export async function reviseTask(ctx: Ctx, id: string, change: ChangeOf<BriefPatch, Task>, expected: ExpectedRevision): Promise<RevisedTask> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  for (;;) {
    const read = requireFound(await reading(ctx, (tx) => tasks.findTask(tx, id)), 'task')
    requireOpenTask(read)
    requireRevision(expected, read.revision)
    const patch = toChange(change, read)
    const validated = await validateBrief(ctx, { ...toBriefFields(read), ...patch })
    const revised = await inProject(
      ctx,
      async (tx) => {
        // Dependencies are locked before the task, as when a task is completed.
        const blockers = patch.depends_on === undefined ? null : await findBlockers(tx, ctx.actor.projectId, validated.cleaned.dependsOn)
        const task = await lockOpenTask(tx, id)
        requireRevision(expected, task.revision)
        // Another revision came in between, and the caller accepts any: the change is validated again with that one.
        if (task.revision !== read.revision) return null
        return await writeRevision(ctx, tx, read, task, patch, validated, blockers)
        // Null changed nothing, so it is not stored as the answer of an idempotency key.
      },
      (result) => result !== null,
    )
    if (revised !== null) return revised
  }
}

/** @throws DomainError `revision_required`, `revision_stale` */
function requireRevision(expected: ExpectedRevision, revision: number): void {
  if (expected === 'any') return
  if (expected === undefined) {
    throw new DomainError('revision_required', `Send If-Match with the revision that you changed. The current one is "${revision}".`, { revision })
  }
  if (!expected.includes(revision)) {
    throw new DomainError('revision_stale', `The brief has changed since; its revision is now ${revision}. Read it again and repeat the change.`, { revision })
  }
}

async function writeRevision(
  ctx: Ctx,
  tx: Tx,
  before: Task,
  locked: LockedTask,
  patch: BriefPatch,
  { cleaned, warnings }: ValidatedTask,
  blockers: string[] | null,
): Promise<RevisedTask> {
  // A context that the patch does not change keeps the time and the warnings of its validation.
  const hasNewContext = CONTEXT_FIELDS.some((field) => patch[field] !== undefined)
  const fields = {
    title: cleaned.title,
    instructions: cleaned.instructions,
    priority: cleaned.priority,
    criteria: mergeAllCriteria(locked.criteria, cleaned.criteria, ctx.newId),
    requiredOutputs: cleaned.requiredOutputs,
    context: hasNewContext ? cleaned.context : locked.context,
    warnings: hasNewContext ? warnings : locked.warnings,
    clientCwd: cleaned.clientCwd,
    budgetMaxTokens: cleaned.budgetMaxTokens,
    budgetMaxCostMicros: cleaned.budgetMaxCostMicros,
    metadata: cleaned.metadata,
  }
  const diff = diffBrief(before, { ...before, ...fields, dependsOn: blockers === null ? before.dependsOn : cleaned.dependsOn.toSorted() })
  if (changedFields(diff).length === 0) return { task: (await tasks.findTask(tx, locked.id)) as Task, update: null, diff }
  if (blockers !== null) await moveDependencies(ctx, tx, locked, cleaned.dependsOn, blockers)
  const revision = await tasks.writeRevisedTask(tx, locked.id, fields)
  const { task, update } = await recordRevision(ctx, tx, { ...locked, ...fields, revision }, diff, ctx.actor)
  return { task, update, diff }
}

/**
 * Records the revision that was just written to a locked task, publishes its event, and queues an update with the new state of the changed
 * fields. A change of priority, budget, metadata or dependencies alone queues none, because the brief does not show them.
 */
export async function recordRevision(deps: Deps, tx: Tx, locked: LockedTask, diff: BriefDiff, actor: Sender): Promise<{ task: Task; update: Update | null }> {
  const { id, projectId, revision } = locked
  const task = (await tasks.findTask(tx, id)) as Task
  const fields = changedFields(diff)
  await taskRevisions.insertRevision(tx, projectId, {
    taskId: id,
    revision,
    fields,
    diff,
    criteria: task.criteria,
    requiredOutputs: task.requiredOutputs,
    author: { kind: actor.kind, id: actor.id },
  })
  await outbox.publish(tx, projectId, [taskEvent('task.revised', task, actor, { fields })])
  const shown = shownDiff(diff)
  const shownFields = changedFields(shown)
  if (shownFields.length === 0) {
    tx.afterCommit(() => deps.notifier.notify('outbox'))
    return { task, update: null }
  }
  const update = await queueTaskUpdate(deps, tx, locked, {
    type: updateTypeOf(shownFields),
    fields: shownFields,
    content: renderUpdateContent(task, shown),
    diff: shown,
    revision,
    actor,
  })
  return { task, update }
}

/**
 * Replaces the dependencies of a locked task, which blocks or unblocks it while it is pending or blocked.
 *
 * @throws DomainError `dependency_cycle` with the path, `invalid_transition` if the task is past pending and a dependency is not completed
 */
async function moveDependencies(ctx: Ctx, tx: Tx, task: LockedTask, dependsOn: string[], blockers: string[]): Promise<void> {
  const cycle = findCycle(
    task.id,
    dependsOn,
    (await taskDependencies.listReachableEdges(tx, dependsOn)).map((edge) => ({ taskId: edge.taskId, dependsOn: edge.dependsOnId })),
  )
  if (cycle !== null) throw new DomainError('dependency_cycle', `The task would wait for itself: ${cycle.join(' → ')}.`, { path: cycle })
  const isWaiting = task.status === 'pending' || task.status === 'blocked'
  if (!isWaiting && blockers.length > 0) {
    throw new DomainError('invalid_transition', `This task is ${task.status}; it can no longer wait for ${blockers.join(', ')}, which are not complete.`, {
      status_now: task.status,
      blocked_by: blockers,
    })
  }
  await taskDependencies.replaceDependencies(tx, task.projectId, task.id, dependsOn)
  const status = blockers.length > 0 ? 'blocked' : 'pending'
  if (!isWaiting || status === task.status) return
  await tasks.writeTransition(tx, task.id, { status })
  const type = status === 'blocked' ? 'task.blocked' : 'task.unblocked'
  await outbox.publish(tx, task.projectId, [taskEvent(type, { ...task, status }, ctx.actor, { blocked_by: blockers })])
}
