import { readFileSync } from 'node:fs'

/**
 * The mark of every process that works for a subtask: a hard limit on file locks (RLIMIT_LOCKS) below the worker's own. Linux has not enforced that limit
 * since 2.4.25, so the mark costs nothing. Every child inherits it: with an empty environment, in another session, after its parent has ended. A
 * process can lower it further and never raise it, unless it has CAP_SYS_RESOURCE.
 */
const FIRST_MARK = 1_000_000

/** The hard limit on file locks of a process; Infinity for none. Null where there is no /proc, or the process has ended. */
export function lockLimitOf(pid: number | 'self'): number | null {
  try {
    const limit = /^Max file locks +\S+ +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]
    return limit === undefined ? null : limit === 'unlimited' ? Infinity : Number(limit)
  } catch {
    return null
  }
}

/** The limit that marks the programs of this process; null where processes cannot be marked. A worker inside of a subtask is marked itself. */
export function markForPrograms(): number | null {
  const own = lockLimitOf('self')
  return own === null ? null : Math.max(0, Math.min(FIRST_MARK, own - 1))
}

/** Whether a process works for a subtask that this machine runs; null when the process has ended. */
export function isMarked(pid: number): boolean | null {
  const limit = lockLimitOf(pid)
  return limit === null ? null : limit < (lockLimitOf('self') ?? Infinity)
}
