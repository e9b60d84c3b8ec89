import { lanes, projects, transaction } from '@muster/db'
import {
  capLimits,
  DomainError,
  limitCeilings,
  limitsAboveCeilings,
  notFound,
  type Project,
  type ProjectSettings,
  requireFound,
  requireScope,
} from '@muster/domain'
import { type Ctx, type Deps, inProject, reading, recordWrites } from '../core/ctx.ts'
import { type ChangeOf, type Precondition, toChange } from '../core/precondition.ts'
import { grantFreePermits } from '../subtasks/grant-permits.ts'
import { applyChannels, withoutSecrets } from './channels.ts'

/** Limits are shown as they count, no more than the operator's ceilings. @throws DomainError `not_found`, also for projects of others */
export async function getProject(ctx: Ctx, id: string): Promise<Project> {
  requireScope(ctx.actor, 'admin')
  return capped(ctx, requireFound(await reading(ctx, (tx) => projects.findProject(tx, id)), 'project'))
}

function capped({ settings }: Deps, project: Project): Project {
  return { ...project, settings: capLimits(project.settings, limitCeilings(settings)) }
}

/**
 * Changes a project; `settings`, where given, replace the old ones. A change that names nothing is no write: it takes no lock, and is not in the audit log.
 *
 * @throws DomainError `not_found`, and `validation_failed` for limits above the operator's ceilings
 */
export async function updateProject(
  ctx: Ctx,
  id: string,
  change: ChangeOf<{ name?: string | undefined; settings?: ProjectSettings | undefined }, Project>,
  precondition?: Precondition<Project>,
): Promise<Project> {
  const shown = await getProject(ctx, id)
  precondition?.(shown)
  const asked = toChange(change, shown)
  if (asked.name === undefined && asked.settings === undefined) return shown
  // Made of what is shown, only limits that the change names can be above the ceilings.
  if (asked.settings !== undefined) requireBelowCeilings(ctx, asked.settings)
  const project = await inProject(ctx, async (tx) => {
    const stored = requireFound(await projects.lockProject(tx, id), 'project')
    precondition?.(capped(ctx, stored))
    const { name, settings } = toChange(change, stored)
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
  return capped(ctx, project)
}

function requireBelowCeilings(deps: Deps, settings: ProjectSettings): void {
  const errors = limitsAboveCeilings(settings, limitCeilings(deps.settings))
  const [first] = errors
  if (first !== undefined) throw new DomainError('validation_failed', `${first.field} ${first.reason}.`, { errors })
}

/** Creates a project. The caller creates its queues (`ensureRunQueues`) before the first subtask. For operators: no endpoint calls it. */
export async function createProject(ctx: Deps & Partial<Pick<Ctx, 'actor' | 'origin'>>, name: string): Promise<Project> {
  const id = ctx.newId()
  return await transaction(ctx.db, id, async (tx) => {
    const project = await projects.insertProject(tx, id, name)
    if (ctx.actor !== undefined) recordWrites(tx, id, [{ actor: ctx.actor, ...(ctx.origin !== undefined && { origin: ctx.origin }) }], [project])
    return project
  })
}
