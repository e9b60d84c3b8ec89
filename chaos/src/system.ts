import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { migrate } from '@muster/db'
import { installQueues } from '@muster/jobs'
import { freePort, type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import { mountSmallDisk, type SmallDisk } from '@muster/testing/small-disk'
import { startWebhookReceiver, type WebhookReceiver } from '@muster/testing/webhook-receiver'
import postgres from 'postgres'
import { prepareClock } from './clock.ts'
import { startHop } from './database-hop.ts'
import type { Findings } from './findings.ts'
import { CHECK_NAMES } from './load/outputs.ts'
import { type Machine, makeMachine } from './machines.ts'
import { isInside, type Network, type Seat, startNetwork, type Traffic } from './network.ts'
import { Supervised } from './supervised.ts'
import { createTenants, SERVER_LIMITS, type Tenant } from './tenants.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PROGRAMS = fileURLToPath(new URL('../programs/', import.meta.url))

export const LEASE_SECONDS = 4
export const GRACE_SECONDS = 5
const SLOTS = 6
const CREATE_TRIES_MAX = 20
/** How the receiver of webhooks answers, of 128 deliveries. */
const MISBEHAVIOUR = { hangs: 4, 'answers 500': 6, 'redirects to another webhook': 2, 'answers 429': 1, 'breaks off in its status': 6 } as const

/** Programs that run subtasks, each with a fault of its own. */
export const RUNNERS = ['quick', 'slow', 'crashing', 'stubborn', 'big', 'empty', 'steered', 'asking'] as const
export type RunnerName = (typeof RUNNERS)[number]

export interface SystemOptions {
  workers: number
  apis: number
  /** Whether their memory is to be looked at from within, which those who only break them have no need of. */
  steady: boolean
  /** Whether each process is on a machine of its own, which the seed makes up. */
  machines: boolean
  seed: number
  minutes: number
  /** Whether a fault of the plan fills the disk of PostgreSQL. */
  needsSmallDisk: boolean
  findings: Findings
  /** What the processes inherit: PATH and the like. */
  inherited: Record<string, string | undefined>
  log: (line: string) => void
}

/** PostgreSQL, the processes and the way between them. */
export interface System {
  folder: string
  postgres: LocalPostgres
  /** Holds PostgreSQL's files, and can be filled; null where no fault fills it or this machine mounts none. */
  disk: SmallDisk | null
  /** A superuser, straight to the server; throws while that is away. */
  admin: postgres.Sql
  login: string
  apis: Supervised[]
  workers: Supervised[]
  /** With the option of that name. */
  machines: Machine[]
  /** What passed between the machines and the database, by their names. */
  readTraffic(): Promise<Map<string, Traffic>>
  tenants: Tenant[]
  /** The project in which keys are revoked. */
  revoking: Tenant
  /** Where the webhooks of the tenants point to. */
  receiver: WebhookReceiver
  /** The folder that rows are written to before they are dropped. */
  archive: string
  /** In this file the programs of checks note their executions. */
  checkLedger: string
  /** The value of CHAOS_RUN in the environment of every program that the workers of this run start. */
  programMark: string
  /** Ends everything at once and removes it; with `keep`, leaves the folder. */
  destroy(keep: boolean): Promise<void>
}

/** Where one process will run. */
interface Place {
  name: string
  kind: 'api' | 'worker'
  machine: Machine | null
  seat: Seat | null
  host: string
  /** The API's. */
  port: number | null
}

/** Room for what a run stores, in MB: at its beginning, and for each of its minutes. */
const DISK = { base: 500, eachMinute: 100 }
/** A log that fits on the small disk, and a few segments of it in reserve, so that PostgreSQL can mostly go on writing it while the disk is full. */
const SMALL_LOG = { min_wal_size: '96MB', max_wal_size: '160MB' }

async function mountDisk(minutes: number, log: (line: string) => void): Promise<SmallDisk | null> {
  try {
    return await mountSmallDisk(Math.round(DISK.base + DISK.eachMinute * minutes))
  } catch (error) {
    log(`WITHOUT A FULL DISK: ${(error as Error).message}`)
    return null
  }
}

export async function startSystem({
  workers,
  apis,
  steady,
  machines,
  seed,
  minutes,
  needsSmallDisk,
  findings,
  inherited,
  log,
}: SystemOptions): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), `muster-chaos-${process.pid}-`))
  // The database server may have to run as another user, who must be able to enter.
  await chmod(folder, 0o755)
  const disk = needsSmallDisk ? await mountDisk(minutes, log) : null
  const dataDir = join(disk?.path ?? folder, 'postgres')
  const processes: Supervised[] = []
  let server: LocalPostgres | null = null
  let admin: postgres.Sql | null = null
  let receiver: WebhookReceiver | null = null
  let network: Network | null = null
  const destroy = async (keep: boolean) => {
    await Promise.all(processes.map((each) => each.end('SIGKILL', 5_000)))
    await Promise.all(processes.map((each) => each.options.hop.close()))
    await admin?.end({ timeout: 1 }).catch(() => {})
    receiver?.close()
    network?.close()
    await server?.stop('immediate').catch(() => {})
    // What is kept must not take memory.
    if (keep && disk !== null) await promisify(execFile)('cp', ['-a', dataDir, join(folder, 'postgres')])
    if (!keep || disk !== null) await removeLocalPostgres(dataDir).catch(() => {})
    await disk?.close()
    if (keep) return
    await rm(folder, { recursive: true, force: true })
  }

  try {
    const names = [['api', apis] as const, ['worker', workers] as const].flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, index) => ({ kind, name: `${kind}-${index + 1}` })),
    )
    const made = names.map(({ name }) => (machines ? makeMachine(seed, name) : null))
    network = isInside(inherited) ? await startNetwork(made.flatMap((machine) => machine?.link ?? [])) : null
    log('starting PostgreSQL (durable)')
    // Autovacuum comes by often, so that what it cannot clean up shows within minutes.
    const settings = { autovacuum_naptime: '10s', log_min_messages: 'warning', max_connections: machines ? '400' : '200', ...(disk === null ? {} : SMALL_LOG) }
    server = await startLocalPostgres({ dataDir, settings })
    const login = 'muster_chaos'
    const appUrl = await server.urlFor(login, 'muster')
    const adminUrl = new URL(server.adminUrl)
    await migrate({ adminUrl: server.adminUrl, appUrl, installQueues })
    adminUrl.pathname = '/muster'
    admin = postgres(adminUrl.href, { max: 4, connect_timeout: 3, onnotice: () => {}, backoff: () => 0.2, connection: { application_name: 'muster-chaos' } })
    await prepareClock(admin)
    receiver = await startWebhookReceiver(MISBEHAVIOUR, { host: network?.clientHost })
    const receiverHost = new URL(receiver.url('')).hostname
    const { tenants, revoking } = await createTenants(admin, appUrl, receiverHost)

    const places: Place[] = []
    for (const [index, { kind, name }] of names.entries()) {
      const seat = network?.seats[index] ?? null
      const host = seat?.address ?? '127.0.0.1'
      places.push({ name, kind, machine: made[index] ?? null, seat, host, port: kind === 'api' ? await freePort() : null })
    }
    const askUrls = places.flatMap(({ kind, host, port }) => (kind === 'api' ? [`http://${host}:${port}`] : []))
    const programMark = `chaos-${process.pid}`
    const checkLedger = join(folder, 'checks.jsonl')
    const archive = join(folder, 'archive')
    await mkdir(archive)
    const check = { argv: [process.execPath, join(PROGRAMS, 'proving.mjs')], env: { CHAOS_RUN: programMark, CHECK_LEDGER: checkLedger }, timeout_seconds: 30 }
    const shared = {
      ...Object.fromEntries(
        Object.entries(inherited).filter(
          (entry): entry is [string, string] => entry[1] !== undefined && ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ', 'NODE_OPTIONS'].includes(entry[0]),
        ),
      ),
      AUTH: 'keys',
      LOG_LEVEL: 'info',
      COMMAND_RUNNERS: JSON.stringify(
        Object.fromEntries(
          RUNNERS.map((name) => [
            name,
            {
              argv: [process.execPath, join(PROGRAMS, `${name}.mjs`)],
              env: { CHAOS_RUN: programMark, ASK_URLS: askUrls.join() },
              steerable: name === 'steered',
            },
          ]),
        ),
      ),
      CHECKS: JSON.stringify(Object.fromEntries(CHECK_NAMES.map((name) => [name, check]))),
      DEFAULT_RUNNER: 'quick',
      SUBTASK_WORKERS: String(SLOTS),
      // Its programs write to a ledger outside of their workspaces.
      SANDBOX: 'off',
      SUBTASK_LEASE_SECONDS: String(LEASE_SECONDS),
      SUBTASK_DEFAULT_TIMEOUT: '30',
      SUBTASK_MAX_CONCURRENT: String(SERVER_LIMITS.running),
      SUBTASK_MAX_PENDING: String(SERVER_LIMITS.pending),
      // The load has many agents, each with limits of its own.
      SUBTASK_PROJECT_MAX_CONCURRENT: '0',
      SUBTASK_PROJECT_MAX_PENDING: '0',
      SUBTASK_AGEING_SECONDS: '5',
      SCHEDULE_MIN_INTERVAL_SECONDS: '1',
      SCHEDULE_CHECK_INTERVAL: '2',
      SHUTDOWN_GRACE_SECONDS: String(GRACE_SECONDS),
      ARCHIVE_URL: archive,
      SECRETS_KEYS: `chaos:${randomBytes(32).toString('base64')}`,
      OUTBOUND_ALLOW: receiverHost,
      DELIVERY_TIMEOUT_SECONDS: '2',
      DELIVERY_RETRY_SECONDS: Array.from({ length: 30 }, () => 1).join(),
    }
    for (const { name, kind, machine, seat, host, port } of places) {
      // Delay and loss are made once: by the kernel where it can.
      const hop = await startHop(server.port, network?.readTraffic ? null : machine?.link, network?.databaseHost)
      const url = new URL(appUrl)
      url.hostname = network?.databaseHost ?? url.hostname
      url.port = String(hop.port)
      const inspectPort = steady ? await freePort() : null
      const dataFolder = join(folder, name)
      await mkdir(dataFolder)
      const environment = { ...shared, DATABASE_URL: url.href, DATA_DIR: dataFolder, HOST: host, PORT: String(port ?? 0), ...machine?.environment }
      const script = join(ROOT, 'apps', kind, 'src', 'main.ts')
      processes.push(new Supervised({ name, kind, script, environment, logFile: join(folder, `${name}.log`), hop, seat, port, inspectPort, findings }))
    }
    log(`starting ${apis} APIs and ${workers} workers`)
    for (const each of processes) each.start()
    await Promise.all(processes.map((each) => each.ready()))
    for (const tenant of tenants) await createWebhooks(askUrls[0] as string, tenant, receiver)
    const ofKind = (kind: 'api' | 'worker') => processes.filter(({ options }) => options.kind === kind)
    const readTraffic = async () => {
      const counted = await network?.readTraffic?.()
      return new Map(processes.map(({ name, options }, index) => [name, counted?.[index] ?? options.hop.counts]))
    }
    return {
      folder,
      postgres: server,
      disk,
      admin,
      login,
      apis: ofKind('api'),
      workers: ofKind('worker'),
      machines: places.flatMap(({ machine }) => machine ?? []),
      readTraffic,
      tenants,
      revoking,
      receiver,
      archive,
      checkLedger,
      programMark,
      destroy,
    }
  } catch (error) {
    await destroy(true)
    throw error
  }
}

/** Ends of subtasks to one webhook of each project, and in one project all that happens to them, in order. */
async function createWebhooks(apiUrl: string, { name, key }: Tenant, receiver: WebhookReceiver): Promise<void> {
  const webhooks: [string, object][] = [[`${name}-ends`, { events: ['subtask.completed', 'subtask.failed', 'subtask.cancelled'] }]]
  if (name === 'second') webhooks.push([`${name}-all`, { events: ['subtask.*'], ordered: true }])
  for (const [webhook, fields] of webhooks) {
    const create = () =>
      fetch(`${apiUrl}/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: receiver.url(webhook), ...fields }),
      })
    let answer = await create()
    // While ten processes start, a connection can take longer than a process waits for it. No connection is cut yet, so nothing was stored.
    for (let tries = 1; answer.status === 503 && tries < CREATE_TRIES_MAX; tries += 1) {
      await sleep(Number(answer.headers.get('retry-after') ?? 1) * 1_000)
      answer = await create()
    }
    if (answer.status !== 201) throw new Error(`POST /webhooks answered ${answer.status}: ${await answer.text()}`)
    receiver.expect(webhook, ((await answer.json()) as { secret: string }).secret)
  }
}
