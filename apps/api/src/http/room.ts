import { DomainError } from '@muster/domain'
import { type Ctx, replayIfAnswered, takeRoom } from '@muster/usecases'
import { LOOK_MS, within } from './deadline.ts'

const TOO_LATE = 'The database did not answer in time. Nothing has been stored: send the request again in a moment.'

/**
 * Does work whose content has room in what its project and its run may store.
 *
 * @param bytes the length of the content
 * @param withinMs longest time to look for room; the work may have more, to wait for a result
 * @throws DomainError `quota_exceeded`, or `unavailable` for a look that takes too long
 * @throws Replay for a request without room that was answered before
 */
export async function withRoom<T>(ctx: Ctx, bytes: number, work: () => Promise<T>, withinMs = LOOK_MS): Promise<T> {
  const endsAtMs = performance.now() + withinMs
  const release = await inTime(withinMs, takeRoom(ctx, bytes)).catch(async (error: unknown) => {
    if (error instanceof DomainError && error.code === 'quota_exceeded') await within(Math.max(0, endsAtMs - performance.now()), replayIfAnswered(ctx))
    throw error
  })
  try {
    return await work()
  } finally {
    release()
  }
}

/** Room that comes too late is given back, because no work follows. */
async function inTime(ms: number, taking: ReturnType<typeof takeRoom>): ReturnType<typeof takeRoom> {
  let isLate = false
  taking.then(
    (release) => isLate && release(),
    () => {},
  )
  try {
    return await within(ms, taking, TOO_LATE)
  } catch (error) {
    isLate = true
    throw error
  }
}
