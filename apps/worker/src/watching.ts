import { startLoop } from '@muster/jobs'
import { lookAtRuns, type RunSignal, renewLeases } from '@muster/usecases'
import type { ActiveRun } from './active-run.ts'
import type { ActiveRuns } from './active-runs.ts'
import type { WorkerDeps } from './deps.ts'

/** A cancel whose notification was lost is noticed within a second. */
const LOOK_EVERY_MS = 900

export interface Watching {
  /** Looks at these subtasks now; at all when none is named, because the connection was lost for a while and any may have been missed. */
  wake(subtaskIds: string[]): void
  stop(): Promise<void>
}

/** Renews the leases of the runs, and brings them cancels and updates. */
export function startWatching(deps: WorkerDeps, runs: ActiveRuns, onError: (what: string) => (error: unknown) => void): Watching {
  let renewedAtMs = performance.now()
  const apply = (watched: readonly ActiveRun[], signals: readonly RunSignal[]) => {
    const byId = new Map(signals.map((signal) => [signal.subtaskId, signal]))
    for (const run of watched) run.applySignal(byId.get(run.subtaskId) ?? null)
  }
  const look = async (watched: readonly ActiveRun[]) => apply(watched, await lookAtRuns(deps, watched))
  const watch = async () => {
    const watched = runs.all()
    if (watched.length === 0) return undefined
    for (const run of watched) {
      run.lookForSilence(performance.now()).catch(onError('look after silent runs'))
      run.lookAtFolder(performance.now()).catch(onError('measure the folders of runs'))
    }
    const isDue = performance.now() - renewedAtMs > (deps.settings.SUBTASK_LEASE_SECONDS * 1_000) / 3
    if (isDue) {
      apply(watched, await renewLeases(deps, watched))
      renewedAtMs = performance.now()
    } else await look(watched)
    return undefined
  }

  const loop = startLoop(watch, { everyMs: LOOK_EVERY_MS, onError: onError('look after running subtasks') })
  return {
    wake(subtaskIds) {
      const named = subtaskIds.length === 0 ? runs.all() : runs.find(subtaskIds)
      if (named.length > 0) look(named).catch(onError('look at subtasks that have changed'))
    },
    stop: () => loop.stop(),
  }
}
