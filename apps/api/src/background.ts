import { DEFAULT_PROJECT_ID, readPhrase } from '@muster/domain'
import { type Channel, ensureRunQueues, type Loop, startLoop } from '@muster/jobs'
import {
  createFailureReport,
  type FailureReport,
  latestEventSeq,
  MAINTENANCE,
  machineNowMs,
  placeOf,
  readEventsAcrossProjects,
  SAY_FOLLOWED_EVERY_MS,
  startMaintenance,
  startRelay,
  sweepTask,
  taskFolders,
} from '@muster/usecases'
import type { RunningDeps } from './deps.ts'
import { within } from './http/deadline.ts'
import type { Demand } from './http/demand.ts'

const TAIL_EVERY_MS = 500
const TAIL_PAGE = 1_000
/** A change of the demand wakes a listener; this is the pause after a failure. */
const LISTENER_EVERY_MS = 500
/** Without demand there is nothing to do, and a change of the demand wakes the loop. Each timer that fires costs an idle machine a quarter of a millisecond. */
const RESTING_MS = 60_000
/** Longest time to wait for work in the background when the process ends. All of it may be cut short. */
const STOP_MS = 1_000

/** What an API process does besides answering requests. */
export interface Background {
  /** Waits for the database, then starts the loops. @throws what waiting does not cure */
  start(): Promise<void>
  /** Stops the loops, or gives up after a second. */
  stop(): Promise<void>
}

export function createBackground(deps: RunningDeps): Background {
  let loops: Loop[] = []
  return {
    start: () =>
      deps.whenUsable(async () => {
        const runners = deps.runners().map(({ name }) => name)
        await ensureRunQueues(deps.boss, DEFAULT_PROJECT_ID, runners)
        loops = startLoops(deps)
        deps.markStarted()
        // Not before: a client that waits until the server is ready need not wait for this too.
        setImmediate(readFirstPhrases)
      }),
    async stop() {
      await within(STOP_MS, Promise.all(loops.map((loop) => loop.stop()))).catch(() => deps.log.warn({}, 'the database did not answer at the end'))
    },
  }
}

function startLoops(deps: RunningDeps): Loop[] {
  const { followers, claimers, waiters, runWaiters, endWaiters, notifier } = deps
  const report = createFailureReport(deps.log)
  const relay = startRelay(deps, report)
  // The relays of the workers, which listen at all times. Another API process moves its events at its own pace.
  const sayFollowed = async () => {
    if (!followers.isWanted()) return undefined
    relay.followed()
    notifier.notify('followed')
    return undefined
  }
  const crier = startLoop(sayFollowed, {
    everyMs: () => (followers.isWanted() ? SAY_FOLLOWED_EVERY_MS : RESTING_MS),
    onError: report.failed('say that the log is followed'),
  })
  void notifier.listen('outbox', () => relay.wake())
  const tailer = startTailer(deps, report)
  const eventListener = startListener(deps, 'events', followers, () => tailer.wake(), report)
  const runListener = startListener(deps, 'run', claimers, () => runWaiters.wake(), report)
  const endListener = startListener(deps, 'ended', waiters, (ids) => endWaiters.wake(ids), report)
  const onFollowersChange = () => {
    eventListener.wake()
    tailer.wake()
    crier.wake()
  }
  followers.watch(onFollowersChange, onFollowersChange)
  claimers.watch(runListener.wake, runListener.wake)
  waiters.watch(endListener.wake, endListener.wake)
  // Creating a task makes its folder on the machine of the API.
  const folders = sweepTask(deps, taskFolders(deps, machineNowMs), () => placeOf(deps.settings.DATA_DIR, deps.newId))
  const maintenance = [...MAINTENANCE, folders].map((task) => startMaintenance(deps, task, report.failed(task.what)))
  return [relay, crier, tailer, eventListener, runListener, endListener, ...maintenance]
}

/** Passes new events of the log to this process's streams and long polls. Reads nothing while none is open. */
function startTailer(deps: RunningDeps, report: FailureReport): Loop {
  const { feed, followers } = deps
  let position: number | undefined
  const tail = async () => {
    if (!followers.isWanted()) {
      position = undefined
      feed.setReady(false)
      return undefined
    }
    if (position === undefined) {
      position = await latestEventSeq(deps)
      feed.setReady(true)
    }
    const events = await report.watch(readEventsAcrossProjects(deps, position, TAIL_PAGE))
    for (const event of events) feed.publish(event)
    position = events.at(-1)?.id ?? position
    return events.length === TAIL_PAGE
  }
  return startLoop(tail, { everyMs: () => (followers.isWanted() ? TAIL_EVERY_MS : RESTING_MS), onError: report.failed('follow the log') })
}

/**
 * Listens to a channel while there is demand. PostgreSQL wakes every connection that listens to any channel for each notification, and each time is
 * a transaction.
 */
function startListener({ notifier }: RunningDeps, channel: Channel, demand: Demand, onNotification: (payloads: string[]) => void, report: FailureReport): Loop {
  let stopListening: (() => Promise<void>) | undefined
  const adjust = async () => {
    if (demand.isWanted() && stopListening === undefined) stopListening = await notifier.listen(channel, onNotification)
    else if (!demand.isWanted() && stopListening !== undefined) {
      const stop = stopListening
      // Also if it fails: a connection that is lost listens to nothing.
      stopListening = undefined
      await stop()
    }
    return undefined
  }
  const isAdjusted = () => demand.isWanted() === (stopListening !== undefined)
  return startLoop(adjust, { everyMs: () => (isAdjusted() ? RESTING_MS : LISTENER_EVERY_MS), onError: report.failed(`listen to ${channel}`) })
}

/** The first phrases that a process reads load calendars, zones and names of months: better now than in a request. */
function readFirstPhrases(): void {
  const at = { now: new Date(0), timezone: 'America/New_York', projectTimezone: null, minIntervalSeconds: 1 }
  readPhrase({ kind: 'when', text: 'march 10 at 9am' }, at)
  readPhrase({ kind: 'every', text: 'every other monday at 9 ET' }, at)
  readPhrase({ kind: 'cron', text: '0 9 * * 1-5' }, at)
}
