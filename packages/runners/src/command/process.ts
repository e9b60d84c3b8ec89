import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Guard } from './guard.ts'
import type { Ending } from './outcome.ts'

/**
 * The program starts behind a gate: the shell waits for a line on descriptor 3 before it becomes the program, and that line
 * is written once the guard knows the group. If the worker dies in between, the shell reads the end of the pipe and exits.
 * Program and arguments are positional parameters; nothing of them is ever read as shell.
 */
const GATE_SCRIPT = 'read -r _ <&3 || exit 125; exec 3<&-; exec "$@"'
const GATE_NAME = 'muster-gate'

/** SIGKILL comes early enough for everything to be gone two seconds after the stop. */
export const KILL_AFTER_MS = 1_500
const GROUP_POLL_MS = 20
/** How long a pipe may stay silent after the program's end before it counts as held open by a stranger. */
const SILENCE_MS = 200

export interface ProgramOptions {
  program: string
  args: readonly string[]
  cwd: string
  env: Record<string, string>
  guard: Guard
}

/** A program that has been let through the gate. */
export interface Program {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** SIGTERM to the group, SIGKILL after 1.5 s. The first caller's reason is the one that is kept. */
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
 * Starts a program in a process group of its own, watched by the guard.
 *
 * @throws StartError when there is no process, or no guard for it
 */
export async function startProgram({ program, args, cwd, env, guard }: ProgramOptions): Promise<Program> {
  const child = await spawnGate(program, args, cwd, env)
  const pgid = child.pid as number
  const [stdin, stdout, stderr, gate] = child.stdio as unknown as [Writable, Readable, Readable, Writable]
  // A program may close any of its pipes at any time; writing to one is then not an accident.
  for (const stream of [stdin, stdout, stderr, gate]) stream.on('error', () => {})

  let endedBy: Ending['endedBy'] = null
  let isLeaderGone = false
  let killTimer: NodeJS.Timeout | undefined

  const exited = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => {
      isLeaderGone = true
      resolve({ code, signal, endedBy })
    })
  })

  const ended = (async () => {
    const ending = await exited
    // After SIGTERM the rest of the group has the same time as its leader; after an exit of its own accord it has no business left.
    if (endedBy !== null) while (killTimer !== undefined && isGroupAlive(pgid)) await delay(GROUP_POLL_MS)
    clearTimeout(killTimer)
    signalGroup(pgid, 'SIGKILL')
    guard.remove(pgid)
    stdin.destroy()
    gate.destroy()
    await Promise.all([drained(stdout), drained(stderr)])
    return ending
  })()

  try {
    await guard.add(pgid)
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
      signalGroup(pgid, 'SIGTERM')
      killTimer = setTimeout(() => {
        killTimer = undefined
        signalGroup(pgid, 'SIGKILL')
      }, KILL_AFTER_MS)
    },
    ended,
  }
}

/** What the shell says when it passed the gate and could not become the program, for example for want of its interpreter. */
export function gateFailure(ending: Ending, errorTail: string): string | null {
  return (ending.code === 126 || ending.code === 127) && errorTail.startsWith(`${GATE_NAME}: `) ? errorTail.slice(GATE_NAME.length + 2) : null
}

function spawnGate(program: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      reject(new StartError(`${program} could not be started in ${cwd}: ${error.message}`, !PERMANENT_CODES.has(error.code ?? '')))
    try {
      const child = spawn('/bin/sh', ['-c', GATE_SCRIPT, GATE_NAME, program, ...args], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
      child.once('error', fail)
      child.once('spawn', () => resolve(child))
    } catch (error) {
      fail(error as NodeJS.ErrnoException)
    }
  })
}

/** Too long a command line, no shell, no folder: tomorrow it will be the same. */
const PERMANENT_CODES = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'E2BIG', 'EINVAL', 'ERR_INVALID_ARG_VALUE'])

function signalGroup(pgid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pgid, signal)
  } catch {
    // ESRCH: the group is gone already. EPERM: what is left of it belongs to somebody else by now.
  }
}

function isGroupAlive(pgid: number): boolean {
  try {
    process.kill(-pgid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Resolves when a stream has been read to its end, or has been silent for a while: a process that left the group may hold
 * the pipe open for ever. Then the stream is given up.
 */
async function drained(stream: Readable): Promise<void> {
  if (stream.closed) return
  const closed = new Promise<true>((resolve) => stream.once('close', () => resolve(true)))
  let hasData = false
  const onData = () => {
    hasData = true
  }
  stream.on('data', onData)
  do {
    hasData = false
    // Data that waits in the pipe is read between a timer and an immediate, so a busy worker does not mistake it for silence.
    const isClosed = await Promise.race([closed, delay(SILENCE_MS, false).then(() => new Promise<false>((resolve) => setImmediate(resolve, false)))])
    if (isClosed) return
  } while (hasData)
  stream.destroy()
}
