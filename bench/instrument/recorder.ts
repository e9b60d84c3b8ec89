import { setTimeout as sleep } from 'node:timers/promises'
import type { Entry } from '../contenders/contender.ts'
import { machineMs } from './clock.ts'

/** Records the runs of a worker process, in the same way for all contenders. */
export class Recorder {
  #entries: Entry[] = []
  #left = 0

  /** Enters a run, lasts as long as requested, or until `signal`, and leaves. */
  async run(entry: Pick<Entry, 'id' | 'agent' | 'attempt'>, runMs: number | null, signal: AbortSignal): Promise<void> {
    const noted: Entry = { ...entry, enteredMs: machineMs(), leftMs: null, signalledMs: null }
    this.#entries.push(noted)
    const leave = () => {
      noted.leftMs = machineMs()
      this.#left += 1
    }
    if (runMs === 0) return leave()
    signal.addEventListener('abort', () => {
      noted.signalledMs = machineMs()
    })
    // An hour is as good as never here.
    await sleep(runMs ?? 3_600_000, undefined, { signal }).catch(() => undefined)
    leave()
  }

  /** The methods by which the process that measures gets at the entries. */
  readonly methods = {
    count: () => ({ entered: this.#entries.length, left: this.#left }),
    take: () => {
      const taken = this.#entries
      this.#entries = []
      this.#left = 0
      return taken
    },
  }
}
