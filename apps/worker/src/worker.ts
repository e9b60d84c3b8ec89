import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { ensureRunQueues, type Loop } from '@muster/jobs'
import {
  announceRetention,
  attemptFolders,
  createFailureReport,
  MAINTENANCE,
  type MaintenanceTask,
  machineNowMs,
  type Relay,
  relayOutbox,
  startMaintenance,
  startRelay,
  sweepTask,
  taskFolders,
} from '@muster/usecases'
import { ActiveRuns } from './active-runs.ts'
import { type Chatting, startChatting } from './chatting.ts'
import { type Checking, startChecking } from './checking.ts'
import { type Claiming, startClaiming } from './claiming.ts'
import { type Delivering, startDelivering } from './delivering.ts'
import type { WorkerDeps } from './deps.ts'
import { Draining } from './draining.ts'
import { type Judging, startJudging } from './judging.ts'
import { Peers } from './peers.ts'
import { COULD_NOT_SIGN_OFF, startPresence } from './presence.ts'
import { BEAT_EVERY_MS, RestoreWatch } from './restore-watch.ts'
import { type Scheduler, startScheduler } from './scheduler.ts'
import { Settler } from './settler.ts'
import { startWatching, type Watching } from './watching.ts'

export interface Worker {
  /** Takes no new work, releases its runs, ends, and closes its dependencies. */
  stop(): Promise<void>
}

interface Loops {
  claiming: Claiming
  watching: Watching
  relay: Relay
  scheduler: Scheduler
  judging: Judging
  checking: Checking
  delivering: Delivering
  chatting: Chatting
  maintenance: Loop[]
}

/** Which loop a notification wakes. */
const WOKEN_BY = {
  run: 'claiming',
  cancel: 'watching',
  outbox: 'relay',
  schedule: 'scheduler',
  judge: 'judging',
  check: 'checking',
  deliver: 'delivering',
} as const
/** How much of the grace the runs get. What is not stored by then is left to the reaper. */
const GRACE_OF_RUNS = 0.8

/**
 * Starts claiming and running subtasks. Resolves once this worker is listening and registered. It closes its dependencies when it stops, and when it
 * cannot start.
 */
export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const { log, notifier } = deps
  announceRetention(deps)
  await using started = new AsyncDisposableStack()
  started.defer(() => deps.close())
  // First what may fail: if the database goes away again by now, no loop has been started that would have to be stopped.
  await deps.boss.start()
  await ensureRunQueues(deps.boss, DEFAULT_PROJECT_ID, [...deps.runners.keys()])
  const restores = new RestoreWatch(deps)
  await restores.look()
  let loops: Loops | undefined
  const channels = Object.keys(WOKEN_BY) as (keyof typeof WOKEN_BY)[]
  const listening = await Promise.all([
    notifier.listen('followed', () => loops?.relay.followed()),
    ...channels.map((channel) => notifier.listen(channel, (payloads) => loops?.[WOKEN_BY[channel]].wake(payloads))),
  ])
  started.defer(async () => void (await Promise.allSettled(listening.map((stopListening) => stopListening()))))
  let draining: Draining | undefined
  const peers = new Peers(deps.workerId)
  const presence = await startPresence(deps, peers, () => draining)
  started.defer(() => presence.stop().catch((error: unknown) => log.warn({ err: error, worker_id: deps.workerId }, COULD_NOT_SIGN_OFF)))

  const giveUp = new AbortController()
  const runs = new ActiveRuns(deps, new Settler(deps, giveUp.signal))
  loops = startLoops(deps, runs, { peers, restores })
  draining = new Draining(deps, runs, loops)
  started.defer(() => stopLoops(deps, runs, loops, giveUp))
  const running = started.move()
  return { stop: () => running.disposeAsync() }
}

function startLoops(deps: WorkerDeps, runs: ActiveRuns, { peers, restores }: { peers: Peers; restores: RestoreWatch }): Loops {
  const report = createFailureReport(deps.log)
  const scheduler = startScheduler(deps, report.failed('fire schedules'), restores)
  return {
    scheduler,
    judging: startJudging(deps, report.failed, restores),
    checking: startChecking(deps, report.failed, restores),
    delivering: startDelivering(deps, report.failed, restores),
    chatting: startChatting(deps, report.failed),
    // What runs has left its queue.
    claiming: startClaiming(deps, runs, { peers, restores, onClaimed: scheduler.wakeIfWaiting, onError: report.failed('claim subtasks') }),
    watching: startWatching(deps, runs, report.failed),
    relay: startRelay(deps, report),
    maintenance: startAllMaintenance(deps, restores, report.failed),
  }
}

/** What every process maintains, and the folders of this machine. */
function startAllMaintenance(deps: WorkerDeps, restores: RestoreWatch, onError: (what: string) => (error: unknown) => void): Loop[] {
  const kinds = [taskFolders(deps, machineNowMs), attemptFolders(deps, machineNowMs), deps.preparedFolders]
  const folders = kinds.map((kind) => sweepTask(deps, kind, () => deps.place))
  const restored: MaintenanceTask = { what: 'look whether the database was restored', everyMs: BEAT_EVERY_MS, run: () => restores.look() }
  return [...MAINTENANCE, ...folders, restored].map((task) => startMaintenance(deps, task, onError(task.what)))
}

/** Runs are released first: other workers wait for them. */
async function stopLoops(deps: WorkerDeps, runs: ActiveRuns, loops: Loops, giveUp: AbortController): Promise<void> {
  const { claiming, scheduler, judging, checking, delivering, chatting, watching, relay, maintenance } = loops
  await Promise.all([claiming.stop(), scheduler.stop()])
  const timer = setTimeout(() => giveUp.abort(), deps.settings.SHUTDOWN_GRACE_SECONDS * 1_000 * GRACE_OF_RUNS)
  await Promise.allSettled([runs.releaseAll(), judging.stop(), checking.stop(), delivering.stop(), chatting.stop()])
  clearTimeout(timer)
  await Promise.all([watching, relay, ...maintenance].map((loop) => loop.stop()))
  await relayOutbox(deps).catch((error: unknown) => deps.log.warn({ err: error }, 'could not relay the last events'))
}
