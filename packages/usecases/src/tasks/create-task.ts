import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { outbox, type Tx, taskDependencies, taskRevisions, tasks, tsgs } from '@muster/db'
import { type BriefFields, briefRefused, DomainError, type FieldProblem, mergeAllCriteria, requireScope, requireSpawnAllowed, type Task } from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { isDiskFailure } from '../core/failure-report.ts'
import { type Callback, insertCallback } from '../deliveries/insert-callback.ts'
import { taskEvent } from '../events/event-data.ts'
import { unknownTasks, unknownTsgs, type ValidatedTask, validateBrief } from './validate-task.ts'

/**
 * Stores a brief as revision 1. The task is blocked while one of its dependencies is not completed. [B5] create_task, [EN] create_real_task
 *
 * @param problems what the endpoint has found already; the error lists them with the others
 * @param callback where its end is sent to
 * @throws DomainError `validation_failed` with every problem at once, `spawn_blocked` for a sub-agent
 */
export async function createTask(ctx: Ctx, fields: BriefFields, problems: readonly FieldProblem[] = [], callback?: Callback): Promise<Task> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'tasks:write')
  const validated = await validateBrief(ctx, fields, problems)
  const given = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name]) => name)
  const id = ctx.newId()
  const workspace = taskWorkspacePath(ctx, id)
  await makeTaskWorkspace(workspace)
  try {
    return await inProject(ctx, async (tx) => {
      if (callback !== undefined) await insertCallback(ctx, tx, id, callback)
      return await store(ctx, tx, id, workspace, validated, given)
    })
  } catch (error) {
    await removeTaskWorkspace(ctx, workspace)
    throw error
  }
}

async function store(ctx: Ctx, tx: Tx, id: string, workspace: string, { cleaned, warnings }: ValidatedTask, fields: string[]): Promise<Task> {
  const { projectId } = ctx.actor
  const { dependsOn, tsgIds } = cleaned
  const blockedBy = await findBlockers(tx, projectId, dependsOn)
  const guides = await tsgs.lockTsgs(tx, projectId, tsgIds)
  const problems = unknownTsgs(
    tsgIds,
    guides.map((guide) => guide.tsgId),
  )
  if (problems.length > 0) throw briefRefused(problems, warnings)
  const criteria = mergeAllCriteria([], cleaned.criteria, ctx.newId)
  const row = {
    id,
    projectId,
    title: cleaned.title,
    instructions: cleaned.instructions,
    description: cleaned.description,
    status: blockedBy.length === 0 ? ('pending' as const) : ('blocked' as const),
    priority: cleaned.priority,
    criteria,
    requiredOutputs: cleaned.requiredOutputs,
    context: cleaned.context,
    warnings,
    parentSessionId: cleaned.parentSessionId,
    review: cleaned.review,
    clientCwd: cleaned.clientCwd,
    workspace,
    budgetMaxTokens: cleaned.budgetMaxTokens,
    budgetMaxCostMicros: cleaned.budgetMaxCostMicros,
    metadata: cleaned.metadata,
  }
  await tasks.insertTask(tx, row)
  await taskRevisions.insertRevision(tx, projectId, {
    taskId: id,
    revision: 1,
    fields,
    diff: null,
    criteria,
    requiredOutputs: cleaned.requiredOutputs,
    author: { kind: ctx.actor.kind, id: ctx.actor.id },
  })
  for (const tsgId of tsgIds) await tsgs.linkTsg(tx, projectId, id, tsgId)
  if (dependsOn.length > 0) await taskDependencies.replaceDependencies(tx, projectId, id, dependsOn)
  const subject = { ...row, revision: 1 }
  await outbox.publish(tx, projectId, [
    taskEvent('task.created', subject, ctx.actor, { priority: row.priority }),
    ...(blockedBy.length === 0 ? [] : [taskEvent('task.blocked', subject, ctx.actor, { blocked_by: blockedBy })]),
  ])
  tx.afterCommit(() => ctx.notifier.notify('outbox'))
  return (await tasks.findTask(tx, id)) as Task
}

/**
 * Which of these tasks are not completed. The lock keeps all of them from being completed until the commit.
 *
 * @throws DomainError `validation_failed` naming those that do not exist
 */
export async function findBlockers(tx: Tx, projectId: string, dependsOn: readonly string[]): Promise<string[]> {
  if (dependsOn.length === 0) return []
  await taskDependencies.lockDependencies(tx, projectId, 'edit')
  const found = await taskDependencies.findStatuses(tx, dependsOn)
  const problems = unknownTasks(
    dependsOn,
    found.map((each) => each.taskId),
  )
  if (problems.length > 0) throw briefRefused(problems, [])
  return found.filter((each) => each.status !== 'completed').map((each) => each.taskId)
}

/** A task's own folder, which lasts as long as the task: its dispatched subtasks find there what earlier ones have left. */
export function taskWorkspacePath({ settings }: Pick<Deps, 'settings'>, taskId: string): string {
  return resolve(join(settings.DATA_DIR, 'tasks', taskId))
}

/**
 * Makes it. On another machine than the one that runs the task, that one makes it anew.
 *
 * @throws DomainError `unavailable` while the disk is full
 */
async function makeTaskWorkspace(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    if (!isDiskFailure(error)) throw error
    throw new DomainError('unavailable', 'The server cannot make the folder of the task: the disk of its DATA_DIR is full or fails. Try again shortly.')
  })
}

/** Removes the folder of a task that did not come about. */
async function removeTaskWorkspace(deps: Pick<Deps, 'log'>, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error) => deps.log.warn({ err: error, path }, 'could not remove a workspace'))
}
