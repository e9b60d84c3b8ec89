import { isTerminal, isTerminalSubtaskEvent, type Subtask } from '@muster/domain'
import type { ApiDeps } from '../../api-deps.ts'
import { LOOK_MS, within } from '../../http/deadline.ts'
import { createWaiters } from '../../http/waiters.ts'

/** How long a caller may wait for the end of a subtask. */
export const WAIT_SECONDS_MAX = 60
/** Longest time a handler may take that waits so long. */
export const WAIT_DEADLINE_MS = (WAIT_SECONDS_MAX + 10) * 1000
/** An event announces the end of a subtask. This interval covers delayed events. */
const LOOK_EVERY_MS = 1_000

/**
 * @param spentMs of the time for a look, before it began
 * @throws DomainError `unavailable` for a look that takes too long
 */
export const inTimeForLook = <T>(look: Promise<T>, spentMs = 0): Promise<T> => within(Math.max(0, LOOK_MS - spentMs), look)

/** A query whose answer is sent only if the caller's credential is still valid. The query has no effect, so both run at once. */
export const lookAgain =
  <T>(look: () => Promise<T>, authorizeAgain: () => Promise<void>): (() => Promise<T>) =>
  async () =>
    (await Promise.all([look(), authorizeAgain()]))[0]

/** Waits until a subtask has ended, the time is up, its caller has hung up or the process stops, and answers with what it is then. Holds no transaction. */
export async function waitForEnd(deps: ApiDeps, subtask: Subtask, look: () => Promise<Subtask>, waitMs: number, gone: AbortSignal): Promise<Subtask> {
  const about = { projectId: subtask.projectId, subjectIds: [subtask.id], isRelevant: isTerminalSubtaskEvent }
  return await waitUntil(deps, about, look, ({ status }) => isTerminal(status), waitMs, gone)
}

/** Looks again at each event of its subjects that counts, until `isOver`, or until one of the other reasons to stop waiting. */
export async function waitUntil<T>(
  deps: ApiDeps,
  about: { projectId: string; subjectIds: readonly string[]; isRelevant: (eventType: string) => boolean },
  look: () => Promise<T>,
  isOver: (seen: T) => boolean,
  waitMs: number,
  gone: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + waitMs
  const ending = createWaiters()
  let hasUndelivered = false
  const tell = () => {
    hasUndelivered = true
    ending.wake()
  }
  const unsubscribes = about.subjectIds.map((subjectId) =>
    deps.feed.subscribe({ projectId: about.projectId, subjectId }, (event) => {
      if (about.isRelevant(event.type)) tell()
    }),
  )
  // What ended before that is not published: it is looked for once more.
  if (!deps.feed.isReady()) void deps.feed.ready().then(tell)
  try {
    for (;;) {
      hasUndelivered = false
      const seen = await look()
      const leftMs = deadline - performance.now()
      if (isOver(seen) || leftMs <= 0 || gone.aborted || deps.stopping.aborted) return seen
      if (!hasUndelivered) await ending.wait(Math.min(leftMs, LOOK_EVERY_MS), gone, deps.stopping)
    }
  } finally {
    for (const unsubscribe of unsubscribes) unsubscribe()
  }
}
