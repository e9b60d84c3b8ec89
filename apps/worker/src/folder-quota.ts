import { measureFolder } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

/** Between two measurements of one folder, in milliseconds. */
const EVERY_MS = 10_000
/** A measurement that takes long is followed by a pause of this many times its duration. */
const REST_SHARE = 20

/** The limit of what the folder of a run takes up on the disk of its worker. It is checked now and then, so a run can exceed it until the next look. */
export class FolderQuota {
  readonly #bytesMax: number
  readonly #path: string
  #nextMs = Number.NEGATIVE_INFINITY

  constructor({ settings }: Pick<WorkerDeps, 'settings'>, path: string) {
    this.#bytesMax = settings.RUN_FOLDER_BYTES_MAX
    this.#path = path
  }

  /**
   * Measures the folder if that is due.
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
      for await (const _ of measureFolder(this.#path, size)) if (size.bytes > this.#bytesMax) break
    } finally {
      this.#nextMs = nowMs + Math.max(EVERY_MS, (performance.now() - beganMs) * REST_SHARE)
    }
    if (size.bytes <= this.#bytesMax) return null
    return `Its folder takes up ${size.bytes} bytes or more, and may take up ${this.#bytesMax} (RUN_FOLDER_BYTES_MAX of the worker).`
  }
}
