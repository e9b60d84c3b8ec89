import { constants } from 'node:fs'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isDiskFailure, KEPT } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

/**
 * Creates DATA_DIR if it is missing, and checks that workspaces can be created in it. Its parent has to exist: Node's recursive `mkdir` never returns
 * where the system refuses a folder with ENOENT, as `/proc` does.
 *
 * @throws Error one sentence with what to do
 */
export async function requireDataDir(dataDir: string): Promise<void> {
  const workspaces = resolve(dataDir, 'workspaces')
  try {
    for (const path of [resolve(dataDir), workspaces]) {
      await mkdir(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
    }
    await access(workspaces, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new Error(
      `The data folder ${resolve(dataDir)} cannot be used (${(error as Error).message}): make it writable for the worker, or set DATA_DIR to another folder.`,
    )
  }
}

function folder({ settings }: WorkerDeps): string {
  return resolve(join(settings.DATA_DIR, 'workspaces'))
}

const PROBE_BYTES = 65_536
const DISK_PAUSE_MS = 5_000

/** The pause of claims after a run was released because the disk was full. Without it, the run would be claimed and released over and over. */
export class DiskPause {
  readonly #deps: WorkerDeps
  #untilMs: number | null = null

  constructor(deps: WorkerDeps) {
    this.#deps = deps
  }

  begin(): void {
    this.#untilMs = performance.now() + DISK_PAUSE_MS
  }

  /** Whether claims may go on: the pause is over and the disk has room. */
  async isOver(): Promise<boolean> {
    if (this.#untilMs === null) return true
    if (performance.now() < this.#untilMs || !(await hasDiskRoom(this.#deps))) return false
    this.#untilMs = null
    this.#deps.log.info({}, 'the disk of this worker has room again')
    return true
  }
}

async function hasDiskRoom(deps: WorkerDeps): Promise<boolean> {
  const path = join(folder(deps), `.probe-${deps.workerId}`)
  try {
    await mkdir(folder(deps), { recursive: true })
    await writeFile(path, Buffer.alloc(PROBE_BYTES))
    return true
  } catch (error) {
    if (!isDiskFailure(error)) throw error
    return false
  } finally {
    await rm(path, { force: true })
  }
}

/** The folder of one attempt. A second attempt finds nothing of the first. */
export function workspacePath(deps: WorkerDeps, subtaskId: string, attempt: number): string {
  return join(folder(deps), `${subtaskId}-${attempt}`)
}

/** Keeps the folder of an attempt that ended to wait. Replaces the one that a lost attempt may have left. */
export async function keepWorkspace(deps: WorkerDeps, path: string, subtaskId: string): Promise<void> {
  const kept = workspacePath(deps, subtaskId, KEPT)
  await rm(kept, { recursive: true, force: true })
  await rename(path, kept)
}

export async function makeWorkspace(path: string): Promise<void> {
  await mkdir(path, { recursive: true })
}

export async function removeWorkspace(deps: WorkerDeps, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error) => deps.log.warn({ err: error, path }, 'could not remove a workspace'))
}
