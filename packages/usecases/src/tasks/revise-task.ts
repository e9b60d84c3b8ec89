import { type LockedTask, outbox, type Tx, taskDependencies, taskRevisions, tasks, type Update } from '@muster/db'
import {
  type BriefDiff,
  type BriefFields,
  changedFields,
  DomainError,
  diffBrief,
  findCycle,
  mergeAllCriteria,
  notFound,
  renderUpdateContent,
  requireController,
  requireOpenTask,
  requireScope,
  type Sender,
  shownDiff,
  type Task,
  toBriefFields,
  updateTypeOf,
} from '@muster/domain'
import { type Ctx, type Deps, reading } from '../core/ctx.ts'
import { inProject } from '../core/in-project.ts'
import { taskEvent } from '../events/event-data.ts'
import { findBlockers } from './create-task.ts'
import { queueTaskUpdate } from './send-task-update.ts'
import { type ValidatedTask, validateBrief } from './validate-task.ts'

/** The fields of a brief that can be changed later. A field that is null is taken away, or back to its default. */
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

/** Which revision a change was made from: one of these, whatever is there, or nothing was said. */
export type ExpectedRevision = readonly number[] | 'any' | undefined

export interface RevisedTask {
  task: Task
  /** Null where nothing changed that the brief shows its holder: priority, metadata and dependencies are not among it. */
  update: Update | null
  diff: BriefDiff
}

/**
 * Changes a brief: the next revision, with what changed and by whom, and the update that tells its holder, in one commit. A change that
 * changes nothing makes no revision. [B5] update_task
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended, `revision_required`, `revision_stale` with the current
 *   revision, `validation_failed`, `dependency_cycle` with the path
 */
export async function reviseTask(ctx: Ctx, id: string, patch: BriefPatch, expected: ExpectedRevision): Promise<RevisedTask> {
  requireScope(ctx.actor, 'tasks:write')
  requireController(ctx.actor)
  for (;;) {
    const read = await reading(ctx, (tx) => tasks.findTask(tx, id))
    if (read === null) throw notFound('task')
    requireOpenTask(read)
    requireRevision(expected, read.revision)
    const validated = await validateBrief(ctx, { ...toBriefFields(read), ...patch })
    const revised = await inProject(
      ctx,
      async (tx) => {
        // Before the task: whoever completes one locks in this order too.
        const blockers = patch.depends_on === undefined ? null : await findBlockers(tx, ctx.actor.projectId, validated.cleaned.dependsOn)
        const task = await tasks.lockTask(tx, id)
        if (task === null) throw notFound('task')
        requireOpenTask(task)
        requireRevision(expected, task.revision)
        // Another revision came in between, and the caller accepts any: the change is validated again with that one.
        if (task.revision !== read.revision) return null
        return await writeRevision(ctx, tx, read, task, patch, validated, blockers)
        // Nothing was done, so nothing is to be repeated by key.
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
    throw new DomainError('revision_required', `Send If-Match with the revision that you changed: it is now "${revision}".`, { revision })
  }
  if (!expected.includes(revision)) {
    throw new DomainError('revision_stale', `The brief has changed since; its revision is now ${revision}. Read it again, and change that.`, { revision })
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
  // A context that was not touched keeps the time and the warnings of its validation.
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
 * Records the revision that was just written to a locked task, announces it, and queues an update for the holder: the new state of what
 * changed. A change of priority, metadata or dependencies alone queues none, because the brief does not show them.
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
 * Makes a locked task wait for others. It is blocked or set free by that as long as nobody has been given it.
 *
 * @throws DomainError `dependency_cycle` with the path, `invalid_transition` for a task that somebody is at
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
