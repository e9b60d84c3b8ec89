/**
 * Waits for an answer as long as its caller does, and then answers null. What the answer tells is recorded as told, so neither may happen without the
 * other: `work` asks right before its commit, and is told that it is too late, or is waited for to the end of that commit.
 *
 * @param late hears of work that fails after its caller has gone
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
