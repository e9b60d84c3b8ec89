import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/**
 * The identity of a process. The system reuses pids, so a signal to a remembered pid may end another program. A process is remembered with the moment
 * it started, and both are checked before it gets a signal.
 */
export type ProcessIdentity = {
  pid: number
  /** When it started, as the system writes it; equal for the same process only. */
  startedAs: string
}

/** The identity of a running process, or undefined when no process has that pid. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || pid < 1) return undefined
  if (process.platform === 'linux') {
    const stat = readText(`/proc/${pid}/stat`)
    if (stat === undefined) return undefined
    // The second field is the program's name in brackets and may itself hold spaces and brackets: count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, startTicks] = [fields[0], fields[19]]
    if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined
    // Ticks count from the machine's start, so they repeat after a reboot; the boot id does not.
    return { pid, startedAs: `${(readText('/proc/sys/kernel/random/boot_id') ?? '').trim()}/${startTicks}` }
  }
  const lines = ps(['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)])
  const found = /^(\S+)\s+(.+)$/.exec(lines[0]?.trim() ?? '')
  return found?.[2] === undefined || found[1]?.startsWith('Z') ? undefined : { pid, startedAs: found[2] }
}

/** Whether the remembered process is running. */
export function isRunning(remembered: ProcessIdentity): boolean {
  return identifyProcess(remembered.pid)?.startedAs === remembered.startedAs
}

/** Whether any process has this pid, even one that has ended and was not collected by its parent yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Program and arguments of a process; undefined when it is gone or this user may not see it. */
export function commandOf(pid: number): string[] | undefined {
  if (process.platform === 'linux') {
    const raw = readText(`/proc/${pid}/cmdline`)
    return raw === undefined || raw === '' ? undefined : raw.replace(/\0+$/, '').split('\0')
  }
  const line = ps(['-ww', '-o', 'command=', '-p', String(pid)])[0]
  return line === undefined || line === '' ? undefined : [line]
}

/** The processes that have `folder` as their working folder, as those of a PostgreSQL server have its data folder. Linux only; elsewhere none. */
export function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid) && pid > 0)
  return pids.filter((pid) => readLink(`/proc/${pid}/cwd`) === folder)
}

/** The process that listens on a TCP port of this machine, if this user may see it. Linux only; elsewhere undefined. */
export function listenerOf(port: number): { pid: number; command: string } | undefined {
  if (process.platform !== 'linux') return undefined
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  const inodes = new Set<string>()
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (readText(table) ?? '').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      const listening = fields[3] === '0A'
      if (listening && fields[1]?.endsWith(`:${wanted}`) && fields[9] !== undefined) inodes.add(`socket:[${fields[9]}]`)
    }
  }
  if (inodes.size === 0) return undefined
  for (const pid of readdirSync('/proc')
    .map(Number)
    .filter((number) => number > 0)) {
    for (const descriptor of listFolder(`/proc/${pid}/fd`)) {
      if (inodes.has(readLink(`/proc/${pid}/fd/${descriptor}`) ?? '')) return { pid, command: (commandOf(pid) ?? ['?']).join(' ').slice(0, 120) }
    }
  }
  return undefined
}

/**
 * Waits until a condition holds; checks it every few milliseconds.
 *
 * @returns false when it did not hold within `timeoutMs`
 */
export async function waitUntil(holds: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!holds()) {
    if (performance.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}

/** Sends a signal. Ignores a process that is gone, and throws every other failure. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function ps(options: string[]): string[] {
  try {
    return execFileSync('ps', options, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')
  } catch {
    return []
  }
}
