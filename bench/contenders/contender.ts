import type { Bench } from '../instrument/figure.ts'
import type { Load } from '../instrument/open-loop.ts'
import type { BenchDatabase } from '../instrument/server.ts'

/** What a worker saw of one run. Times as `machineMs`. */
export interface Entry {
  id: string
  agent: string
  attempt: number
  enteredMs: number
  leftMs: number | null
  /** When it was asked to stop. */
  signalledMs: number | null
}

/** What is asked of a worker process. */
export interface Workers {
  capacity: number
  /** How long a run takes; 0 returns at once, null waits until it is asked to stop. */
  runMs: number | null
}

/** A system that runs jobs, ours or a peer, in its own database. */
export interface Contender {
  /** Null is us. */
  name: string | null
  /** A database in which it is installed. */
  prepare(bench: Bench): Promise<BenchDatabase>
  /** Starts its processes: workers, and one that produces jobs. They end with what is answered, the database stays. */
  open(bench: Bench, database: BenchDatabase, workers: Workers): Promise<OpenContender>
}

export interface OpenContender extends AsyncDisposable {
  /** Starts jobs at a fixed schedule, from a process of their own. */
  load(perSecond: number, seconds: number): Promise<Load>
  /** Puts many jobs there at once, then wakes the workers. */
  preload(count: number): Promise<void>
  /** All runs that the workers have entered, once there are that many since the last call. */
  entries(count: number): Promise<Entry[]>
}
