import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { within } from './until.ts'

/** A line that a process has written; `fields` where it is a JSON object, as its log lines are. */
export interface LogLine {
  raw: string
  fields: Record<string, unknown>
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface ChildOptions {
  /** What messages call it. */
  name: string
  argv: readonly string[]
  env: Record<string, string | undefined>
  cwd?: string
}

const STARTED_WITHIN_MS = 30_000
const alive = new Set<Child>()

// Whatever ends this process, nothing that it started may go on.
process.on('exit', () => {
  for (const child of alive) child.killGroup()
})

/** A process under test: a real one, with its log kept and its end awaited. */
export class Child {
  readonly name: string
  readonly pid: number
  readonly lines: LogLine[] = []
  /** Resolves when it has ended and everything it wrote has been read. */
  readonly exited: Promise<Exit>
  readonly #process: ChildProcess
  #listeners = new Set<() => void>()
  #exit: Exit | null = null

  constructor({ name, argv, env, cwd }: ChildOptions) {
    const [program = '', ...args] = argv
    this.name = name
    // A process group of its own, so that all of it can be killed at once. With the cache of compiled TypeScript it starts in half the processor time.
    const { NODE_COMPILE_CACHE } = process.env
    this.#process = spawn(program, args, { env: { NODE_COMPILE_CACHE, ...env } as NodeJS.ProcessEnv, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    this.pid = this.#process.pid ?? 0
    alive.add(this)
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (raw) => {
        this.lines.push({ raw, fields: parse(raw) })
        this.#tell()
      })
    }
    this.exited = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        if (this.#exit !== null) return
        this.#exit = { code, signal }
        alive.delete(this)
        this.#tell()
        resolve(this.#exit)
      }
      this.#process.once('close', end)
      this.#process.once('error', (error) => {
        this.lines.push({ raw: error.message, fields: {} })
        end(null, null)
      })
      // A process that it started may hold its pipes open; do not wait for it.
      this.#process.once('exit', (code, signal) => setTimeout(() => end(code, signal), 1_000).unref())
    })
  }

  get hasExited(): boolean {
    return this.#exit !== null
  }

  get text(): string {
    return this.lines.map((line) => line.raw).join('\n')
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.hasExited) this.#process.kill(signal)
  }

  /** SIGKILL to the process and to what stayed in its group. */
  killGroup(): void {
    if (this.hasExited || this.pid === 0) return
    try {
      process.kill(-this.pid, 'SIGKILL')
    } catch {
      this.#process.kill('SIGKILL')
    }
  }

  /** The first line at or after `from` that fits. @throws Error with the log, when the process ends or the time is up before it comes */
  async line(fits: string | ((line: LogLine) => boolean), { from = 0, timeoutMs = STARTED_WITHIN_MS } = {}): Promise<LogLine> {
    const isFitting = typeof fits === 'string' ? (line: LogLine) => line.fields.msg === fits : fits
    const what = typeof fits === 'string' ? `"${fits}"` : 'the awaited line'
    let next = from
    const found = new Promise<LogLine>((resolve, reject) => {
      const look = () => {
        for (; next < this.lines.length; next += 1) {
          const line = this.lines[next] as LogLine
          if (isFitting(line)) return done(() => resolve(line))
        }
        if (this.#exit !== null) done(() => reject(new Error(`${this.name} ended (${JSON.stringify(this.#exit)}) without ${what}:\n${this.text}`)))
      }
      const done = (settle: () => void) => {
        this.#listeners.delete(look)
        settle()
      }
      this.#listeners.add(look)
      look()
    })
    return await within(`${this.name}: ${what}`, timeoutMs, found)
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals, timeoutMs = 20_000): Promise<Exit> {
    this.kill(signal)
    try {
      return await within(`The end of ${this.name} after ${signal}`, timeoutMs, this.exited)
    } catch (error) {
      this.killGroup()
      throw new Error(`${(error as Error).message}\n${this.text}`)
    }
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

function parse(raw: string): Record<string, unknown> {
  if (!raw.startsWith('{')) return {}
  try {
    return JSON.parse(raw) as Record<string, unknown>
  } catch {
    return {}
  }
}
