import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline'
import type { WriteStream } from 'node:tty'

interface Typing {
  prompt: string
  onLine: (line: string) => void
  /** Ctrl-C on an empty line, Ctrl-D, or a terminal that has gone. */
  onLeave: () => void
}

/** A line at the bottom of the terminal that can be typed in while text appears above it. */
export class TypingLine {
  readonly #readline: Interface
  readonly #output: WriteStream
  #isClosed = false

  constructor(input: NodeJS.ReadStream, output: WriteStream, { prompt, onLine, onLeave }: Typing) {
    this.#output = output
    this.#readline = createInterface({ input, output, terminal: true, prompt })
    this.#readline.on('line', (line) => {
      onLine(line)
      if (!this.#isClosed) this.#readline.prompt()
    })
    this.#readline.on('SIGINT', () => {
      if (this.#readline.line === '') return onLeave()
      // As in a shell: what was typed is given up.
      this.#readline.write(null, { ctrl: true, name: 'e' })
      this.#readline.write(null, { ctrl: true, name: 'u' })
    })
    this.#readline.on('close', () => {
      if (!this.#isClosed) onLeave()
    })
    this.#readline.prompt()
  }

  /** Has whole lines written above. What is typed stays, also where it takes several rows. */
  above(write: () => void): void {
    const rows = this.#isClosed ? 0 : this.#clear()
    write()
    if (this.#isClosed) return
    // The interface expects its cursor as many rows below the prompt as it was before.
    this.#output.write('\n'.repeat(rows))
    this.#readline.prompt(true)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#clear()
    this.#readline.close()
  }

  /** Removes the prompt and what is typed from the screen. Returns how many rows the cursor was below the prompt. */
  #clear(): number {
    const { rows } = this.#readline.getCursorPos()
    moveCursor(this.#output, 0, -rows)
    cursorTo(this.#output, 0)
    clearScreenDown(this.#output)
    return rows
  }
}
