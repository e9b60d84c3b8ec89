import { type Loop, startLoop } from '@muster/jobs'
import { MAINTENANCE, type MaintenanceTask } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'
import { removeOldWorkspaces } from './workspaces.ts'

/** What every process maintains, and the workspaces of this machine. */
export function startMaintenance(deps: WorkerDeps, onError: (what: string) => (error: unknown) => void): Loop[] {
  const workspaces: MaintenanceTask = { what: 'remove old workspaces', everyMs: 600_000, run: () => removeOldWorkspaces(deps) }
  return [...MAINTENANCE, workspaces].map(({ what, everyMs, run }) => startLoop(async () => void (await run(deps)), { everyMs, onError: onError(what) }))
}
