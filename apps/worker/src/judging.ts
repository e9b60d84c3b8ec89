import type { Judge } from '@muster/domain'
import { type HeldJudgeJob, type Loop, startLoop } from '@muster/jobs'
import { type Deps, judgeEvaluation } from '@muster/usecases'
import type { RestoreWatch } from './restore-watch.ts'

/** Finds jobs that come due without a notification, such as another try. */
const TAKE_EVERY_MS = 2_000
/** Several of these fit into the time after which a job counts as lost. */
const HOLD_EVERY_MS = 4_000

export interface Judging {
  wake(): void
  /** Aborts the requests to the judge, and releases their jobs. */
  stop(): Promise<void>
}

/** Has the judge evaluate outputs, a few at once. A worker without a judge leaves them to other workers. */
export function startJudging(
  deps: Deps & { judge: Judge | null },
  onError: (what: string) => (error: unknown) => void,
  restores: Pick<RestoreWatch, 'isHeldNow'>,
): Judging {
  const { judge, judgeJobs, settings, log } = deps
  if (judge === null) return { wake: () => undefined, stop: async () => undefined }
  const stopping = new AbortController()
  const held = new Map<HeldJudgeJob, Promise<void>>()

  const work = async (job: HeldJudgeJob) => {
    try {
      const end = await judgeEvaluation(deps, judge, job, stopping.signal)
      log.debug({ evaluation_id: job.evaluationId, attempt: job.attempt, end }, 'judgement ended')
    } catch (error) {
      // The job is no longer held: after a while another try begins, if one is left.
      onError('judge an output')(error)
    } finally {
      held.delete(job)
      takeLoop.wake()
    }
  }
  const take = async () => {
    const free = settings.JUDGE_CONCURRENCY - held.size
    if (free <= 0 || stopping.signal.aborted || (await restores.isHeldNow())) return
    for (const job of await judgeJobs.take(free)) held.set(job, work(job))
  }
  const takeLoop: Loop = startLoop(async () => void (await take()), { everyMs: TAKE_EVERY_MS, onError: onError('take judgements') })
  const holdLoop = startLoop(async () => void (await judgeJobs.hold([...held.keys()])), { everyMs: HOLD_EVERY_MS, onError: onError('hold judgements') })

  return {
    wake: () => takeLoop.wake(),
    async stop() {
      await takeLoop.stop()
      stopping.abort()
      await Promise.all([...held.values(), holdLoop.stop()])
    },
  }
}
