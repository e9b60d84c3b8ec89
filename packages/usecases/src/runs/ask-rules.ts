import { checkpoints, projects, transaction } from '@muster/db'
import type { Deps } from '../core/ctx.ts'
import { TIMEOUT_GRACE_SECONDS } from './claim-runs.ts'

/** The rules of a project about uses of tools that ask. */
export async function listAskRules(deps: Pick<Deps, 'db'>, projectId: string): Promise<string[]> {
  return await transaction(deps.db, projectId, async (tx) => (await projects.findProject(tx, projectId))?.settings.ask ?? [])
}

/** Gives a running attempt back the time in which it waited for an answer. Does nothing if the attempt is no longer the current one. */
export async function postponeTimeout(
  deps: Pick<Deps, 'db'>,
  { projectId, subtaskId, attempt }: { projectId: string; subtaskId: string; attempt: number },
  ms: number,
): Promise<void> {
  await transaction(deps.db, projectId, (tx) => checkpoints.postponeTimeout(tx, { subtaskId, attempt }, { ms, timeoutGraceSeconds: TIMEOUT_GRACE_SECONDS }))
}
