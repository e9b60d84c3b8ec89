import { eachUpdate } from '../each-update.ts'
import type { Run, RunUpdate } from '../port.ts'

/** Updates of a run between their arrival and the model call that tells of them. */
export interface Inbox {
  /** What has come since the last time, in order. */
  take(): RunUpdate[]
  readonly hasNew: boolean
  /**
   * A signal for one thing that the run does, a model call or a tool: aborted when the run is to stop, and when an update arrives that is
   * not to wait. Already aborted where one is there.
   */
  activity(): AbortSignal
  close(): void
}

/** Why an activity was aborted that was not the run's end. */
const INTERRUPTED = 'interrupted'

/** @param onFailed no further updates will come, and none should have failed */
export function openInbox(run: Pick<Run, 'updates' | 'signal'>, onFailed: (error: unknown) => void): Inbox {
  const waiting: RunUpdate[] = []
  let current = new AbortController()
  const closing = new AbortController()
  eachUpdate(run.updates, closing.signal, (update) => {
    waiting.push(update)
    if (update.delivery === 'interrupt') current.abort(INTERRUPTED)
  }).catch(onFailed)

  return {
    take: () => waiting.splice(0),
    get hasNew() {
      return waiting.length > 0
    },
    activity() {
      current = new AbortController()
      if (waiting.some(({ delivery }) => delivery === 'interrupt')) current.abort(INTERRUPTED)
      return AbortSignal.any([run.signal, current.signal])
    },
    close: () => closing.abort(),
  }
}
