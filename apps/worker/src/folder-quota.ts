import { measureFolder } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

/** Between two measurements of one run, in milliseconds. */
const EVERY_MS = 10_000
/** A measurement that takes long is followed by a pause of this many times its duration. */
const REST_SHARE = 20

/**
 * The limit of what the folders of a run take up on the disk of its worker: its workspace, unless that is a client's, and what its runner made beside it. It is
 * checked now and then, so a run can exceed it until the next look.
 */
export class FolderQuota {
  readonly #bytesMax: number
  readonly #paths: string[] = []
  #nextMs = Number.NEGATIVE_INFINITY

  constructor({ settings }: Pick<WorkerDeps, 'settings'>) {
    this.#bytesMax = settings.RUN_FOLDER_BYTES_MAX
  }

  add(path: string): void {
    this.#paths.push(path)
  }

  /**
   * Measures the folders if that is due.
   *
   * @param nowMs of the process's steady clock
   * @returns why the run has to end; null if it goes on
   */
  async look(nowMs: number): Promise<string | null> {
    if (nowMs < this.#nextMs) return null
    // No other look begins before this one has ended.
    this.#nextMs = Number.POSITIVE_INFINITY
    const size = { files: 0, bytes: 0 }
    const beganMs = performance.now()
    try {
      for (const path of this.#paths) for await (const _ of measureFolder(path, size)) if (size.bytes > this.#bytesMax) break
    } finally {
      this.#nextMs = nowMs + Math.max(EVERY_MS, (performance.now() - beganMs) * REST_SHARE)
    }
    if (size.bytes <= this.#bytesMax) return null
    return `Its folders take up ${size.bytes} bytes or more, and may take up ${this.#bytesMax} (RUN_FOLDER_BYTES_MAX of the worker).`
  }
}
