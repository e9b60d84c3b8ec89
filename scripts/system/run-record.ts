import { constants } from 'node:fs'
import { access, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { identifyProcess, isRunning, makeFolder, type ProcessIdentity, waitUntil } from '@muster/local-postgres'
import { ExplainedError } from './errors.ts'

/** How long a process of an earlier start may take to end after a signal. */
const LEFTOVER_GRACE_MS = 5_000

/**
 * The processes that run on a DATA_DIR: `npm start` and its children. A start after everything was killed finds there what still runs. Each pid is
 * stored with the start time of its process, because the system reuses pids.
 */
export type RunRecord = { starter: ProcessIdentity; address: string | null; children: Record<string, ProcessIdentity> }

/**
 * Takes DATA_DIR for this process, and ends what a killed start left running there.
 *
 * @throws ExplainedError while the earlier start is alive
 */
export async function takeDataDir(dataDir: string, log: (line: string) => void): Promise<RunFile> {
  await makeDataDir(dataDir)
  const earlier = await readRecord(dataDir)
  if (earlier !== undefined && earlier.starter.pid !== process.pid) {
    if (isRunning(earlier.starter)) throw alreadyRunning(dataDir, earlier)
    await endLeftovers(earlier, log)
  }
  const file = new RunFile(dataDir, log)
  await file.save().catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOSPC' ? diskFull(dataDir) : error
  })
  return file
}

/** The record of this run; saved at every change. */
export class RunFile {
  readonly #dataDir: string
  readonly #log: (line: string) => void
  readonly #record: RunRecord
  #saving: Promise<void> = Promise.resolve()

  constructor(dataDir: string, log: (line: string) => void) {
    this.#log = log
    this.#dataDir = dataDir
    const starter = identifyProcess(process.pid)
    if (starter === undefined)
      throw new ExplainedError(
        'This system does not show when a process was started (no /proc and no ps): install ps (procps), so that Muster can identify its processes.',
      )
    this.#record = { starter, address: null, children: {} }
  }

  /** Stores a child, or removes it if there is no such process. */
  setChild(name: string, pid: number | undefined): void {
    const child = pid === undefined ? undefined : identifyProcess(pid)
    if (child === undefined) delete this.#record.children[name]
    else this.#record.children[name] = child
    this.#saveSoon()
  }

  setAddress(address: string): void {
    this.#record.address = address
    this.#saveSoon()
  }

  /** Writes the record atomically. Concurrent calls write one after the other. */
  save(): Promise<void> {
    const write = async () => {
      const path = recordPath(this.#dataDir)
      await writeFile(`${path}.new`, `${JSON.stringify(this.#record)}\n`, { mode: 0o600 })
      await rename(`${path}.new`, path)
    }
    this.#saving = this.#saving.then(write, write)
    return this.#saving
  }

  /** The record matters only after a crash, so a full disk must not end the running processes. */
  #saveSoon(): void {
    this.save().catch((error: unknown) => this.#log(`cannot write ${recordPath(this.#dataDir)}: ${(error as Error).message}`))
  }

  /** Releases DATA_DIR. */
  async remove(): Promise<void> {
    // A failure has been logged.
    await this.#saving.catch(() => undefined)
    await rm(recordPath(this.#dataDir), { force: true })
  }
}

/** Creates the folder, and checks that it can be written to. */
async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir)
    await access(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw diskFull(dataDir)
    const owner = await stat(dataDir).then(
      ({ uid }) => (uid === process.getuid?.() ? '' : `; it belongs to another user (uid ${uid})`),
      () => '',
    )
    throw new ExplainedError(
      `The data folder ${dataDir} cannot be used (${(error as Error).message}${owner}): start Muster as the user who owns it, make it writable, or choose another one (DATA_DIR=folder npm start).`,
    )
  }
}

function diskFull(dataDir: string): ExplainedError {
  return new ExplainedError(`The disk of ${dataDir} is full: make room on it, or choose another folder with DATA_DIR.`)
}

function alreadyRunning(dataDir: string, record: RunRecord): ExplainedError {
  const where = record.address === null ? '' : ` at ${record.address}`
  return new ExplainedError(
    `Muster is already running from ${dataDir}${where} (process ${record.starter.pid}): use that one, stop it first, or start a second one beside it with another folder and port (DATA_DIR=.muster-2 PORT=7301 npm start).`,
  )
}

async function endLeftovers(record: RunRecord, log: (line: string) => void): Promise<void> {
  const alive = (): [string, ProcessIdentity][] => Object.entries(record.children).filter(([, child]) => isRunning(child))
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const [name, child] of alive()) {
      log(`ending the ${name} that an earlier start left behind (process ${child.pid})`)
      // Both lead a process group, so that their children end with them.
      process.kill(signal === 'SIGKILL' ? -child.pid : child.pid, signal)
    }
    if (await waitUntil(() => alive().length === 0, LEFTOVER_GRACE_MS)) return
  }
}

async function readRecord(dataDir: string): Promise<RunRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(recordPath(dataDir), 'utf8'))
    return isRecord(record) ? record : undefined
  } catch {
    return undefined
  }
}

function recordPath(dataDir: string): string {
  return join(dataDir, 'run.json')
}

function isRecord(value: unknown): value is RunRecord {
  return typeof value === 'object' && value !== null && 'starter' in value && 'children' in value && typeof value.children === 'object'
}
