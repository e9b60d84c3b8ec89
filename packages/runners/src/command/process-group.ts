import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** Signals every process of a group. A group that is gone is no error: to be gone is what a signal is for here. */
export function signalGroup(pgid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pgid, signal)
  } catch {
    // ESRCH: no process is left. EPERM: the rest runs as another user and cannot be signalled.
  }
}

/** Signals every process of a group but its leader. Only where there is a /proc. */
export function signalMembers(pgid: number, signal: NodeJS.Signals): void {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== pgid && isRunningMember(name, pgid))
  for (const pid of pids) signalProcess(Number(pid), signal)
}

/**
 * True while a process of the group runs. Zombie processes do not count: where the first process of
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

/** A process that is killed may have started another just before. */
const SWEEPS = 3

/**
 * Kills the processes whose environment has all of these variables, wherever they have moved: a process that made a session of its own
 * is out of its group's reach, but takes its environment along. Does nothing where there is no /proc to look into.
 */
export async function killMarked(marks: object): Promise<void> {
  const wanted = Object.entries(marks).map(([name, value]) => Buffer.from(`${name}=${value}\0`))
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const pids = (await readdir('/proc').catch(() => [])).filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    const marked = await Promise.all(pids.map(async (pid) => (hasAll(await environmentOf(pid), wanted) ? [Number(pid)] : [])))
    const found = marked.flat()
    if (found.length === 0) return
    for (const pid of found) signalProcess(pid, 'SIGKILL')
  }
}

function hasAll(environment: Buffer, wanted: Buffer[]): boolean {
  return wanted.every((mark) => environment.includes(mark))
}

/** Empty where the process has ended, or is none of ours. */
function environmentOf(pid: string): Promise<Buffer> {
  return readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0))
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself meanwhile.
  }
}
