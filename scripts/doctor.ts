import { constants } from 'node:fs'
import { access, readFile, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { requireUsableDatabase } from '@muster/db'
import type { Settings } from '@muster/domain'
import { findLocalPostgres, hasLocalDatabase, isPortFree, isRunning, takenBy } from '@muster/local-postgres'
import { findSandbox } from '@muster/runners'
import { configuredDatabase, postgresDir } from './system/database.ts'
import { loadEnvFile, prepareEnvironment } from './system/environment.ts'
import type { RunRecord } from './system/run-record.ts'

const HELP = `Usage: npm run doctor

Looks at what npm start needs on this machine: settings, data folder, disk, database with its login, roles and migrations, port, keys of model
providers. Prints a line of JSON for each thing; muster doctor shows the lines for people, beside what it sees of a running server.
`

/** One thing that was looked at, as apps/cli shows it. */
interface Finding {
  name: string
  state: 'ok' | 'problem' | 'unknown'
  detail: string
  /** What to do about it. */
  advice?: string
}

const DISK_BYTES_MIN = 2 * 1024 ** 3
const PROVIDER_KEYS = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'] as const

async function lookAtDataFolder(dataDir: string): Promise<Finding[]> {
  const folder = await nearestFolder(dataDir)
  const { bavail, bsize } = await statfs(folder)
  const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GB free in ${folder}`
  const disk: Finding =
    bavail * bsize < DISK_BYTES_MIN
      ? { name: 'disk', state: 'problem', detail: free, advice: 'Make room for at least 2 GB, or choose another folder with DATA_DIR.' }
      : { name: 'disk', state: 'ok', detail: free }
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    return [{ name: 'data folder', state: 'ok', detail: folder === dataDir ? dataDir : `${dataDir} is made by the first start` }, disk]
  } catch (error) {
    const advice = 'Start Muster as the user who owns it, make it writable, or choose another folder with DATA_DIR.'
    return [{ name: 'data folder', state: 'problem', detail: (error as Error).message, advice }, disk]
  }
}

/** The folder, or the one above it that exists. */
async function nearestFolder(folder: string): Promise<string> {
  const exists = await access(folder).then(
    () => true,
    () => false,
  )
  return exists || folder === dirname(folder) ? folder : await nearestFolder(dirname(folder))
}

async function lookAtDatabase(settings: Settings): Promise<Finding> {
  const name = 'database, roles'
  const configured = configuredDatabase(settings)
  const folder = postgresDir(settings)
  const running = configured === undefined ? await findLocalPostgres(folder) : undefined
  if (configured === undefined && running === undefined) {
    const detail = (await hasLocalDatabase(folder)) ? 'the embedded PostgreSQL is stopped; npm start starts it' : 'none yet; npm start makes it'
    return { name, state: 'unknown', detail }
  }
  try {
    await requireUsableDatabase(configured?.appUrl ?? (await (running as NonNullable<typeof running>).urlFor('muster', 'muster')), {
      needsQueues: true,
      pooledUrl: configured?.pooledUrl,
    })
    const pooled = configured?.pooledUrl === undefined ? 'DATABASE_URL answers' : 'DATABASE_URL and DATABASE_DIRECT_URL answer'
    return {
      name,
      state: 'ok',
      detail: `${configured === undefined ? 'the embedded PostgreSQL answers' : pooled}; login, roles and migrations are those of this version`,
    }
  } catch (error) {
    return { name, state: 'problem', detail: (error as Error).message }
  }
}

async function lookAtPort({ HOST, PORT, DATA_DIR }: Settings): Promise<Finding> {
  const name = `port ${PORT}`
  if (PORT === 0) return { name: 'port', state: 'ok', detail: 'a free one is taken' }
  if (await isPortFree(PORT, HOST)) return { name, state: 'ok', detail: 'free' }
  const record = await readFile(join(DATA_DIR, 'run.json'), 'utf8').then(
    (text) => JSON.parse(text) as RunRecord,
    () => undefined,
  )
  if (record !== undefined && isRunning(record.starter)) return { name, state: 'ok', detail: `used by this Muster, process ${record.starter.pid}` }
  return { name, state: 'problem', detail: `taken${takenBy(PORT)}`, advice: 'End that process, or start Muster with another PORT.' }
}

function lookAtProviders(settings: Settings): Finding {
  const name = 'model providers'
  const found = PROVIDER_KEYS.filter((key) => settings[key] !== undefined)
  if (found.length > 0) return { name, state: 'ok', detail: found.join(', ') }
  return { name, state: 'unknown', detail: `none: set ${PROVIDER_KEYS.join(' or ')} in .env for runs that call a model` }
}

function lookAtSandbox(settings: Settings): Finding {
  const { sandbox, problem } = findSandbox(settings, process.env)
  if (sandbox !== null) {
    const { memoryBytes, processes, problem } = sandbox.limits
    const limits = [
      ...(memoryBytes === null ? [] : [`${Math.round(memoryBytes / 1024 ** 2)} MiB of memory`]),
      ...(processes === null ? [] : [`${processes} processes`]),
    ]
    const detail = `bubblewrap works${limits.length === 0 ? '' : `; at most ${limits.join(' and ')} in a sandbox`}`
    return problem === null ? { name: 'sandbox', state: 'ok', detail } : { name: 'sandbox', state: 'unknown', detail: `${detail}. ${problem}` }
  }
  if (settings.SANDBOX !== 'required') return { name: 'sandbox', state: 'unknown', detail: `programs of subtasks run without one. ${problem}` }
  return { name: 'sandbox', state: 'problem', detail: problem, advice: 'A worker does not start (SANDBOX=required): see docs/sandbox.md.' }
}

async function look(): Promise<Finding[]> {
  loadEnvFile()
  let settings: Settings
  try {
    settings = prepareEnvironment(process.env).settings
  } catch (error) {
    return [{ name: 'settings', state: 'problem', detail: (error as Error).message, advice: 'Mend .env or the environment; .env.example lists every setting.' }]
  }
  const [folder, database, port] = await Promise.all([lookAtDataFolder(settings.DATA_DIR), lookAtDatabase(settings), lookAtPort(settings)])
  return [{ name: 'settings', state: 'ok', detail: 'valid' }, ...folder, database, port, lookAtProviders(settings), lookAtSandbox(settings)]
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help === true) return console.log(HELP)
  for (const finding of await look()) console.log(JSON.stringify(finding))
}

await main()
