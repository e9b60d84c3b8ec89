import { lanes, projects, transaction } from '@muster/db'
import { notFound, type Project, type ProjectSettings, requireFound, requireScope } from '@muster/domain'
import { type Ctx, type Deps, inProject, reading } from '../core/ctx.ts'
import { grantFreePermits } from '../subtasks/grant-permits.ts'
import { applyChannels, withoutSecrets } from './channels.ts'

/** @throws DomainError `not_found`, also for projects of others */
export async function getProject(ctx: Ctx, id: string): Promise<Project> {
  requireScope(ctx.actor, 'admin')
  return requireFound(await reading(ctx, (tx) => projects.findProject(tx, id)), 'project')
}

/** Changes a project; `settings`, where given, replace the old ones. @throws DomainError `not_found` */
export async function updateProject(ctx: Ctx, id: string, change: { name?: string | undefined; settings?: ProjectSettings | undefined }): Promise<Project> {
  requireScope(ctx.actor, 'admin')
  const { name, settings } = change
  if (name === undefined && settings === undefined) return await getProject(ctx, id)
  const project = await inProject(ctx, async (tx) => {
    const changed = await projects.changeProject(tx, id, {
      ...(name === undefined ? {} : { name }),
      ...(settings === undefined ? {} : { settings: withoutSecrets(settings) }),
    })
    if (changed === null || settings === undefined) return changed
    await applyChannels(ctx, tx, id, settings)
    // A raised limit frees permits although no subtask has ended, and nothing else would grant them to waiting subtasks.
    const agentIds = await lanes.findWaitingLanes(tx, id)
    if (agentIds.length > 0) await grantFreePermits(ctx, tx, id, agentIds)
    return changed
  })
  if (project === null) throw notFound('project')
  return project
}

/** Creates a project. The caller creates its queues (`ensureRunQueues`) before the first subtask. For operators: no endpoint calls it. */
export async function createProject(deps: Deps, name: string): Promise<Project> {
  const id = deps.newId()
  return await transaction(deps.db, id, (tx) => projects.insertProject(tx, id, name))
}
