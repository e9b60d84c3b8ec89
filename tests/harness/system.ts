import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseDatabaseAddress, type Scope } from '@muster/domain'
import { type Harness, invariants, startHarness, type TestDatabase, testDatabase } from '@muster/testing'
import { type Ctx, createApiKey } from '@muster/usecases'
import type postgres from 'postgres'
import { Child } from './child.ts'
import { Client } from './client.ts'
import { Ledger } from './ledger.ts'
import { commandRunners } from './runners.ts'
import { until } from './until.ts'

type Environment = Record<string, string | undefined>

export interface SystemOptions {
  apis?: number
  workers?: number
  /** Settings of every process, on top of the usual ones. */
  env?: Environment
  /** Instead of a copy of the template. */
  database?: TestDatabase
}

/** A process of the API, and a client that speaks to it. */
export interface Api {
  child: Child
  address: string
  client: Client
}

export interface Worker {
  child: Child
  id: string
}

/** What is shown of the log of a process that did not end as it should. */
const LAST_LINES = 30

export const mainOf = (app: 'api' | 'worker'): string => fileURLToPath(new URL(`../../apps/${app}/src/main.ts`, import.meta.url))

/**
 * Muster as it runs in production: processes of API and worker over one database of the test's own, and a client for the first
 * API. Open unless `env` says `AUTH: 'keys'`; `mintKey` works either way.
 */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const database = options.database ?? (await testDatabase())
  const harness = await startHarness({ database, connectionsMax: 2 })
  const folder = await mkdtemp(join(tmpdir(), 'muster-system-'))
  const system = new System(database, harness, folder, options.env ?? {})
  try {
    const apis = await Promise.all(Array.from({ length: options.apis ?? 1 }, () => system.startApi()))
    await Promise.all(Array.from({ length: apis.length === 0 ? 0 : (options.workers ?? 1) }, () => system.startWorker()))
  } catch (error) {
    await system.abandon()
    throw error
  }
  return system
}

export class System {
  readonly apis: Api[] = []
  readonly workers: Worker[] = []
  readonly ledger: Ledger
  readonly folder: string
  readonly database: TestDatabase
  readonly #harness: Harness
  readonly #env: Environment
  readonly #secrets = new Set<string>()
  readonly #expectedErrors: RegExp[] = []

  constructor(database: TestDatabase, harness: Harness, folder: string, env: Environment) {
    this.database = database
    this.folder = folder
    this.ledger = new Ledger(folder)
    this.#harness = harness
    this.#env = env
    this.#secrets.add(parseDatabaseAddress(database.appUrl).password)
  }

  get api(): Api {
    const api = this.apis.find(({ child }) => !child.hasExited) ?? this.apis[0]
    if (api === undefined) throw new Error('This system has no API.')
    return api
  }

  get client(): Client {
    return this.api.client
  }

  /** A superuser's connections. */
  get admin(): postgres.Sql {
    return this.#harness.admin
  }

  /** Use-cases on the same database, with every right in the default project. */
  get ctx(): Ctx {
    return this.#harness.ctx
  }

  projectCtx(name?: string): Promise<Ctx> {
    return this.#harness.projectCtx(name)
  }

  /** What a process of this system is started with. */
  environment(own: Environment = {}): Environment {
    return {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: this.database.appUrl,
      DATA_DIR: this.folder,
      // The programs of the tests write to a ledger outside of their workspaces, and kill their worker. The sandbox has tests of its own.
      SANDBOX: 'off',
      PORT: '0',
      AUTH: 'open',
      // The most talkative level, because what must not be logged must not be logged at any.
      LOG_LEVEL: 'trace',
      COMMAND_RUNNERS: JSON.stringify(commandRunners(this.ledger.path)),
      DEFAULT_RUNNER: 'act',
      ...this.#env,
      ...own,
    }
  }

  /** Starts one more API process and waits until it is ready. `PORT` brings one back to where it was. */
  async startApi(own: Environment = {}): Promise<Api> {
    const child = new Child({ name: `API ${this.apis.length + 1}`, argv: [process.execPath, mainOf('api')], env: this.environment(own) })
    const { fields } = await child.line('listening')
    const address = fields.address as string
    const api = { child, address, client: new Client(address, null, (secret) => this.addSecret(secret)) }
    this.apis.push(api)
    await until(`${child.name} is ready`, async () => (await fetch(new URL('/readyz', address))).ok)
    return api
  }

  /** Starts one more worker process and waits until it has said that it is ready. */
  async startWorker(own: Environment = {}): Promise<Worker> {
    const child = this.launchWorker(own)
    const { fields } = await child.line('ready')
    const worker = { child, id: fields.worker_id as string }
    this.workers.push(worker)
    return worker
  }

  /** The same without waiting, for workers that will not live that long. */
  launchWorker(own: Environment = {}): Child {
    const env = this.environment({ PUBLIC_URL: this.apis[0]?.address, ...own })
    const child = new Child({ name: `worker ${this.#launched.length + 1}`, argv: [process.execPath, mainOf('worker')], env })
    this.#launched.push(child)
    return child
  }
  readonly #launched: Child[] = []

  workerOf(workerId: string | null): Worker {
    const worker = this.workers.find(({ id }) => id === workerId)
    if (worker === undefined) throw new Error(`${workerId} is no worker of this system.`)
    return worker
  }

  /** Makes an API key, by default with every right in the default project. */
  async mintKey(scopes: readonly Scope[] = ['admin'], more: { ctx?: Ctx; agentId?: string; expiresAt?: Date } = {}): Promise<{ id: string; key: string }> {
    const { ctx = this.ctx, ...rest } = more
    const { apiKey, secret } = await createApiKey(ctx, { name: 'test', scopes, ...rest })
    this.addSecret(secret)
    return { id: apiKey.id, key: secret }
  }

  /** Something that no process may ever write to its log. */
  addSecret(secret: string): void {
    this.#secrets.add(secret)
  }

  /** A line of level error or above that this test is about. */
  expectError(pattern: RegExp): void {
    this.#expectedErrors.push(pattern)
  }

  /** Every claim about the database that is broken at this moment. */
  invariants(more: Parameters<typeof invariants>[1] = {}): Promise<string[]> {
    return invariants(this.admin, { runningPerAgent: Number(this.#env.SUBTASK_MAX_CONCURRENT ?? 3), ...more })
  }

  /**
   * Ends everything in order, then looks back: each process ended with 0, every invariant holds, no log has an error that no
   * test expected, nor a key, a credential or a task in it.
   */
  async close(): Promise<void> {
    const children = this.#children().filter((child) => !child.hasExited)
    const problems: string[] = []
    try {
      await Promise.all(
        children.map(async (child) => {
          const exit = await child.end('SIGTERM')
          if (exit.code !== 0)
            problems.push(
              `${child.name} ended with ${JSON.stringify(exit)}; its last lines:\n${child.lines
                .slice(-LAST_LINES)
                .map(({ raw }) => raw.slice(0, 400))
                .join('\n')}`,
            )
        }),
      )
      problems.push(...(await this.invariants()), ...this.#logProblems())
    } finally {
      await this.abandon()
    }
    if (problems.length > 0) throw new Error(`After the tests, this was wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
  }

  /** Ends everything at once and looks at nothing. */
  async abandon(): Promise<void> {
    for (const child of this.#children()) child.killGroup()
    // Outages are some tests' business, and the harness has lived through them too.
    this.#harness.log.takeErrors()
    await this.#harness.close()
    await this.database.drop()
    await rm(this.folder, { recursive: true, force: true })
  }

  #children(): Child[] {
    return [...this.apis.map(({ child }) => child), ...this.#launched]
  }

  #logProblems(): string[] {
    const problems: string[] = []
    for (const child of this.#children()) {
      for (const secret of this.#secrets) if (child.text.includes(secret)) problems.push(`the log of ${child.name} contains "${secret.slice(0, 40)}…"`)
      const errors = child.lines.filter(({ fields, raw }) => Number(fields.level ?? 0) >= 50 && !this.#expectedErrors.some((pattern) => pattern.test(raw)))
      problems.push(...errors.map(({ raw }) => `${child.name} logged ${raw}`))
    }
    return problems
  }
}
