import { openArchive } from '@muster/archive'
import {
  connect,
  connectPools,
  createReplica,
  type Database,
  isDatabaseUnavailable,
  isMissingQueue,
  missingFromDatabase,
  type Replica,
  unavailable,
  whenUsable,
} from '@muster/db'
import { DEFAULT_PROJECT_ID, databaseUrls } from '@muster/domain'
import { type Boss, createBoss, createJudgeJobs, createNotifier, createRunJobs, findMissingQueues, type ProcessContext } from '@muster/jobs'
import { describeRunners, findLocalCaller, missingForJudge } from '@muster/runners'
import { type Deps, findEndedTokens, type Log, WriteWatch } from '@muster/usecases'
import { v7 } from 'uuid'
import type { ApiDeps } from './api-deps.ts'
import { createCredentialWatch } from './credential-watch.ts'
import { createEventFeed } from './events/feed.ts'
import { createDemand, type Demand } from './http/demand.ts'
import { DocumentCache } from './http/document-cache.ts'
import { createEndWaiters } from './http/end-waiters.ts'
import { createWaiters } from './http/waiters.ts'
import { createReadiness } from './readiness.ts'
import { remember } from './remember.ts'

/** Clients that follow the log or wait for work tend to return: the process keeps listening for them this long. */
const LINGER_MS = 30_000
const RUNNERS_REMEMBERED_MS = 1_000
/** Relay and tailer, and one for the rest. The notifier listens on a connection of its own. */
const DISPATCH_POOL_SIZE = 3

/** Everything an API process is made of. */
export interface RunningDeps extends ApiDeps {
  boss: Boss
  /** The need for the event log, and for work of outside workers. */
  followers: Demand
  claimers: Demand
  /** The need for notifications of ends. */
  waiters: Demand
  /** Runs `work` once the database is usable; see `whenUsable` of the database package. */
  whenUsable(work: () => Promise<void>): Promise<void>
  /** The start is complete: `readiness` no longer says that it is not. */
  markStarted(): void
  close(): Promise<void>
}

/** Composes an API process. Connects to nothing yet. */
export function createDeps({ settings, environment, log, stopping, tracing }: Omit<ProcessContext, 'log' | 'started'> & { log: Log }): RunningDeps {
  const urls = databaseUrls(settings)
  const { db, dispatchDb } = connectPools(urls, 'muster-api', { db: settings.API_POOL_SIZE, dispatchDb: DISPATCH_POOL_SIZE })
  const replica = settings.DATABASE_READ_URL === undefined ? undefined : openReplica(db, settings.DATABASE_READ_URL, settings.API_POOL_SIZE, log)
  const boss = createBoss(dispatchDb, {
    supervise: false,
    onError: (error) => log.warn({ err: error }, 'pg-boss reported an error'),
    onWarning: (warning) => log.warn({ warning }, 'pg-boss reported a warning'),
  })
  const deps: Deps = {
    db,
    dispatchDb,
    ...(replica && { replica }),
    runJobs: createRunJobs(),
    judgeJobs: createJudgeJobs(boss),
    notifier: createNotifier(dispatchDb, (error) => log.debug({ err: error }, 'a notification was lost; its receivers poll')),
    writes: new WriteWatch(),
    settings,
    newId: v7,
    archive: settings.ARCHIVE_URL === undefined ? null : openArchive(settings.ARCHIVE_URL, settings),
    log,
    ...(tracing && { tracing }),
  }
  const followers = createDemand(LINGER_MS)
  const claimers = createDemand(LINGER_MS)
  const waiters = createDemand(LINGER_MS)
  const runners = remember(() => describeRunners(settings, { environment }).items, RUNNERS_REMEMBERED_MS)
  const readiness = createReadiness(
    { ...deps, stopping },
    {
      findMissingMigrations: () => missingFromDatabase(db),
      findMissingQueues: () =>
        findMissingQueues(
          boss,
          DEFAULT_PROJECT_ID,
          runners().map(({ name }) => name),
        ),
    },
  )
  return {
    ...deps,
    boss,
    followers,
    claimers,
    waiters,
    endWaiters: createEndWaiters(waiters),
    feed: createEventFeed(followers),
    subtaskDocuments: new DocumentCache(),
    runWaiters: createWaiters(claimers),
    credentialWatch: createCredentialWatch((tokens) => findEndedTokens(deps, tokens), log),
    runners,
    findLocalCaller,
    missingForJudge: (model) => missingForJudge(settings, model),
    isUnavailable: (error) => isDatabaseUnavailable(error) || isMissingQueue(error),
    unavailable,
    readiness: readiness.report,
    markStarted: readiness.markStarted,
    stopping,
    whenUsable: (work) => whenUsable(urls.directUrl, { signal: stopping, log, pooledUrl: urls.pooledUrl }, work),
    async close() {
      await Promise.all([db.close(), dispatchDb.close(), replica?.close()])
    },
  }
}

/** A pooler may be before the standbys, so each transaction sets its role and limits. */
function openReplica(db: Database, url: string, connectionsMax: number, log: Log): Replica {
  const standby = connect(url, { role: 'muster_app', connectionsMax, applicationName: 'muster-api-read', isPooled: true, isStandby: true })
  return createReplica(db, standby, (problem, error) => log.warn({ err: error }, `reads go to the primary: ${problem}`))
}
