import { connect, describeOutage, isDatabaseUnavailable, missingFromDatabase, requireUsableDatabase, UnmigratedDatabaseError, unavailable } from '@muster/db'
import { DEFAULT_PROJECT_ID, DomainError, readPhrase } from '@muster/domain'
import { type Channel, createBoss, createJudgeJobs, createNotifier, createRunJobs, ensureRunQueues, type Loop, startLoop } from '@muster/jobs'
import { describeRunners, findLocalCaller, missingForJudge } from '@muster/runners'
import {
  checkWrites,
  type Deps,
  findEndedTokens,
  type Log,
  latestEventSeq,
  MAINTENANCE,
  readEventsAcrossProjects,
  relayOutbox,
  WriteWatch,
} from '@muster/usecases'
import { v7 } from 'uuid'
import type { ApiDeps } from './api-deps.ts'
import type { ApiConfig } from './config.ts'
import { createCredentialWatch } from './credential-watch.ts'
import { createEventFeed, type EventFeed } from './events/feed.ts'
import { within } from './http/deadline.ts'
import { createDemand, type Demand } from './http/demand.ts'
import { createWaiters, type Waiters } from './http/waiters.ts'

/** Whoever writes events wakes the relay of its own process; this is for those of processes that died in between. */
const RELAY_EVERY_MS = 500
/** Events that come within so many milliseconds travel together: each journey waits for the disk, and wakes whoever follows the log. */
const RELAY_REST_MS = 25
const TAIL_EVERY_MS = 500
const TAIL_PAGE = 1_000
/** Whoever follows the log, or waits for work, tends to come back: so long the process goes on listening for them. */
const LINGER_MS = 30_000
const RETRY_MS = 500
/** Longest time the database may take to answer before the process counts as not ready. */
const READY_MS = 2_000
/** Longest time to wait for work in the background when the process ends. All of it may be cut short. */
const LOOPS_END_MS = 1_000
const RUNNERS_REMEMBERED_MS = 1_000
/** Relay and tailer, and one for the rest. Bells listen on a connection of their own. */
const DISPATCH_POOL_SIZE = 3

/** The dependencies of a running process, and how to begin and end what goes on in its background. */
export interface RunningDeps extends ApiDeps {
  /**
   * Begins to relay, to follow the log for whoever asks, and to look after what every process does, and keeps trying while the database is
   * away. `onFatal` hears of what waiting does not cure.
   */
  start(onFatal: (error: Error) => void): void
  /** Ends streams and long polls at once. */
  beginStop(): void
  close(): Promise<void>
}

export function createDeps({ settings, environment }: ApiConfig, log: Log): RunningDeps {
  const db = connect(settings.DATABASE_URL, { role: 'muster_app', connectionsMax: settings.API_POOL_SIZE, applicationName: 'muster-api' })
  const dispatchDb = connect(settings.DATABASE_URL, { role: 'muster_dispatch', connectionsMax: DISPATCH_POOL_SIZE, applicationName: 'muster-api-dispatch' })
  const notifier = createNotifier(dispatchDb, (error) => log.debug({ err: error }, 'a bell was lost'))
  const boss = createBoss(dispatchDb, {
    supervise: false,
    onWarning: ({ message }) => log.warn({}, message),
    onError: (error) => log.warn({ err: error }, 'pg-boss reported an error'),
  })
  const stopping = new AbortController()
  const deps: Deps = {
    db,
    dispatchDb,
    runJobs: createRunJobs(),
    judgeJobs: createJudgeJobs(boss),
    notifier,
    writes: new WriteWatch(),
    settings,
    newId: v7,
    log,
  }
  const followers = createDemand(LINGER_MS)
  const feed = createEventFeed(followers)
  const claimers = createDemand(LINGER_MS)
  const runWaiters = createWaiters(claimers)
  const credentialWatch = createCredentialWatch(
    (tokens) => findEndedTokens(deps, tokens),
    (error) => {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'cannot check the credentials of open streams')
    },
  )
  const runners = remember(() => describeRunners(settings, { environment }).items, RUNNERS_REMEMBERED_MS)
  const lookAtDatabase = shared(async () => {
    const missing = await missingFromDatabase(db)
    if (missing === null) await checkWrites(deps)
    return missing
  })
  let isPrepared = false
  let loops: Loop[] = []

  return {
    ...deps,
    feed,
    credentialWatch,
    runWaiters,
    runners,
    findLocalCaller,
    missingForJudge: (model) => missingForJudge(settings, model),
    isUnavailable: isDatabaseUnavailable,
    unavailable,
    stopping: stopping.signal,
    async notReadyReason() {
      const reason = await within(READY_MS, lookAtDatabase()).catch((error: unknown) => {
        // It did not answer in time.
        if (error instanceof DomainError) return 'The database is not reachable at the moment.'
        if (isDatabaseUnavailable(error)) return describeOutage(error)
        throw error
      })
      return reason ?? (isPrepared ? null : 'The server is still starting.')
    },
    start(onFatal) {
      const prepare = async () => {
        await requireUsableDatabase(settings.DATABASE_URL)
        await ensureRunQueues(
          boss,
          DEFAULT_PROJECT_ID,
          runners().map(({ name }) => name),
        )
      }
      untilDone(stopping.signal, log, 'begin to serve', prepare)
        .then(() => {
          if (stopping.signal.aborted) return
          loops = startLoops(deps, { feed, followers, runWaiters, claimers }, stopping.signal)
          isPrepared = true
          // Not before: who waits for the server to be ready need not wait for this too.
          setImmediate(readFirstPhrases)
        })
        .catch((error: unknown) => onFatal(error as Error))
    },
    beginStop: () => stopping.abort(),
    async close() {
      stopping.abort()
      await within(LOOPS_END_MS, Promise.all(loops.map((loop) => loop.stop()))).catch(() => log.warn({}, 'the database did not answer at the end'))
      await Promise.all([db.close(), dispatchDb.close()])
    },
  }
}

interface Listeners {
  feed: EventFeed
  followers: Demand
  runWaiters: Waiters
  claimers: Demand
}

/**
 * The relay, which gives events their place in the log, the tailer, which hands them on within this process, and what every process looks
 * after. Without followers nothing is tailed, and what nobody waits for is not listened to: PostgreSQL wakes every connection
 * that listens to anything for each notification, whatever its channel, and each time is a transaction.
 */
function startLoops(deps: Deps, { feed, followers, runWaiters, claimers }: Listeners, stopping: AbortSignal): Loop[] {
  let isAway = false
  const complain = (what: string) => (error: unknown) => {
    if (!isDatabaseUnavailable(error)) return deps.log.error({ err: error }, `${what} failed and will be tried again`)
    if (!isAway) deps.log.warn({}, describeOutage(error))
    isAway = true
  }
  const watch = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work
    if (isAway) deps.log.info({}, 'The database can be used again.')
    isAway = false
    return result
  }
  const relay = startLoop(() => watch(relayOutbox(deps)), { everyMs: RELAY_EVERY_MS, restMs: RELAY_REST_MS, onError: complain('relaying events') })

  let position: number | undefined
  const tailer = startLoop(
    async () => {
      if (!followers.isWanted()) {
        position = undefined
        feed.setReady(false)
        return undefined
      }
      if (position === undefined) {
        position = await latestEventSeq(deps)
        feed.setReady(true)
      }
      const events = await watch(readEventsAcrossProjects(deps, position, TAIL_PAGE))
      for (const event of events) feed.publish(event)
      position = events.at(-1)?.id ?? position
      return events.length === TAIL_PAGE
    },
    { everyMs: TAIL_EVERY_MS, onError: complain('following the log') },
  )

  void deps.notifier.listen('outbox', () => relay.wake())
  const events = createEar(deps, 'events', () => tailer.wake(), stopping)
  followers.watch(
    () => {
      events.open()
      tailer.wake()
    },
    () => {
      events.shut()
      tailer.wake()
    },
  )
  const runs = createEar(deps, 'run', () => runWaiters.wake(), stopping)
  claimers.watch(runs.open, runs.shut)
  const maintenance = MAINTENANCE.map(({ what, everyMs, run }) => startLoop(async () => void (await run(deps)), { everyMs, onError: complain(what) }))
  return [relay, tailer, ...maintenance]
}

/** Listens to a channel from `open` to `shut`. Both may be called at any moment: what they ask for is done in turn. */
function createEar(deps: Deps, channel: Exclude<Channel, 'outbox'>, wake: () => void, stopping: AbortSignal) {
  let isOpen = false
  let silence: (() => Promise<void>) | undefined
  let turn = Promise.resolve()
  const adjust = () => {
    turn = turn
      .then(async () => {
        if (isOpen && silence === undefined) {
          await untilDone(stopping, deps.log, `listen to ${channel}`, async () => {
            // Nobody may need it any more by the time that it can be had.
            if (isOpen) silence = await deps.notifier.listen(channel, wake)
          })
        } else if (!isOpen && silence !== undefined) {
          const end = silence
          silence = undefined
          await end()
        }
      })
      .catch((error: unknown) => {
        // Everything is looked for without bells too, only later. A connection that is lost listens to nothing, and one that goes on listening
        // costs a little, until it is asked to end another time.
        if (!isDatabaseUnavailable(error)) deps.log.error({ err: error }, `cannot listen to ${channel}, or end it`)
      })
  }
  return {
    open() {
      isOpen = true
      adjust()
    },
    shut() {
      isOpen = false
      adjust()
    },
  }
}

/** Tries again while the database is away, or waits for its migration. @throws what waiting does not cure */
async function untilDone(stopping: AbortSignal, log: Log, what: string, work: () => Promise<void>): Promise<void> {
  let complaint: string | undefined
  while (!stopping.aborted) {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !(error instanceof UnmigratedDatabaseError)) throw error
      const { message } = error as Error
      if (message !== complaint) log.warn({}, `cannot ${what} yet: ${message}`)
      complaint = message
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Shares what is under way among all who ask meanwhile: a public endpoint must not be a way to keep the database busy. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

function remember<T>(look: () => T, forMs: number): () => T {
  let known: { value: T; until: number } | undefined
  return () => {
    if (known === undefined || performance.now() > known.until) known = { value: look(), until: performance.now() + forMs }
    return known.value
  }
}

/** Calendars, zones and names of months are loaded by the first phrases that a process reads: before anybody waits for them. */
function readFirstPhrases(): void {
  const at = { now: new Date(0), timezone: 'America/New_York', projectTimezone: null, minIntervalSeconds: 1 }
  readPhrase({ kind: 'when', text: 'march 10 at 9am' }, at)
  readPhrase({ kind: 'every', text: 'every other monday at 9 ET' }, at)
  readPhrase({ kind: 'cron', text: '0 9 * * 1-5' }, at)
}
