import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Bench } from './figure.ts'
import { keep } from './live.ts'
import type { Answer, Call } from './serve.ts'

const START_TIMEOUT_MS = 60_000
const END_TIMEOUT_MS = 10_000
const END_WITH_PARENT = fileURLToPath(new URL('../processes/end-with-parent.ts', import.meta.url))

/** A process that was started for a measurement. */
export interface Child extends AsyncDisposable {
  pid: number
  /** What it has logged so far. */
  log(): string
  /** Ends it at once, as a crash would. Resolves when it is gone. */
  kill(): Promise<void>
}

/** A process that answers calls (see `serve`). */
export interface ServingChild extends Child {
  call<Result>(method: string, input?: unknown): Promise<Result>
}

/** Environment and flags that a process is started with. */
export interface ProcessSettings {
  env: Record<string, string>
  /** Flags of Node. Not NODE_OPTIONS, which whatever the process starts would have as well. */
  nodeFlags: readonly string[]
}

const NO_SETTINGS: ProcessSettings = { env: {}, nodeFlags: [] }

let started = 0

interface Launched extends Child {
  process: ChildProcess
  gone: Promise<string>
}

function launch(bench: Bench, name: string, script: string, options: ProcessSettings & { input?: unknown }): Launched {
  started += 1
  const logFile = join(bench.folder, `${name}-${started}.log`)
  const output = openSync(logFile, 'a', 0o600)
  const profile =
    bench.profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${bench.profileFolder}`, `--cpu-prof-name=${name}-${started}.cpuprofile`]
  const child = fork(script, options.input === undefined ? [] : [JSON.stringify(options.input)], {
    // Nothing of the caller's settings reaches what is measured: it runs as shipped but for what a figure says.
    // Sources without their types are kept between starts, as `npm start` keeps them.
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '', ...options.env },
    execArgv: [...options.nodeFlags, ...profile, '--import', END_WITH_PARENT],
    serialization: 'advanced',
    // To a file, as a service would: a pipe would have to be read by the process that measures.
    stdio: ['ignore', output, output, 'ipc'],
  })
  closeSync(output)
  const gone = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    const isGone = await Promise.race([gone, sleep(END_TIMEOUT_MS, null, { ref: false })])
    if (isGone === null) child.kill('SIGKILL')
    await gone
  }
  return keep(
    {
      pid: child.pid ?? 0,
      process: child,
      gone,
      log: () => readFileSync(logFile, 'utf8'),
      async kill() {
        child.kill('SIGKILL')
        await gone
      },
    },
    end,
  )
}

async function within<T>(child: Launched, what: string, ready: Promise<T>): Promise<T> {
  const timer = new AbortController()
  const late = sleep(START_TIMEOUT_MS, undefined, { signal: timer.signal, ref: false }).then(
    () => Promise.reject(new Error(`${what} was not ready after ${START_TIMEOUT_MS / 1000} s:\n${lastLines(child.log())}`)),
    () => new Promise<never>(() => {}),
  )
  const dead = child.gone.then((how) => Promise.reject(new Error(`${what} ended while it started (${how}):\n${lastLines(child.log())}`)))
  try {
    return await Promise.race([ready, late, dead])
  } finally {
    timer.abort()
    dead.catch(() => {})
  }
}

/** Starts a program of the product and waits until it logs that it is up. */
export async function startProgram(bench: Bench, name: string, script: string, settings: ProcessSettings, isUp: (log: string) => boolean): Promise<Child> {
  const child = launch(bench, name, script, settings)
  let isOver = false
  const up = async () => {
    while (!isOver && !isUp(child.log())) await sleep(10)
  }
  try {
    await within(child, name, up())
  } catch (error) {
    await child[Symbol.asyncDispose]()
    throw error
  } finally {
    isOver = true
  }
  return child
}

/** Starts a process of this folder that calls `serve`, and waits until it does. */
export async function startServing(bench: Bench, name: string, script: string, input: unknown, settings = NO_SETTINGS): Promise<ServingChild> {
  const child = launch(bench, name, fileURLToPath(new URL(`../processes/${script}`, import.meta.url)), { ...settings, input })
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let calls = 0
  const ready = new Promise<void>((resolve) => {
    child.process.on('message', (message) => {
      const answer = message as Answer
      if (answer.id === 0) return resolve()
      const call = waiting.get(answer.id)
      waiting.delete(answer.id)
      if (answer.error === undefined) call?.resolve(answer.result as never)
      else call?.reject(new Error(`${name}: ${answer.error}`))
    })
  })
  void child.gone.then((how) => {
    for (const call of waiting.values()) call.reject(new Error(`${name} ended (${how}):\n${lastLines(child.log())}`))
  })
  try {
    await within(child, name, ready)
  } catch (error) {
    await child[Symbol.asyncDispose]()
    throw error
  }
  return Object.assign(child, {
    call<Result>(method: string, input?: unknown): Promise<Result> {
      calls += 1
      const id = calls
      return new Promise<Result>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        child.process.send({ id, method, input } satisfies Call, (error) => {
          if (error !== null) reject(error)
        })
      })
    },
  })
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-20).join('\n')
}
