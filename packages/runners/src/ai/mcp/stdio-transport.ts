import { setTimeout as delay } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { createLineReader } from '../../command/lines.ts'
import { type Program, type ProgramOptions, startProgram } from '../../command/process.ts'
import { isTooDeep } from '../../command/protocol.ts'
import { ANSWER_BYTES_MAX, AnswerTooLarge } from './limited-fetch.ts'

/** How long a server may take to end by itself when nothing more is asked of it: a run ends within a second. */
const END_MS = 300
const LIMITS = { maxLineBytes: ANSWER_BYTES_MAX, maxJsonLineBytes: ANSWER_BYTES_MAX }

/**
 * Speaks with a program over its standard input and output, a message a line. The program is started like any other of the worker: behind the
 * guard, in a group of its own, so that nothing of it outlives the run or the worker.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ProgramOptions
  readonly #onTooLarge: (error: AnswerTooLarge) => void
  #program: Program | null = null
  #isClosed = false

  constructor(options: ProgramOptions, onTooLarge: (error: AnswerTooLarge) => void) {
    this.#options = options
    this.#onTooLarge = onTooLarge
  }

  async start(): Promise<void> {
    const program = await startProgram(this.#options)
    this.#program = program
    const lines = createLineReader(LIMITS, ({ text, isCut }) => {
      if (isCut) this.#onTooLarge(new AnswerTooLarge())
      else this.#take(text)
    })
    program.stdout.on('data', (chunk: Buffer) => {
      lines.add(chunk)
      // One chunk a turn: a server that prints without pause must not keep the worker from its heartbeats.
      program.stdout.pause()
      setImmediate(() => program.stdout.resume())
    })
    // What it logs is its operator's business, and may contain secrets.
    program.stderr.resume()
    void program.ended.then(() => this.#closed())
    if (this.#isClosed) program.end('stop')
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#program ?? {}
    if (stdin === undefined || !stdin.writable) throw new Error('the server is not running')
    await new Promise<void>((resolve, reject) => stdin.write(`${JSON.stringify(message)}\n`, (error) => (error == null ? resolve() : reject(error))))
  }

  async close(): Promise<void> {
    const program = this.#program
    this.#closed()
    if (program === null) return
    program.stdin.end()
    const hasEnded = await Promise.race([program.ended.then(() => true), delay(END_MS, false)])
    if (!hasEnded) program.end('stop')
    await program.ended
  }

  #closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.onclose?.()
  }

  /** Takes a line that may be a message. Whatever else a program prints is passed over. */
  #take(text: string): void {
    const message = parsed(text)
    if (message !== null && !this.#isClosed) this.onmessage?.(message)
  }
}

function parsed(text: string): JSONRPCMessage | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'jsonrpc' in value && !isTooDeep(value) ? (value as JSONRPCMessage) : null
  } catch {
    return null
  }
}
