import { readdir, readFile } from 'node:fs/promises'

/** What processes have used since they began, their ended children included. Linux only. */
export interface Usage {
  processorMs: number
  contextSwitches: number
}

/** Clock ticks a second in /proc, the same on every Linux that Node runs on. */
const TICKS = 100

/** Sums over processes and their descendants. */
export async function usageOf(pids: readonly number[]): Promise<Usage> {
  const usage = { processorMs: 0, contextSwitches: 0 }
  for (const pid of await familyOf(pids)) {
    const stat = (await read(`/proc/${pid}/stat`)).split(') ')[1]?.split(' ') ?? []
    // Fields 14 to 17: its own time in programs and in the system, and that of the children that have ended.
    usage.processorMs += [11, 12, 13, 14].reduce((sum, place) => sum + Number(stat[place] ?? 0), 0) * (1_000 / TICKS)
    for (const task of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      for (const [, count] of (await read(`/proc/${pid}/task/${task}/status`)).matchAll(/^(?:non)?voluntary_ctxt_switches:\s+(\d+)$/gm)) {
        usage.contextSwitches += Number(count)
      }
    }
  }
  return usage
}

/** Megabytes that processes and their descendants hold, with what they share counted once. */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  let kilobytes = 0
  for (const pid of await familyOf(pids)) kilobytes += Number(/^Pss:\s+(\d+)/m.exec(await read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)
  return kilobytes / 1_024
}

/** The processes and all that they have started, directly or not. */
async function familyOf(pids: readonly number[]): Promise<number[]> {
  const parents = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), Number((await read(`/proc/${name}/stat`)).split(') ')[1]?.split(' ')[1]))
  }
  const family = new Set(pids)
  for (let size = 0; size !== family.size; ) {
    size = family.size
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid)
  }
  return [...family]
}

/** Empty for a process that has ended meanwhile. */
async function read(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '')
}
