import { readdirSync, readFileSync } from 'node:fs'

/** Signals every process of a group. A group that is gone is no error: to be gone is what a signal is for here. */
export function signalGroup(pgid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pgid, signal)
  } catch {
    // ESRCH: nobody is left. EPERM: what is left runs as somebody else, and is not ours to signal.
  }
}

/**
 * True while a process of the group runs. Ended processes that nobody has collected do not count: where the first process of
 * a container does not collect its orphans, they stay for ever.
 */
export function isGroupRunning(pgid: number): boolean {
  try {
    process.kill(-pgid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return hasRunningMember(pgid) ?? true
}

/** What /proc says; null where there is none. */
function hasRunningMember(pgid: number): boolean | null {
  let pids: string[]
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return null
  }
  return pids.length === 0 ? null : pids.some((pid) => isRunningMember(pid, pgid))
}

function isRunningMember(pid: string, pgid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // "pid (name) state parent group …"; the name may hold anything, also blanks and brackets.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(group) === pgid && state !== 'Z' && state !== 'X'
  } catch {
    // It ended while we were looking.
    return false
  }
}
