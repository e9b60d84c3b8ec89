import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, removeLocalPostgres } from '@muster/local-postgres'
import { atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'
import { keep } from '../instrument/live.ts'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const READY = 'Muster is up: http'
const START_TIMEOUT_MS = 60_000
const END_TIMEOUT_MS = 20_000

/** Runs `npm start` on a data folder until it says that all is up, and answers how long that took. */
async function start(dataDir: string) {
  // A port that is named, as the default is: where none is, the worker waits until the API has one.
  const port = await freePort()
  const startMs = performance.now()
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    // With default settings: an empty value overrides `.env` and means the default.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      PORT: `${port}`,
      DATABASE_URL: '',
      MIGRATE_DATABASE_URL: '',
      NO_UPDATE_NOTIFIER: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = once(child, 'exit')
  const system = keep({ tookMs: 0 }, async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    // npm may be gone before what it started: the record of the run is removed by the last one.
    const isGone = await Promise.race([gone.then(() => true), sleep(END_TIMEOUT_MS, false, { ref: false })])
    if (!isGone) child.kill('SIGKILL')
    for (let waitedMs = 0; waitedMs < END_TIMEOUT_MS && (await children(dataDir)) !== null; waitedMs += 50) await sleep(50)
  })
  let said = ''
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        said += data.toString()
        if (said.includes(READY)) resolve()
      })
    }
    void gone.then(() => reject(new Error(`npm start ended:\n${said}`)))
    setTimeout(() => reject(new Error(`npm start was not ready after ${START_TIMEOUT_MS / 1_000} s:\n${said}`)), START_TIMEOUT_MS).unref()
  })
  try {
    await ready
  } catch (error) {
    await system[Symbol.asyncDispose]()
    throw error
  }
  system.tookMs = performance.now() - startMs
  return system
}

/** The pids of what a data folder's system runs, as it notes them itself; null when none runs. */
async function children(dataDir: string): Promise<Record<string, { pid: number }> | null> {
  try {
    return (JSON.parse(await readFile(join(dataDir, 'run.json'), 'utf8')) as { children: Record<string, { pid: number }> }).children
  } catch {
    return null
  }
}

/** Megabytes of memory that a process holds. By `ps`, which there is on every system. */
function residentMb(pid: number | undefined): number {
  const kilobytes = Number(spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim())
  if (!(kilobytes > 0)) throw new Error(`process ${pid} is not there any more`)
  return kilobytes / 1024
}

async function measureOnce(bench: Bench, dataDir: string) {
  await using system = await start(dataDir)
  await sleep(bench.size(8_000, 2_000))
  const processes = await children(dataDir)
  return { tookMs: system.tookMs, apiMb: residentMb(processes?.api?.pid), workerMb: residentMb(processes?.worker?.pid) }
}

export const startUp: Figure = {
  name: 'start-up',
  title: 'npm start to ready, with its database already there, and the resident memory of API and worker when idle',
  raised: '',
  async measure(bench) {
    const rows = new Rows()
    const dataDir = join(bench.folder, 'npm-start')
    await using _ = keep({}, () => removeLocalPostgres(join(dataDir, 'postgres')))
    {
      // The first start makes the database.
      await using _first = await start(dataDir)
    }
    for (let run = 1; run <= bench.runs; run += 1) {
      const { tookMs, apiMb, workerMb } = await measureOnce(bench, dataDir)
      rows.add({ label: 'npm start to ready', unit: 'ms', better: 'lower', goal: atMost(3_000, 'ms') }, null, tookMs)
      rows.add({ label: 'resident memory of the API, idle', unit: 'MB', better: 'lower', goal: atMost(130, 'MB') }, null, apiMb)
      rows.add({ label: 'resident memory of the worker, idle', unit: 'MB', better: 'lower', goal: atMost(95, 'MB') }, null, workerMb)
      bench.log(`run ${run}: ${tookMs.toFixed(0)} ms, API ${apiMb.toFixed(0)} MB, worker ${workerMb.toFixed(0)} MB`)
    }
    return rows.list()
  },
}
