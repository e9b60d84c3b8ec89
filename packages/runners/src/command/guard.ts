import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** The little a runner needs of a logger; pino's has it. */
export interface RunnerLog {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
}

/**
 * Watches over the process groups of a worker's programs: when the worker dies, however it dies, what is still registered
 * is killed, and so is what has left its group. Node cannot ask the kernel for that, so a small process of its own holds a pipe to the
 * worker and waits for its end.
 */
export interface Guard {
  /** Registers a process group; resolves when the guard has registered it, so that nothing runs before. */
  add(pgid: number): Promise<void>
  /** Forgets a process group. Call it as soon as the group is gone: its number may be given to a stranger. */
  remove(pgid: number): void
  /** Kills what is still registered and ends the guard. */
  close(): Promise<void>
  /** What the variable MUSTER_GUARD of everything that it watches is set to: a process that leaves its group takes it along. */
  readonly mark: string
  /** The guard's process id, for tests and logs; undefined while there is none. */
  readonly pid: number | undefined
}

export interface GuardOptions {
  log: RunnerLog
  shell?: string
}

/** How long a guard that could not even start is left alone before the next try. */
const RESTART_DELAY_MS = 500

/**
 * Only built-ins until the end, so that it stays one process of about a megabyte. Group 0 (its own), 1 (`kill -- -1` is every process) and
 * what is not a number are never taken. At the end it also looks, where there is a /proc, for what has the mark in its environment: three
 * times, since a process that is killed may have started another just before.
 */
const GUARD_SCRIPT = `
trap '' HUP INT TERM QUIT PIPE USR1 USR2
groups=' '
while read -r line; do
  group=\${line#?}
  case $group in '' | *[!0-9]* | 0* | 1) continue ;; esac
  case $line in
    +*) case $groups in *" $group "*) ;; *) groups="$groups$group " ;; esac ;;
    -*) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
for sweep in 1 2 3; do
  for file in $(grep -lsaz "^MUSTER_GUARD=$1$" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
done
`

interface Incarnation {
  readonly pid: number | undefined
  /** Writes lines; false where the process did not take them. */
  tell(lines: string): Promise<boolean>
  end(): void
  /** Resolves when the process is no more. */
  readonly gone: Promise<void>
}

/** Starts the guard of this process. If it is killed, it is restarted and receives everything again. */
export function startGuard({ log, shell = '/bin/sh' }: GuardOptions): Guard {
  const groups = new Set<number>()
  const mark = randomUUID()
  let isClosed = false
  let current: Incarnation
  let replaced: Promise<void>
  launch()

  function launch() {
    const startedAt = performance.now()
    const incarnation = startShell(shell, mark)
    current = incarnation
    if (groups.size > 0) void incarnation.tell([...groups].map((pgid) => `+${pgid}\n`).join(''))
    replaced = incarnation.gone.then(async () => {
      if (isClosed) return
      log.warn({ guard_pid: incarnation.pid }, 'the guard of the running programs ended; starting another')
      // One that ended at once would end at once again; without a pause the worker would do nothing but start guards.
      if (performance.now() - startedAt < RESTART_DELAY_MS) await delay(RESTART_DELAY_MS, undefined, { ref: false })
      if (!isClosed) launch()
    })
  }

  return {
    mark,
    async add(pgid) {
      if (!Number.isSafeInteger(pgid) || pgid <= 1) throw new RangeError(`${pgid} is not the number of a process group that may be killed`)
      groups.add(pgid)
      for (let tries = 0; tries < 3 && !isClosed; tries += 1) {
        const whenReplaced = replaced
        if (await current.tell(`+${pgid}\n`)) return
        await whenReplaced
      }
      groups.delete(pgid)
      throw new Error(isClosed ? 'The guard is closed.' : `The guard of the running programs could not be started with ${shell}.`)
    },
    remove(pgid) {
      if (groups.delete(pgid)) void current.tell(`-${pgid}\n`)
    },
    async close() {
      isClosed = true
      current.end()
      await current.gone
    },
    get pid() {
      return current.pid
    },
  }
}

/** One process of the guard, in a session of its own: a signal to the worker's group does not reach it. */
function startShell(shell: string, mark: string): Incarnation {
  const child = spawn(shell, ['-c', GUARD_SCRIPT, 'muster-guard', mark], { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  // Absent where the process ran out of file descriptors.
  const pipe = child.stdin as Socket | undefined
  // The guard and its pipe must not keep the worker alive.
  child.unref()
  pipe?.unref()
  pipe?.on('error', () => {})
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  return {
    pid: child.pid,
    tell: (lines) => new Promise((resolve) => (pipe?.writable ? pipe.write(lines, (error) => resolve(error == null)) : resolve(false))),
    end() {
      // The caller that ends it waits for its end.
      child.ref()
      pipe?.end()
    },
    gone,
  }
}
