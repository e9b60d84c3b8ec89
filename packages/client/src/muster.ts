import { Api } from './api.ts'
import { type Work, Worker, type WorkerOptions } from './worker/worker.ts'

/** A client of one Muster, for one key. It holds no connection and needs no closing. */
export class Muster extends Api {
  /** Works on the subtasks of a runner, until it is stopped: `muster.worker('external', async (run) => answer(run.prompt))`. */
  worker(runner: string, work: Work, options: WorkerOptions = {}): Worker {
    return new Worker(runner, work, options, this.transport, (key) => new Api({ ...this.options, key }))
  }
}
