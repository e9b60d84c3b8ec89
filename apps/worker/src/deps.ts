import { connect, type Database, requireUsableDatabase } from '@muster/db'
import { DEFAULT_PROJECT_ID, type Judge, type Settings } from '@muster/domain'
import { createBoss, createJudgeJobs, createNotifier, createRunJobs, ensureRunQueues } from '@muster/jobs'
import { createJudge, createRunners, type Runner, startGuard } from '@muster/runners'
import { type Deps, WriteWatch } from '@muster/usecases'
import type { Logger } from 'pino'
import { v7 } from 'uuid'

/** Everything a worker process is made of. */
export interface WorkerDeps extends Deps {
  workerId: string
  runners: ReadonlyMap<string, Runner>
  /** Null where no model is set up to judge: other workers have to. */
  judge: Judge | null
  /** One connection of its own, whose life proves the worker's. */
  presence: Database
  close(): Promise<void>
}

export interface WorkerSurroundings {
  databaseUrl: string
  log: Logger
  environment: Record<string, string | undefined>
  /** In place of the configured programs: for tests and measurements. */
  runners?: ReadonlyMap<string, Runner>
}

/** Composes a worker. Reaches the database; throws when it cannot be used as it is. */
export async function composeWorker(settings: Settings, { databaseUrl, log, environment, runners }: WorkerSurroundings): Promise<WorkerDeps> {
  const db = connect(databaseUrl, { role: 'muster_app', connectionsMax: settings.WORKER_POOL_SIZE, applicationName: 'muster-worker' })
  const dispatchDb = connect(databaseUrl, { role: 'muster_dispatch', connectionsMax: settings.WORKER_POOL_SIZE, applicationName: 'muster-worker-dispatch' })
  const presence = connect(databaseUrl, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'muster-worker-presence' })
  // Released in reverse order, also when the worker cannot be composed: a retry would otherwise leave a second pg-boss with its connections.
  await using opened = new AsyncDisposableStack()
  opened.defer(async () => {
    await Promise.all([db.close(), dispatchDb.close(), presence.close()])
  })
  await requireUsableDatabase(databaseUrl)
  const guard = runners === undefined ? startGuard({ log }) : null
  opened.defer(() => guard?.close())
  const boss = createBoss(dispatchDb, {
    supervise: true,
    onError: (error) => log.warn({ err: error }, 'pg-boss maintenance failed; it tries again'),
    onWarning: (warning) => log.warn({ warning }, 'pg-boss reported a warning'),
  })
  opened.defer(() => boss.stop({ graceful: false }))
  await boss.start()
  const served = runners ?? createRunners(settings, { guard: guard as NonNullable<typeof guard>, log, environment })
  await ensureRunQueues(boss, DEFAULT_PROJECT_ID, [...served.keys()])
  const running = opened.move()
  return {
    db,
    dispatchDb,
    presence,
    runJobs: createRunJobs(),
    judgeJobs: createJudgeJobs(boss),
    notifier: createNotifier(dispatchDb, (error) => log.debug({ err: error }, 'a notification was lost; its receivers poll')),
    writes: new WriteWatch(),
    settings,
    newId: v7,
    log,
    workerId: v7(),
    runners: served,
    judge: createJudge(settings, { environment }),
    close: () => running.disposeAsync(),
  }
}
