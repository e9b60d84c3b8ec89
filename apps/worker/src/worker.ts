import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { ensureRunQueues, type Loop, runQueue, startLoop } from '@muster/jobs'
import { claimRuns, createFailureReport, listHeldRuns, lookAtRuns, MAINTENANCE, RELAY, type RunSignal, relayOutbox, renewLeases } from '@muster/usecases'
import { ActiveRun } from './active-run.ts'
import type { WorkerDeps } from './deps.ts'
import { startJudging } from './judging.ts'
import { COULD_NOT_SIGN_OFF, startPresence } from './presence.ts'
import { startScheduler } from './scheduler.ts'
import { Settler } from './settler.ts'
import { hasDiskRoom, removeOldWorkspaces } from './workspaces.ts'

const CLAIM_EVERY_MS = 500
/** A cancel whose bell was lost is noticed within a second. */
const LOOK_EVERY_MS = 900
/** While more waits than there are places, places that come free close together are filled together. */
const COLLECT_CAPACITY_MS = 2
/** After a run had to be given back since the disk was full, nothing is claimed for this long, and then only once there is room. */
const DISK_PAUSE_MS = 5_000
const WORKSPACES_EVERY_MS = 600_000

export interface Worker {
  /** Takes no new work, releases its runs, ends, and closes its dependencies. */
  stop(): Promise<void>
}

/**
 * Starts claiming and running subtasks. Resolves once this worker is listening and registered. It closes its dependencies when it stops, and when it
 * cannot start.
 */
export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const { settings, log } = deps
  await using started = new AsyncDisposableStack()
  started.defer(() => deps.close())
  const active = new Map<string, ActiveRun>()
  const ending = new Set<Promise<void>>()
  const giveUp = new AbortController()
  const settler = new Settler(deps, giveUp.signal)
  const queues = [...deps.runners.keys()].map((runner) => runQueue(runner, DEFAULT_PROJECT_ID))
  let stopping = false

  const report = createFailureReport(log)
  const onError = report.failed

  const run = (claimed: Parameters<typeof launch>[0]) => {
    const ended = launch(claimed)
    ending.add(ended)
    void ended.finally(() => ending.delete(ended))
  }
  const launch = async (claimed: Awaited<ReturnType<typeof claimRuns>>[number]) => {
    const runner = deps.runners.get(claimed.runner)
    if (runner === undefined) {
      await settler.settle(claimed.projectId, { subtaskId: claimed.id, attempt: claimed.attempt, taskId: claimed.taskId, end: { kind: 'released' } })
      return
    }
    const activeRun = new ActiveRun(deps, claimed, runner, () => {
      diskPauseUntilMs = performance.now() + DISK_PAUSE_MS
    })
    // A worker that slept beyond its lease may claim what it still runs: the older attempt is not its own any more.
    active.get(claimed.id)?.stop('lease_lost')
    active.set(claimed.id, activeRun)
    try {
      await activeRun.complete(settler)
    } finally {
      if (active.get(claimed.id) === activeRun) active.delete(claimed.id)
      fillCapacity()
    }
  }

  // Claimed at once again, what was given back would only be given back again.
  let diskPauseUntilMs: number | null = null
  const mayUseDisk = async () => {
    if (diskPauseUntilMs === null) return true
    if (performance.now() < diskPauseUntilMs || !(await hasDiskRoom(deps))) return false
    diskPauseUntilMs = null
    log.info({}, 'the disk of this worker has room again')
    return true
  }

  // A free place alone is no reason to ask: only after a claim that took all it could may there be more. What comes later rings.
  let moreMayWait = false
  let isFilling = false
  const fillCapacity = () => {
    if (!moreMayWait || isFilling) return
    isFilling = true
    setTimeout(() => {
      isFilling = false
      claimLoop.wake()
    }, COLLECT_CAPACITY_MS)
  }

  // A claim may have been committed although its answer was lost: such runs are given back, or they would wait for their lease to lapse.
  let mayHoldMore = false
  const giveBackUnknown = async () => {
    const held = await listHeldRuns(deps, deps.workerId)
    const unknown = held.filter((ref) => active.get(ref.subtaskId)?.attempt !== ref.attempt)
    await Promise.all(unknown.map(({ projectId, ...ref }) => settler.settle(projectId, { ...ref, end: { kind: 'released' } })))
  }

  const claim = async () => {
    const free = settings.SUBTASK_WORKERS - ending.size
    // In thirds, so that with much to do one is claimed while another runs and a third is stored.
    const limit = Math.min(free, Math.ceil(settings.SUBTASK_WORKERS / 3))
    if (stopping || queues.length === 0 || !(await mayUseDisk())) return undefined
    if (limit <= 0) {
      moreMayWait = true
      return undefined
    }
    // Every runner gets its turn at being asked first.
    queues.push(queues.shift() as string)
    const claimedAtMs = performance.now()
    if (mayHoldMore) await giveBackUnknown()
    mayHoldMore = true
    const runs = await claimRuns(deps, { workerId: deps.workerId, queues, limit, leaseSeconds: settings.SUBTASK_LEASE_SECONDS, withLeaseToken: false })
    mayHoldMore = false
    moreMayWait = runs.length === limit
    for (const claimed of runs) run(claimed)
    // What runs is in nobody's queue any more.
    if (runs.length > 0) scheduler.hearOfRoom()
    if (moreMayWait && limit < free) claimLoop.wake()
    if (runs.length > 0) log.debug({ count: runs.length, took_ms: Math.round(performance.now() - claimedAtMs) }, 'claimed')
    return undefined
  }

  const tell = (runs: readonly ActiveRun[], signals: readonly RunSignal[]) => {
    const byId = new Map(signals.map((item) => [item.subtaskId, item]))
    for (const activeRun of runs) activeRun.applySignal(byId.get(activeRun.subtaskId) ?? null)
  }
  const look = async (runs: readonly ActiveRun[]) => tell(runs, await lookAtRuns(deps, runs))

  let renewedAtMs = performance.now()
  const watch = async () => {
    const runs = [...active.values()]
    if (runs.length === 0) return undefined
    const isDue = performance.now() - renewedAtMs > (settings.SUBTASK_LEASE_SECONDS * 1_000) / 3
    if (isDue) {
      tell(runs, await renewLeases(deps, runs))
      renewedAtMs = performance.now()
    } else await look(runs)
    return undefined
  }

  // First what may fail: when the database is away again by now, nothing has been started that would have to be ended.
  await deps.boss.start()
  await ensureRunQueues(deps.boss, DEFAULT_PROJECT_ID, [...deps.runners.keys()])
  const notifiers = { run: () => {}, outbox: () => {}, schedule: () => {}, judge: () => {} }
  const silences = await Promise.all([
    deps.notifier.listen('run', () => notifiers.run()),
    deps.notifier.listen('outbox', () => notifiers.outbox()),
    deps.notifier.listen('schedule', () => notifiers.schedule()),
    deps.notifier.listen('judge', () => notifiers.judge()),
    deps.notifier.listen('cancel', (subtaskIds) => {
      // Without ids the connection was lost for a while, and any of them may have been missed.
      const named = subtaskIds.length === 0 ? [...active.values()] : subtaskIds.flatMap((id) => active.get(id) ?? [])
      if (named.length > 0) look(named).catch(onError('look at a subtask that has news'))
    }),
  ])
  started.defer(async () => void (await Promise.allSettled(silences.map((silence) => silence()))))
  const presence = await startPresence(deps)
  started.defer(() => presence.stop().catch((error: unknown) => log.warn({ err: error, worker_id: deps.workerId }, COULD_NOT_SIGN_OFF)))
  const scheduler = startScheduler(deps, onError('fire schedules'))
  const judging = startJudging(deps, onError)
  const claimLoop = startLoop(claim, { everyMs: CLAIM_EVERY_MS, onError: onError('claim subtasks') })
  const watchLoop = startLoop(watch, { everyMs: LOOK_EVERY_MS, onError: onError('look after running subtasks') })
  const relayLoop = startLoop(() => report.watch(relayOutbox(deps)), { ...RELAY, onError: onError('relay events') })
  const maintenance: Loop[] = [...MAINTENANCE, { what: 'sweep workspaces', everyMs: WORKSPACES_EVERY_MS, run: () => removeOldWorkspaces(deps) }].map(
    ({ what, everyMs, run: sweep }) => startLoop(async () => void (await sweep(deps)), { everyMs, onError: onError(what) }),
  )
  notifiers.run = () => claimLoop.wake()
  notifiers.outbox = () => relayLoop.wake()
  notifiers.schedule = () => scheduler.wake()
  notifiers.judge = () => judging.wake()

  started.defer(async () => {
    stopping = true
    await Promise.all([claimLoop.stop(), scheduler.stop()])
    log.info({ runs: active.size }, 'releasing runs')
    // Most of the grace is the runs' own; what is not stored by then is left to the reaper.
    const timer = setTimeout(() => giveUp.abort(), settings.SHUTDOWN_GRACE_SECONDS * 800)
    for (const activeRun of active.values()) activeRun.stop('released')
    await Promise.allSettled([...ending, judging.stop()])
    clearTimeout(timer)
    await Promise.all([watchLoop, relayLoop, ...maintenance].map((loop) => loop.stop()))
    await relayOutbox(deps).catch(onError('relay the last events'))
  })
  const running = started.move()
  return { stop: () => running.disposeAsync() }
}
