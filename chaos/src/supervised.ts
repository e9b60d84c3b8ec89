import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, type WriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { LEAN } from '../../scripts/system/supervised-process.ts'
import type { DatabaseHop } from './database-hop.ts'
import type { Findings } from './findings.ts'
import type { Seat } from './network.ts'

const RESTART_AFTER_MS = 300
const READY_TIMEOUT_MS = 60_000
const ERROR_LEVEL = 50
/** What Node says of its inspector. */
const INSPECTOR_LINE = /^Debugger |^For help, see: /

export interface SupervisedOptions {
  name: string
  kind: 'api' | 'worker'
  script: string
  environment: Record<string, string>
  logFile: string
  hop: DatabaseHop
  /** Its network namespace; null where it shares that of this process. */
  seat: Seat | null
  /** The API's, at `host`. */
  port: number | null
  /** Where its memory can be looked at. */
  inspectPort: number | null
  findings: Findings
}

/** One run of a process, from its start to its end. */
export interface Life {
  pid: number
  startedAtMs: number
  readyAtMs: number | null
  endedAtMs: number | null
  /** The signal that the harness sent to end it, if it did. */
  endedBy: 'SIGKILL' | 'SIGTERM' | null
  how: string | null
  workerId: string | null
}

/** A process that is brought back when it ends, as any supervisor does; one that ends without being asked to is a finding. */
export class Supervised {
  readonly options: SupervisedOptions
  readonly lives: Life[] = []
  /** While it was stopped by SIGSTOP: what it did not answer then is no fault of its own. Silent connections to the database excuse nothing. */
  readonly excused: { fromMs: number; toMs: number }[] = []
  /** While nothing got through between its machine and the database. It must answer 503 in time then, but cannot recover. */
  readonly partitions: { fromMs: number; toMs: number }[] = []
  #child: ChildProcess | null = null
  #log: WriteStream
  #isEnding = false
  #ready = Promise.withResolvers<void>()

  constructor(options: SupervisedOptions) {
    this.options = options
    this.#log = createWriteStream(options.logFile, { flags: 'a' })
  }

  get name(): string {
    return this.options.name
  }

  get life(): Life | undefined {
    return this.lives.at(-1)
  }

  /** Where what it serves is reached. */
  get host(): string {
    return this.options.seat?.address ?? '127.0.0.1'
  }

  /** Of an API. */
  get url(): string {
    return `http://${this.host}:${this.options.port}`
  }

  /** The pid while it runs. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  start(): void {
    const { script, environment, seat, inspectPort, findings } = this.options
    const inspected = inspectPort === null ? [] : [`--inspect=${this.host}:${inspectPort}`]
    this.#ready = Promise.withResolvers<void>()
    const [command = '', ...args] = [...(seat?.enter ?? []), process.execPath, ...LEAN, ...inspected, script]
    const child = spawn(command, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    const life: Life = { pid: child.pid ?? -1, startedAtMs: Date.now(), readyAtMs: null, endedAtMs: null, endedBy: null, how: null, workerId: null }
    this.lives.push(life)
    const write = (line: string) => this.#log.write(`${line}\n`)
    createInterface({ input: child.stdout }).on('line', (line) => {
      write(line)
      this.#hear(line, life)
    })
    createInterface({ input: child.stderr }).on('line', (line) => {
      write(`stderr: ${line}`)
      if (inspectPort !== null && INSPECTOR_LINE.test(line)) return
      findings.broke('no process writes to standard error', `${this.name}: ${line.slice(0, 300)}`)
    })
    child.on('exit', (code, signal) => {
      this.#child = null
      life.endedAtMs = Date.now()
      life.how = signal ?? `code ${code}`
      write(`--- ended: ${life.how}`)
      this.#judge(life, code, signal)
      if (!this.#isEnding) setTimeout(() => !this.#isEnding && this.start(), RESTART_AFTER_MS)
    })
  }

  /** Resolves when the current life has said that it is ready. */
  async ready(): Promise<void> {
    const late = setTimeout(
      () => this.#ready.reject(new Error(`${this.name} was not ready within ${READY_TIMEOUT_MS / 1000} s, see ${this.options.logFile}`)),
      READY_TIMEOUT_MS,
    )
    await this.#ready.promise.finally(() => clearTimeout(late))
  }

  /** Sends a signal to the current life. False when there is none. */
  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT', life = this.life): boolean {
    if (this.#child === null || life === undefined || life !== this.life) return false
    if (signal === 'SIGKILL' || signal === 'SIGTERM') life.endedBy = signal === 'SIGTERM' && life.endedBy === 'SIGKILL' ? 'SIGKILL' : signal
    return this.#child.kill(signal)
  }

  /** Ends it for good. Answers whether it ended within `graceMs` by itself. */
  async end(signal: 'SIGTERM' | 'SIGKILL', graceMs: number): Promise<boolean> {
    this.#isEnding = true
    const child = this.#child
    if (child !== null) {
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      this.signal(signal)
      // A stopped process takes SIGTERM only when it goes on.
      child.kill('SIGCONT')
      const inTime = await Promise.race([ended.then(() => true), new Promise<false>((resolve) => setTimeout(resolve, graceMs, false))])
      if (!inTime) {
        this.signal('SIGKILL')
        await ended
        return false
      }
    }
    this.#log.end()
    return true
  }

  #hear(line: string, life: Life): void {
    let entry: { level?: number; msg?: string; worker_id?: string; err?: { message?: string; code?: string } }
    try {
      entry = JSON.parse(line)
    } catch {
      return
    }
    if (entry.msg === 'ready' || entry.msg === 'listening') {
      life.readyAtMs = Date.now()
      life.workerId = entry.worker_id ?? null
      this.#ready.resolve()
    }
    if ((entry.level ?? 0) >= ERROR_LEVEL && entry.msg !== 'did not stop in time') {
      this.options.findings.broke('no process reports a defect (log level error)', `${this.name}: ${line.slice(0, 700)}`)
    }
  }

  #judge(life: Life, code: number | null, signal: string | null): void {
    const { findings } = this.options
    findings.looked('a process ends only when it is asked to', 1)
    if (life.endedBy === null)
      findings.broke('a process ends only when it is asked to', `${this.name} (pid ${life.pid}) ended with ${signal ?? `code ${code}`}`)
  }
}
