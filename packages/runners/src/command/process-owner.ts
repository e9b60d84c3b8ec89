import { readFileSync, readlinkSync } from 'node:fs'

/** The process that something left on the machine belongs to. Others may have its number at another time or in another container. */
export interface ProcessOwner {
  pid: number
  /** In ticks since the machine started; empty if unknown. */
  startedAt: string
  /** The namespace in which `pid` is valid; empty if unknown. */
  namespace: string
}

/** A process as an owner. */
export function ownerOf(pid: number): ProcessOwner {
  // The name of a program, in parentheses, may have anything in it; the start is the 20th field behind it.
  const stat = orEmpty(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return { pid, startedAt: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '', namespace: namespace() }
}

/** Whether that process is certainly gone. One of another container may be there. */
export function isOwnerGone({ pid, startedAt, namespace: its }: ProcessOwner): boolean {
  return its === namespace() && (!isThere(pid) || ownerOf(pid).startedAt !== startedAt)
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function namespace(): string {
  return orEmpty(() => readlinkSync('/proc/self/ns/pid'))
}

/** Empty where there is no /proc, or the process has ended. */
function orEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
