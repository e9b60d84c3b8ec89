import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { BrokenOffError, ExplainedError } from './errors.ts'
import { parseLogLine } from './log-lines.ts'

/** V8's default for the new generation (16 MiB a half) doubles the size of an idle process, and does not make these faster. */
export const LEAN = ['--max-semi-space-size=8']

/** A process that is started again when it crashes. */
export type SupervisedOptions = {
  name: string
  /** The TypeScript file that it runs. */
  script: string
  /** Called at every start: a restart may need what the first start found out, such as the port. */
  environment: () => Record<string, string | undefined>
  /** The `msg` of the log line that reports that it is up. */
  readyMessage: string
  /** Each line it writes. */
  onLine: (line: string) => void
  /** Its pid at every start; undefined when it has ended. */
  onPid: (pid: number | undefined) => void
  /** Receives the messages of the supervisor. */
  log: (line: string) => void
}

/** Pauses before restarts, longer with each crash. A run of a minute counts as recovered. */
const BACKOFF_MS = [250, 1_000, 3_000, 10_000, 30_000]
const RECOVERED_AFTER_MS = 60_000
const READY_TIMEOUT_MS = 60_000
/** How long after its grace a process is killed. */
const KILL_MARGIN_MS = 5_000

/** Runs a process and keeps it running until it is asked to stop. */
export class SupervisedProcess {
  readonly #options: SupervisedOptions
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  #isStopping = false
  #failures = 0
  #restart: NodeJS.Timeout | undefined

  constructor(options: SupervisedOptions) {
    this.#options = options
  }

  /**
   * Starts the process and waits for the line that reports that it is up.
   *
   * @returns that line
   * @throws ExplainedError when the process ends first; the first start is not repeated
   */
  async start(): Promise<Record<string, unknown>> {
    const { name, readyMessage } = this.#options
    return new Promise((resolve, reject) => {
      let isUp = false
      const timer = setTimeout(() => {
        reject(startFailure(name, `it was not up after ${READY_TIMEOUT_MS / 1000} s`))
      }, READY_TIMEOUT_MS)
      this.#spawn(
        (line) => {
          const entry = parseLogLine(line)
          if (isUp || entry?.msg !== readyMessage) return
          isUp = true
          clearTimeout(timer)
          resolve(entry)
        },
        (how) => {
          clearTimeout(timer)
          if (isUp) this.#comeBack(how)
          else reject(this.#isStopping ? new BrokenOffError() : startFailure(name, how))
        },
      )
    })
  }

  /** Ends the process with SIGTERM, and kills it if it takes longer than `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#restart)
    const child = this.#child
    if (child === undefined) return
    child.kill('SIGTERM')
    const timer = setTimeout(() => {
      this.#options.log(`the ${this.#options.name} did not end within ${Math.round(graceMs / 1000)} s and is killed`)
      this.kill()
    }, graceMs + KILL_MARGIN_MS)
    await this.#ended
    clearTimeout(timer)
  }

  /** Ends the process and everything in its process group at once. */
  kill(): void {
    this.#isStopping = true
    clearTimeout(this.#restart)
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      this.#child?.kill('SIGKILL')
    }
  }

  #spawn(onLine: (line: string) => void, onEnd: (how: string) => void): void {
    const { script, environment } = this.#options
    // A process group of its own: Ctrl-C in a terminal reaches only this process, which then ends everything in order.
    const child = spawn(process.execPath, [...LEAN, script], { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: environment() })
    this.#child = child
    this.#options.onPid(child.pid)
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
        this.#options.onLine(line)
        onLine(line)
      })
    }
    const startedAt = performance.now()
    this.#ended = new Promise((resolve) => {
      let isOver = false
      const end = (how: string): void => {
        if (isOver) return
        isOver = true
        this.#child = undefined
        this.#options.onPid(undefined)
        if (performance.now() - startedAt > RECOVERED_AFTER_MS) this.#failures = 0
        resolve()
        onEnd(how)
      }
      child.once('error', (error) => end(error.message))
      // `close` comes after the last lines, which give the reason; `exit` does not. But a grandchild may hold the pipes open.
      child.once('close', (code, signal) => end(describeEnd(code, signal)))
      child.once('exit', (code, signal) => setTimeout(end, 500, describeEnd(code, signal)).unref())
    })
  }

  #comeBack(how: string): void {
    if (this.#isStopping) return
    const { name, log } = this.#options
    const delayMs = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)] ?? 0
    this.#failures += 1
    log(`the ${name} has ended (${how}); starting it again in ${delayMs / 1000} s`)
    this.#restart = setTimeout(() => {
      this.#spawn(
        () => undefined,
        (again) => this.#comeBack(again),
      )
    }, delayMs)
  }
}

function startFailure(name: string, how: string): ExplainedError {
  return new ExplainedError(`The ${name} did not start (${how}); its output above gives the reason.`)
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`
}
