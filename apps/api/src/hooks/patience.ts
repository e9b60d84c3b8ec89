/**
 * Waits for an answer until the caller's time limit, then answers null. The content of an answer is recorded as delivered, so both must happen or
 * neither: right before its commit, `work` asks whether the caller still waits. If so, the answer waits for that commit.
 *
 * @param late receives the error of work that fails after the caller has gone
 */
export async function answerWithin<T>(ms: number, work: (isAwaited: () => boolean) => Promise<T>, late: (error: unknown) => void): Promise<T | null> {
  let isOver = false
  let isCommitting = false
  const isAwaited = () => {
    isCommitting ||= !isOver
    return !isOver
  }
  const running = work(isAwaited)
  const { promise: timeIsUp, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(
    () => {
      if (isCommitting) return
      isOver = true
      running.then(() => late(new Error('it ended, too late')), late)
      resolve(null)
    },
    Math.max(0, ms),
  )
  try {
    return await Promise.race([running, timeIsUp])
  } finally {
    clearTimeout(timer)
  }
}
