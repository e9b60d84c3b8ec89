import { DEFAULT_PROJECT_ID, FairShares } from '@muster/domain'
import { readRunCall, runQueue, startLoop } from '@muster/jobs'
import { claimRuns } from '@muster/usecases'
import type { ActiveRuns } from './active-runs.ts'
import type { WorkerDeps } from './deps.ts'
import type { Peers } from './peers.ts'
import type { RestoreWatch } from './restore-watch.ts'
import { DiskPause } from './workspaces.ts'

const CLAIM_EVERY_MS = 1_000
/** While more subtasks wait than this worker has capacity for, capacity that comes free within this time is filled by one claim. */
const COLLECT_CAPACITY_MS = 2
/** A call this long after the last claim that found something is taken for a lone one, and only its subtask is claimed. */
const LONE_AFTER_MS = 20

export interface ClaimingOptions {
  peers: Peers
  restores: Pick<RestoreWatch, 'isHeld' | 'reached'>
  /** Subtasks have left their queue. */
  onClaimed: () => void
  onError: (error: unknown) => void
}

export interface Claiming {
  /** Claims now, if one of these `runCall`s calls this worker, or if there is none: then all workers are called. */
  wake(payloads?: readonly string[]): void
  stop(): Promise<void>
}

/** Claims subtasks as far as the capacity of this worker goes, and starts them. */
export function startClaiming(deps: WorkerDeps, runs: ActiveRuns, { peers, restores, onClaimed, onError }: ClaimingOptions): Claiming {
  const { settings, workerId, log, notifier } = deps
  const queues = [...deps.runners.keys()].map((runner) => runQueue(runner, DEFAULT_PROJECT_ID))
  const disk = new DiskPause(deps)
  const shares = new FairShares(settings.PROJECT_WEIGHTS)
  let isFilling = false
  // Free capacity alone is no reason to claim: more may wait only after a claim that took all it could. What comes later sends a notification.
  let moreMayWait = false
  // A claim may have been committed although its answer was lost.
  let mayHoldMore = false
  /** The subtasks that have called this worker and were not claimed yet, with their queues. */
  const calls = new Map<string, string>()
  /** All workers were called, or this one has just begun to listen: it is not known what waits. */
  let wereAllCalled = true
  let lookedAtMs = Number.NEGATIVE_INFINITY
  /** When the last claim that found something has ended. */
  let foundAtMs = Number.NEGATIVE_INFINITY
  /** Its own call of all workers reaches this one at once. */
  let isPassingOn = false
  let isStopped = false

  /** Subtasks for which this worker has no capacity, or no runner, call all others. Where another worker has come already, that costs each a look. */
  const passOn = (subtaskIds: Iterable<string>) => {
    const left = [...subtaskIds].filter((id) => calls.delete(id))
    if (left.length === 0 || !peers.areThere) return
    isPassingOn = true
    notifier.notify('run')
    isPassingOn = false
  }

  /**
   * Whether whatever waits is claimed, and not only what has called. So it is while calls follow each other closely: the claim then takes those whose calls
   * are still on their way. And once a second, because a call can be lost.
   */
  const isLookDue = (limit: number, nowMs: number) =>
    moreMayWait ||
    mayHoldMore ||
    wereAllCalled ||
    calls.size === 0 ||
    calls.size > limit ||
    nowMs - foundAtMs < LONE_AFTER_MS ||
    nowMs - lookedAtMs >= CLAIM_EVERY_MS

  /** As far as this worker has the runners. */
  const byQueue = (subtaskIds: readonly string[]) => {
    const ids = Map.groupBy(subtaskIds, (id) => calls.get(id) ?? '')
    return new Map(queues.flatMap((queue) => (ids.has(queue) ? [[queue, ids.get(queue) ?? []]] : [])))
  }

  const fillCapacity = () => {
    if (!moreMayWait || isFilling) return
    isFilling = true
    setTimeout(() => {
      isFilling = false
      loop.wake()
    }, COLLECT_CAPACITY_MS)
  }

  const claim = async () => {
    const free = settings.SUBTASK_WORKERS - runs.inUse
    // In thirds: under load, one third is claimed while another runs and the last is stored.
    const limit = Math.min(free, Math.ceil(settings.SUBTASK_WORKERS / 3))
    const isPaused = restores.isHeld || queues.length === 0 || !(await disk.isOver())
    if (isPaused || limit <= 0) {
      passOn(calls.keys())
      if (!isPaused) moreMayWait = true
      return false
    }
    const claimedAtMs = performance.now()
    const isLook = isLookDue(limit, claimedAtMs)
    const called = [...calls.keys()]
    // One of many workers that were all called seldom finds anything; a lone worker with one queue does.
    const looksFirst = !moreMayWait && calls.size === 0 && (peers.areThere || queues.length > 1 || !wereAllCalled)
    if (isLook) {
      wereAllCalled = false
      lookedAtMs = claimedAtMs
      // Each runner's queue is asked first in turn.
      queues.push(queues.shift() as string)
    }
    if (mayHoldMore) await runs.releaseUnknown()
    mayHoldMore = true
    const claimed = await claimRuns(deps, {
      workerId,
      queues,
      limit,
      ...(isLook ? { looksFirst } : { subtaskIds: byQueue(called) }),
      leaseSeconds: settings.SUBTASK_LEASE_SECONDS,
      withLeaseToken: false,
      shares,
      reached: restores.reached,
    })
    mayHoldMore = false
    for (const { id } of claimed) calls.delete(id)
    if (isLook) moreMayWait = claimed.length === limit
    if (!moreMayWait || limit === free) passOn(called)
    for (const run of claimed) runs.start(run, { onEnd: fillCapacity, onDiskFailure: () => disk.begin() })
    if (claimed.length > 0) {
      foundAtMs = performance.now()
      onClaimed()
      log.debug({ count: claimed.length, took_ms: Math.round(performance.now() - claimedAtMs) }, 'claimed')
    }
    return moreMayWait && limit < free
  }

  const loop = startLoop(claim, { everyMs: CLAIM_EVERY_MS, onError })
  return {
    wake(payloads = []) {
      if (isPassingOn) return
      const called = payloads.flatMap((payload) => readRunCall(payload) ?? []).filter(({ subtaskId }) => peers.isCalledBy(subtaskId))
      if (payloads.length === 0) wereAllCalled = true
      else if (called.length === 0) return
      for (const { subtaskId, queue } of called) calls.set(subtaskId, queue)
      if (isStopped) passOn(calls.keys())
      else loop.wake()
    },
    async stop() {
      isStopped = true
      await loop.stop()
      passOn(calls.keys())
    },
  }
}
