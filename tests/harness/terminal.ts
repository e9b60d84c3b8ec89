import { type IPty, spawn } from '@lydell/node-pty'
import headless from '@xterm/headless'
import { until, within } from './until.ts'

export interface TerminalOptions {
  env: Record<string, string | undefined>
  columns?: number
  rows?: number
  cwd?: string
}

const open = new Set<Terminal>()
process.on('exit', () => {
  for (const terminal of open) terminal.kill()
})

/** A program in a real pseudo-terminal, and what a person in front of it sees. */
export class Terminal {
  /** Every byte that was written, escape sequences included. */
  raw = ''
  readonly exited: Promise<number>
  readonly #pty: IPty
  readonly #screen: headless.Terminal

  constructor(argv: readonly string[], { env, columns = 100, rows = 30, cwd }: TerminalOptions) {
    const [program = '', ...args] = argv
    this.#screen = new headless.Terminal({ cols: columns, rows, scrollback: 1000, allowProposedApi: true })
    const given = Object.fromEntries(Object.entries({ TERM: 'xterm-256color', ...env }).filter(([, value]) => value !== undefined)) as Record<string, string>
    this.#pty = spawn(program, args, { cols: columns, rows, env: given, ...(cwd === undefined ? {} : { cwd }) })
    open.add(this)
    this.#pty.onData((text) => {
      this.raw += text
      this.#screen.write(text)
    })
    this.exited = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal }) => {
        open.delete(this)
        resolve(signal ? 128 + signal : exitCode)
      })
    })
  }

  /** What is on the screen and above it, without the blanks at the ends of lines. */
  get text(): string {
    const { active } = this.#screen.buffer
    const lines: string[] = []
    for (let index = 0; index < active.length; index += 1) {
      const line = active.getLine(index)
      const shown = line?.translateToString(true) ?? ''
      // A line that was too long for the screen goes on in the next.
      if (line?.isWrapped === true) lines[lines.length - 1] += shown
      else lines.push(shown)
    }
    return lines.join('\n').trimEnd()
  }

  /** Waits until it is shown. */
  async shows(what: string | RegExp): Promise<void> {
    const isShown = () => (typeof what === 'string' ? this.text.includes(what) : what.test(this.text))
    await until(`the terminal shows ${what}`, isShown).catch((error: Error) => {
      throw new Error(`${error.message}\nIt shows:\n${this.text}`)
    })
  }

  type(keys: string): void {
    this.#pty.write(keys)
  }

  /** Types a line and Enter. */
  enter(line: string): void {
    this.#pty.write(`${line}\r`)
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows)
    this.#pty.resize(columns, rows)
  }

  /** The exit code, when everything that was written has been read. */
  async end(): Promise<number> {
    const code = await within(`The end of the program in the terminal, which shows\n${this.text}\n`, 20_000, this.exited)
    await new Promise<void>((resolve) => this.#screen.write('', resolve))
    return code
  }

  kill(): void {
    open.delete(this)
    this.#pty.kill('SIGKILL')
  }
}
