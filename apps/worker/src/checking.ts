import { readdir } from 'node:fs/promises'
import { type Loop, startLoop } from '@muster/jobs'
import { type CheckMeans, claimChecks, type Deps, findClientFolder, type HeldCheck, holdChecks, runCheck, taskWorkspacePath } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'
import type { RestoreWatch } from './restore-watch.ts'

/** Finds checks that come due without a notification, such as those of a lost worker. */
const TAKE_EVERY_MS = 2_000
/** Several of these fit into a lease. */
const HOLD_EVERY_MS = 4_000

export interface Checking {
  wake(): void
  /** Stops the checks that run, and gives them back. */
  stop(): Promise<void>
}

type CheckingDeps = Deps & Pick<WorkerDeps, 'workerId' | 'place' | 'checker'>

/** Executes checks of tasks, a few at once. A worker without programs leaves them to other workers. */
export function startChecking(deps: CheckingDeps, onError: (what: string) => (error: unknown) => void, restores: Pick<RestoreWatch, 'isHeldNow'>): Checking {
  const { checker, workerId, place, settings, log } = deps
  if (checker === null) return { wake: () => undefined, stop: async () => undefined }
  const means: CheckMeans = { checker, findFolder: (task, isKnown) => findFolder(deps, task, isKnown) }
  const held = new Map<HeldCheck, { stopping: AbortController; ended: Promise<void> }>()
  let isStopping = false

  const work = async (check: HeldCheck, signal: AbortSignal) => {
    try {
      const end = await runCheck(deps, means, check, signal)
      log.info({ check_run_id: check.id, task_id: check.taskId, check: check.checkName, end }, 'check ended')
    } catch (error) {
      // Its lease is no longer renewed: after a while it is taken again.
      onError('execute a check')(error)
    } finally {
      held.delete(check)
      takeLoop.wake()
    }
  }
  const take = async () => {
    const free = settings.CHECK_CONCURRENCY - held.size
    if (free <= 0 || isStopping || (await restores.isHeldNow())) return
    for (const check of await claimChecks(deps, { workerId, place }, free)) {
      const stopping = new AbortController()
      held.set(check, { stopping, ended: work(check, stopping.signal) })
    }
  }
  const hold = async () => {
    for (const lost of await holdChecks(deps, [...held.keys()])) held.get(lost)?.stopping.abort()
  }
  const takeLoop: Loop = startLoop(async () => void (await take()), { everyMs: TAKE_EVERY_MS, onError: onError('take checks') })
  const holdLoop = startLoop(async () => void (await hold()), { everyMs: HOLD_EVERY_MS, onError: onError('hold checks') })

  return {
    wake: () => takeLoop.wake(),
    async stop() {
      isStopping = true
      await takeLoop.stop()
      for (const { stopping } of held.values()) stopping.abort()
      await Promise.all([...held.values()].map(({ ended }) => ended))
      await holdLoop.stop()
    },
  }
}

/** Where the dispatched runs of a task work, if this worker has it. */
export async function findFolder(deps: Deps, task: { id: string; clientCwd: string | null }, isKnown: boolean): Promise<string | null> {
  const clientFolder = task.clientCwd === null ? null : await findClientFolder(deps, task.clientCwd)
  if (clientFolder !== null) return clientFolder
  const path = taskWorkspacePath(deps, task.id)
  const names = await readdir(path).catch(() => null)
  return names === null || (names.length === 0 && !isKnown) ? null : path
}
