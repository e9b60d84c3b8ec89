import { openArchive } from '@muster/archive'
import { connect, connectPools, type Database } from '@muster/db'
import { createBotPace, createChannels, createChatClient } from '@muster/deliveries'
import { type ChatClient, type Checker, databaseUrls, type Judge } from '@muster/domain'
import { type Boss, createBoss, createJudgeJobs, createNotifier, createRunJobs, type ProcessContext } from '@muster/jobs'
import { createChecker, createJudge, createRunners, PREPARED_FOLDERS, type Runner, requireSandbox, startGuard } from '@muster/runners'
import { type Channels, type Deps, type FolderKind, type Log, placeOf, WriteWatch } from '@muster/usecases'
import { v7 } from 'uuid'

/** How long Telegram holds a look for updates open, in seconds. */
const CHAT_WAIT_SECONDS = 25

/** Everything a worker process is made of. */
export interface WorkerDeps extends Deps {
  workerId: string
  boss: Boss
  runners: ReadonlyMap<string, Runner>
  /** Null where no model is configured as the judge: other workers have to judge. */
  judge: Judge | null
  /** Executes the checks of tasks. Null without programs. */
  checker: Checker | null
  /** How deliveries are sent. */
  channels: Channels
  /** How the bots of projects are read. */
  chats: ChatClient
  /** The data folder in which this worker runs work. */
  place: string
  /** The folders that runners prepare outside of the data folder. */
  preparedFolders: FolderKind
  /** One connection of its own, whose life proves the worker's. */
  presence: Database
  close(): Promise<void>
}

export interface WorkerContext extends Pick<ProcessContext, 'settings' | 'environment' | 'tracing'> {
  log: Log
  /** In place of the configured runners: for tests and measurements. */
  runners?: ReadonlyMap<string, Runner>
}

/** Composes a worker. Connects to nothing yet. */
export function createDeps(context: WorkerContext): WorkerDeps {
  const { settings, environment, log, tracing } = context
  const urls = databaseUrls(settings)
  const { db, dispatchDb } = connectPools(urls, 'muster-worker', { db: settings.WORKER_POOL_SIZE, dispatchDb: settings.WORKER_POOL_SIZE })
  const presence = connect(urls.directUrl, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'muster-worker-presence' })
  const boss = createBoss(dispatchDb, {
    supervise: true,
    onError: (error) => log.warn({ err: error }, 'pg-boss reported an error'),
    onWarning: (warning) => log.warn({ warning }, 'pg-boss reported a warning'),
  })
  const { runners, checker, closeRunners } = openRunners(context)
  const pace = createBotPace()
  return {
    db,
    dispatchDb,
    presence,
    boss,
    runJobs: createRunJobs(),
    judgeJobs: createJudgeJobs(boss),
    notifier: createNotifier(dispatchDb, (error) => log.debug({ err: error }, 'a notification was lost; its receivers poll')),
    writes: new WriteWatch(),
    settings,
    newId: v7,
    log,
    ...(tracing && { tracing }),
    workerId: v7(),
    runners,
    judge: createJudge(settings, { environment }),
    checker,
    channels: createChannels(settings, { pace }),
    chats: createChatClient(settings, CHAT_WAIT_SECONDS, pace),
    place: placeOf(settings.DATA_DIR, v7),
    preparedFolders: PREPARED_FOLDERS,
    archive: settings.ARCHIVE_URL === undefined ? null : openArchive(settings.ARCHIVE_URL, settings),
    async close() {
      await boss.stop({ graceful: false })
      await closeRunners()
      await Promise.all([db.close(), dispatchDb.close(), presence.close()])
    },
  }
}

function openRunners({ settings, environment, log, runners }: WorkerContext) {
  if (runners !== undefined) return { runners, checker: null, closeRunners: async () => {} }
  const { sandbox, problem } = requireSandbox(settings, environment)
  const runsPrograms = Object.keys(settings.COMMAND_RUNNERS).length + Object.keys(settings.CHECKS).length > 0 || settings.ENABLE_BASH_TOOL
  if (sandbox === null && runsPrograms && settings.SANDBOX === 'auto') log.warn({ problem }, 'programs of subtasks run without a sandbox')
  const unlimited = sandbox?.limits.problem ?? null
  if (unlimited !== null && runsPrograms) log.warn({ problem: unlimited }, 'the sandbox of programs of subtasks lacks limits')
  const guard = startGuard({ log })
  return {
    runners: createRunners(settings, { guard, log, environment, sandbox }),
    // A worker without checks leaves them to others.
    checker: Object.keys(settings.CHECKS).length === 0 ? null : createChecker(settings.CHECKS, { guard, environment, sandbox }),
    closeRunners: () => guard.close(),
  }
}
