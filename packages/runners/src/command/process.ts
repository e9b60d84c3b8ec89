import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import type { Cgroup } from '../sandbox/cgroups.ts'
import type { ConfinedProgram, Sandbox, SandboxOptions } from '../sandbox/sandbox.ts'
import type { Guard } from './guard.ts'
import type { Ending } from './outcome.ts'
import { isGroupRunning, killMarked, signalGroup, signalMembers } from './process-group.ts'
import { markForPrograms } from './process-mark.ts'

/**
 * The program starts behind a gate: the shell waits for a line on descriptor 3 before it becomes the program, and that line
 * is written once the guard knows the group. If the worker dies in between, the shell reads the end of the pipe and exits.
 * Program and arguments are positional parameters; nothing of them is ever read as shell. The first parameter marks the process (`process-mark.ts`): dash
 * and busybox set the limit with `-w`, bash with `-x`.
 */
const GATE_SCRIPT = 'read -r _ <&3 || exit 125; exec 3<&-; [ -z "$1" ] || ulimit -w "$1" 2>/dev/null || ulimit -x "$1" 2>/dev/null || :; shift; exec "$@"'
const GATE_NAME = 'muster-gate'

/** SIGKILL comes early enough for everything to be gone two seconds after the stop. */
const KILL_AFTER_MS = 1_250
const GROUP_POLL_MS = 30
/** How long a pipe may stay silent after the program's end before it counts as held open by a stranger. */
const SILENCE_MS = 200
/** How long to read from a process that never stops writing. */
const LAST_WORDS_MS = 1_000

/** What tells the processes of one attempt from all others, on this machine and on every other. */
export interface ProcessMarks {
  MUSTER_SUBTASK_ID: string
  MUSTER_ATTEMPT: string
}

/** The same for a check, which belongs to no attempt. */
export interface CheckMarks {
  MUSTER_CHECK_ID: string
  MUSTER_CHECK_TRY: string
}

export interface ProgramOptions {
  program: string
  args: readonly string[]
  cwd: string
  /** The whole environment of the program. */
  env: Record<string, string> & (ProcessMarks | CheckMarks)
  guard: Guard
  /** What confines it, and how. Absent or null: nothing does. */
  confined?: ({ by: Sandbox } & Omit<ConfinedProgram, 'program' | 'args' | 'cwd'>) | null
  /** Milliseconds between SIGTERM and SIGKILL; default: 1,250. */
  killAfterMs?: number
}

/** A program that has been let through the gate. */
export interface Program {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** SIGTERM to the group, SIGKILL after `killAfterMs`. The first caller's reason is the one that is kept. */
  end(reason: NonNullable<Ending['endedBy']>): void
  /** Resolves when the program has exited, its whole group is gone and its output has been read. Never rejects. */
  readonly ended: Promise<Ending>
}

/** The program could not be started; `isTransient` where trying again may help. */
export class StartError extends Error {
  readonly isTransient: boolean

  constructor(message: string, isTransient: boolean) {
    super(message)
    this.name = 'StartError'
    this.isTransient = isTransient
  }
}

/**
 * Starts a program in a process group of its own, watched by the guard. In a sandbox, nothing outlives its first process, not even for last words.
 *
 * @throws StartError when there is no process, or no guard for it
 */
export async function startProgram({ program, args, cwd, env, guard, confined = null, killAfterMs = KILL_AFTER_MS }: ProgramOptions): Promise<Program> {
  const [started, ...rest] = confined === null ? [program, ...args] : argvOf(confined, { program, args, cwd })
  const cgroup = confined === null ? null : await openCgroup(confined.by)
  const child = await spawnGate(started, rest, cwd, { ...env, MUSTER_GUARD: guard.mark }).catch(async (error) => {
    await cgroup?.remove()
    throw error
  })
  const pgid = child.pid as number
  const [stdin, stdout, stderr, gate] = child.stdio as unknown as [Writable, Readable, Readable, Writable]
  // A program may close any of its pipes at any time; writing to one is then not an accident.
  for (const stream of [stdin, stdout, stderr, gate]) stream.on('error', () => {})

  const marks = marksOf(env)
  let endedBy: Ending['endedBy'] = null
  let isLeaderGone = false
  let killTimer: NodeJS.Timeout | undefined

  const exited = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => {
      isLeaderGone = true
      resolve({ ...(confined === null ? { code, signal } : endOfConfined(code, signal)), endedBy })
    })
  })

  const ended = (async () => {
    const ending = await exited
    // After SIGTERM the rest of the group has the same time as its leader. After an exit of its own accord it has the time to
    // pass on what the leader said last, as the `tee` at the end of a pipe does, and no other business.
    if (endedBy !== null) while (killTimer !== undefined && isGroupRunning(pgid)) await delay(GROUP_POLL_MS)
    else await Promise.all([quiet(stdout, LAST_WORDS_MS), quiet(stderr, LAST_WORDS_MS)])
    clearTimeout(killTimer)
    signalGroup(pgid, 'SIGKILL')
    guard.remove(pgid)
    // Processes that left the group are searched for only when all must stop, and when one still holds the pipes.
    if (endedBy !== null) await killMarked(marks)
    const listenMs = endedBy === null ? LAST_WORDS_MS : SILENCE_MS
    await Promise.all([quiet(stdout, listenMs), quiet(stderr, listenMs)])
    if (endedBy === null && !(stdout.closed && stderr.closed)) await killMarked(marks)
    for (const stream of [stdin, stdout, stderr, gate]) stream.destroy()
    const exceededMemoryBytes = (await cgroup?.exceededMemory()) ?? null
    await cgroup?.remove()
    return exceededMemoryBytes === null ? ending : { ...ending, exceededMemoryBytes }
  })()

  try {
    await guard.add(pgid)
    // The gate is still closed: the program never runs outside of it.
    await cgroup?.enter(pgid).catch(refuseLimits)
  } catch (error) {
    signalGroup(pgid, 'SIGKILL')
    stdout.resume()
    stderr.resume()
    await ended
    throw new StartError((error as Error).message, true)
  }
  gate.end('go\n')

  return {
    stdin,
    stdout,
    stderr,
    end(reason) {
      if (endedBy !== null || isLeaderGone) return
      endedBy = reason
      // The leader of a sandbox would take everything in it along at once.
      if (confined === null) signalGroup(pgid, 'SIGTERM')
      else signalMembers(pgid, 'SIGTERM')
      killTimer = setTimeout(() => {
        killTimer = undefined
        signalGroup(pgid, 'SIGKILL')
      }, killAfterMs)
    },
    ended,
  }
}

/** @throws StartError where the kernel refuses: a program does not run without the limits that its sandbox is said to have. */
export function openCgroup(sandbox: Sandbox): Promise<Cgroup | null> {
  return sandbox.openCgroup().catch(refuseLimits)
}

function refuseLimits(error: Error): never {
  throw new StartError(`The limits of its sandbox could not be set: ${error.message}.`, true)
}

/** How an entry of the operator's is confined: not at all where there is no sandbox, or the entry has `sandbox: false`. */
export function confinedBy(sandbox: Sandbox | null | undefined, { sandbox: wanted, ...options }: SandboxOptions, folders: readonly string[]) {
  return sandbox == null || wanted === false ? null : { ...options, by: sandbox, folders }
}

function argvOf({ by, ...options }: NonNullable<ProgramOptions['confined']>, what: Pick<ProgramOptions, 'program' | 'args' | 'cwd'>): [string, ...string[]] {
  return [by.program, ...by.argumentsOf({ ...options, ...what }, GATE_NAME)]
}

/** bwrap exits as shells do: with 128 and the number of the signal that ended the program. */
function endOfConfined(code: number | null, signal: NodeJS.Signals | null): Pick<Ending, 'code' | 'signal'> {
  const number = (code ?? 0) - 128
  const name = number > 0 ? Object.entries(constants.signals).find(([, each]) => each === number)?.[0] : undefined
  return name === undefined ? { code, signal } : { code: null, signal: name }
}

function marksOf(env: ProgramOptions['env']): ProcessMarks | CheckMarks {
  const { MUSTER_SUBTASK_ID, MUSTER_ATTEMPT, MUSTER_CHECK_ID, MUSTER_CHECK_TRY } = env
  return MUSTER_CHECK_ID === undefined || MUSTER_CHECK_TRY === undefined
    ? ({ MUSTER_SUBTASK_ID, MUSTER_ATTEMPT } as ProcessMarks)
    : { MUSTER_CHECK_ID, MUSTER_CHECK_TRY }
}

const SANDBOX_FAILURE = 'bwrap: '

/** What the shell says when it passed the gate and could not become the program, for example for want of its interpreter; or bwrap, without a sandbox. */
export function gateFailure(ending: Ending, errorTail: string): string | null {
  if (ending.code === 1 && errorTail.startsWith(SANDBOX_FAILURE)) return `The sandbox could not be made: ${errorTail.slice(SANDBOX_FAILURE.length)}`
  return (ending.code === 126 || ending.code === 127) && errorTail.startsWith(`${GATE_NAME}: `) ? errorTail.slice(GATE_NAME.length + 2) : null
}

function spawnGate(program: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      reject(new StartError(`${program} could not be started in ${cwd}: ${error.message}`, !PERMANENT_CODES.has(error.code ?? '')))
    try {
      const child = spawn('/bin/sh', ['-c', GATE_SCRIPT, GATE_NAME, String(markForPrograms() ?? ''), program, ...args], {
        cwd,
        env,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      })
      child.once('error', fail)
      child.once('spawn', () => resolve(child))
    } catch (error) {
      fail(error as NodeJS.ErrnoException)
    }
  })
}

/** Too long a command line, no shell, no folder: tomorrow it will be the same. */
const PERMANENT_CODES = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'E2BIG', 'EINVAL', 'ERR_INVALID_ARG_VALUE'])

/**
 * Resolves when a stream has been read to its end, has been silent for a while, or has gone on for `maxMs`: a process that
 * left the group may hold the pipe open for ever.
 */
async function quiet(stream: Readable, maxMs: number): Promise<void> {
  if (stream.closed) return
  const startedAt = performance.now()
  const closed = new Promise<true>((resolve) => stream.once('close', () => resolve(true)))
  let hasData = true
  const onData = () => {
    hasData = true
  }
  stream.on('data', onData)
  while (hasData && performance.now() - startedAt < maxMs) {
    hasData = false
    // Data that waits in the pipe is read between a timer and an immediate, so a busy worker does not mistake it for silence.
    const silence = delay(SILENCE_MS).then(() => immediate(false))
    if (await Promise.race([closed, silence])) return
  }
  stream.off('data', onData)
}
