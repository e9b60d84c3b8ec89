import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@muster/db'
import { type Actor, parseSettings } from '@muster/domain'
import { createBoss, createJudgeJobs, createNotifier, createRunJobs, ensureRunQueues } from '@muster/jobs'
import { type Ctx, createProject, type Deps, type Log, openActor, WriteWatch } from '@muster/usecases'
import postgres from 'postgres'
import { v7 } from 'uuid'
import { type TestDatabase, testDatabase } from './test-database.ts'

/** The runners whose queues a harness makes: one of our own, another one, and the outside workers'. */
export const TEST_RUNNERS = ['own', 'other', 'external'] as const

/** Both follow definitions, so that tests may give them sub-agents. Nothing starts them. */
const TEST_PROGRAMS = JSON.stringify(Object.fromEntries(['own', 'other'].map((name) => [name, { argv: [name], follows_definitions: true }])))

/** Tests fill many lanes at once. Those about the limits of a project set them. */
const NO_PROJECT_LIMITS = { SUBTASK_PROJECT_MAX_CONCURRENT: '0', SUBTASK_PROJECT_MAX_PENDING: '0' }

export interface HarnessOptions {
  /** As in the environment. */
  settings?: Record<string, string>
  /** Connections of each of the two pools. */
  connectionsMax?: number
  /** How long a statement may take; 5 s unless given, as in the product. */
  statementTimeoutMs?: number
  /** Instead of a copy of the template. */
  database?: TestDatabase
}

export interface RecordedLog extends Log {
  /** What was logged as an error since the last call. Tests that expect errors take them; the rest fail the file at `close`. */
  takeErrors(): { message: string; fields: object }[]
}

/** Use-cases, composed as a process composes them, over a database of a test's own. */
export interface Harness {
  database: TestDatabase
  deps: Deps
  /** The caller of an open server, in the default project. */
  ctx: Ctx
  /** A superuser's connections, for what a test asserts and arranges. */
  admin: postgres.Sql
  log: RecordedLog
  /** Makes another project with queues, and an actor with every scope in it and in no other. */
  projectCtx(name?: string): Promise<Ctx>
  /** The same context with another actor, such as one that `authenticate` has found. */
  as(actor: Actor): Ctx
  /** @throws Error listing the errors that were logged and not taken */
  close(): Promise<void>
}

const NUMBER_FROM_INT8 = { to: 20, from: [20], serialize: (value: number) => String(value), parse: (text: string) => Number(text) }

/** Composes everything that use-cases need, on a fresh database. Close it in `afterAll`. */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const database = options.database ?? (await testDatabase())
  const dataDir = await mkdtemp(join(tmpdir(), 'muster-data-'))
  const log = recordingLog()
  const pool = { connectionsMax: options.connectionsMax ?? 20, applicationName: 'muster-test', statementTimeoutMs: options.statementTimeoutMs ?? 5_000 }
  const db = connect(database.appUrl, { role: 'muster_app', ...pool })
  const dispatchDb = connect(database.appUrl, { role: 'muster_dispatch', ...pool })
  const admin = postgres(database.adminUrl, { max: 4, onnotice: () => {}, types: { int8: NUMBER_FROM_INT8 } }) as unknown as postgres.Sql
  let isClosing = false
  const onError = (error: Error) => {
    // A notification that is still to be sent when the test is over finds its connections closed.
    if (!isClosing) log.error({ err: error }, error.message)
  }
  const boss = createBoss(dispatchDb, { supervise: false, onError, onWarning: (warning) => log.warn(warning, warning.message) })
  await boss.start()

  const deps: Deps = {
    db,
    dispatchDb,
    runJobs: createRunJobs(),
    judgeJobs: createJudgeJobs(boss),
    notifier: createNotifier(db, onError),
    writes: new WriteWatch(undefined, Number.NEGATIVE_INFINITY),
    settings: parseSettings({ DATA_DIR: dataDir, SANDBOX: 'off', COMMAND_RUNNERS: TEST_PROGRAMS, ...NO_PROJECT_LIMITS, ...options.settings }),
    newId: v7,
    archive: null,
    log,
  }
  const as = (actor: Actor): Ctx => ({ ...deps, actor })
  await ensureRunQueues(boss, openActor().projectId, TEST_RUNNERS)
  return {
    database,
    deps,
    ctx: as(openActor()),
    admin,
    log,
    as,
    async projectCtx(name = 'another') {
      const project = await createProject(deps, name)
      await ensureRunQueues(boss, project.id, TEST_RUNNERS)
      return as({ kind: 'key', id: v7(), projectId: project.id, scopes: ['admin'], agentId: null, lineage: null })
    },
    async close() {
      isClosing = true
      await boss.stop({ graceful: false })
      await Promise.all([db.close(), dispatchDb.close(), admin.end({ timeout: 5 })])
      if (options.database === undefined) await database.drop()
      await rm(dataDir, { recursive: true, force: true })
      const errors = log.takeErrors()
      if (errors.length > 0) throw new Error(`Errors were logged that no test expected:\n${errors.map((error) => `  - ${error.message}`).join('\n')}`)
    },
  }
}

function recordingLog(): RecordedLog {
  let errors: { message: string; fields: object }[] = []
  return {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (fields, message) => errors.push({ message, fields }),
    takeErrors() {
      const taken = errors
      errors = []
      return taken
    },
  }
}
