import { DomainError, isTerminal, type Subtask, type SubtaskStatus } from '@muster/domain'
import type { ApiDeps } from '../../api-deps.ts'
import { LOOK_MS, within } from '../../http/deadline.ts'
import { createWaiters } from '../../http/waiters.ts'

/** A request that waits has to arrive as fast as any other. */
export const WAIT_BODY_DEADLINE_MS = 5_000
/** How long a caller may wait for the end of a subtask. */
export const WAIT_SECONDS_MAX = 60
/** Longest time a handler may take that waits so long. */
export const WAIT_DEADLINE_MS = (WAIT_SECONDS_MAX + 10) * 1000
/** A notification announces an end. This interval covers lost ones. */
const LOOK_EVERY_MS = 1_000

/**
 * @param spentMs of the time for a look, before it began
 * @throws DomainError `unavailable` for a look that takes too long
 */
export const inTimeForLook = <T>(look: Promise<T>, spentMs = 0): Promise<T> => within(Math.max(0, LOOK_MS - spentMs), look)

/** One request that waits. */
export interface Wait {
  ms: number
  gone: AbortSignal
  /** Judges the caller's credential again, before anything that was seen later than the first look is handed out. */
  authorizeAgain(): Promise<void>
}

/** Waits until a subtask has ended, the time is up, its caller has hung up or the process stops, and answers with what it is then. Holds no transaction. */
export async function waitForEnd<T extends { status: SubtaskStatus }>(deps: ApiDeps, id: string, look: () => Promise<T>, wait: Wait): Promise<T> {
  return await waitUntil(deps, [id], look, ({ status }) => isTerminal(status), wait)
}

/** What is known of a subtask only while it is accepted. */
export function onlyAccepted({
  runnerReason,
  warnings,
}: {
  runnerReason?: string | undefined
  warnings?: string[] | undefined
}): Pick<Subtask, 'runnerReason' | 'warnings'> {
  return { ...(runnerReason === undefined ? {} : { runnerReason }), ...(warnings === undefined ? {} : { warnings }) }
}

/**
 * Spawns a subtask and waits for its end. During an outage it answers with what was accepted: without the id the caller would not find its subtask.
 *
 * @param id of the subtask that `spawn` makes, or has made
 * @param read reads it later
 */
export async function spawnAndWait(deps: ApiDeps, id: string, spawn: () => Promise<Subtask>, read: () => Promise<Subtask>, wait: Wait): Promise<Subtask> {
  let accepted: Subtask | undefined
  const look = async () => {
    if (accepted !== undefined) return { ...(await inTimeForLook(read())), ...onlyAccepted(accepted) }
    accepted = await spawn()
    return accepted
  }
  try {
    return await waitForEnd(deps, id, look, wait)
  } catch (error) {
    const isOutage = deps.isUnavailable(error) || (error instanceof DomainError && error.code === 'unavailable')
    if (accepted === undefined || !isOutage) throw error
    return accepted
  }
}

/** Looks at once, and again whenever one of these may have ended, until `isOver`, or until one of the other reasons to stop waiting. */
export async function waitUntil<T>(
  deps: Pick<ApiDeps, 'endWaiters' | 'stopping'>,
  ids: readonly string[],
  look: () => Promise<T>,
  isOver: (seen: T) => boolean,
  { ms, gone, authorizeAgain }: Wait,
): Promise<T> {
  const deadline = performance.now() + ms
  const ending = createWaiters()
  let mayHaveEnded = false
  // Before the first look, so that no end is missed.
  const unsubscribe = deps.endWaiters.subscribe(ids, () => {
    mayHaveEnded = true
    ending.wake()
  })
  try {
    let seen = await look()
    for (;;) {
      const leftMs = deadline - performance.now()
      if (isOver(seen) || leftMs <= 0 || gone.aborted || deps.stopping.aborted) return seen
      if (!mayHaveEnded) await ending.wait(Math.min(leftMs, LOOK_EVERY_MS), gone, deps.stopping)
      mayHaveEnded = false
      // The query has no effect, so both run at once.
      ;[seen] = await Promise.all([look(), authorizeAgain()])
    }
  } finally {
    unsubscribe()
  }
}
