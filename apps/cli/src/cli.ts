import { Muster } from '@muster/client'
import type { Command } from 'commander'
import { CliError, usageError } from './exit-codes.ts'
import { Output } from './output/output.ts'
import { findProfile, type Profile } from './profiles.ts'

/** Where `npm start` listens. */
const DEFAULT_URL = 'http://127.0.0.1:7300'
/** The session of the user, unless a profile or the command names one. */
const DEFAULT_SESSION = 'cli'

interface GlobalOptions {
  url?: string
  profile?: string
  json?: boolean
  /** False for --no-color. */
  color: boolean
  /** False for --no-pager. */
  pager: boolean
}

/** What every command has: a client of the server that the user means, and where results go. */
export class Cli {
  readonly out: Output
  readonly #options: GlobalOptions
  readonly #interruption = new AbortController()
  #profile: Profile | undefined
  #isProfileRead = false

  constructor(options: GlobalOptions) {
    this.#options = options
    const { env } = process
    const isColoured = options.color && env.NO_COLOR === undefined && (env.FORCE_COLOR !== undefined || (process.stdout.isTTY === true && env.TERM !== 'dumb'))
    this.out = new Output({ json: options.json === true, colour: isColoured, pager: options.pager })
  }

  /** The options before and after a command's own. */
  static of(command: Command): Cli {
    return new Cli(command.optsWithGlobals<GlobalOptions>())
  }

  /** The profile that the command or the environment names, if one does. */
  get #named(): string | undefined {
    return this.#options.profile ?? setting('MUSTER_PROFILE')
  }

  get profile(): Profile | undefined {
    if (!this.#isProfileRead) {
      this.#profile = findProfile(this.#named)
      this.#isProfileRead = true
    }
    return this.#profile
  }

  /** @throws CliError if it is none of HTTP */
  get url(): string {
    // A profile that is named comes before MUSTER_URL, and the current profile after it.
    const named = this.#named === undefined ? undefined : this.profile?.url
    const url = (this.#options.url ?? named ?? setting('MUSTER_URL') ?? this.profile?.url ?? DEFAULT_URL).replace(/\/+$/, '')
    if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) throw usageError(`${url} is no address of a server. Give one such as ${DEFAULT_URL}.`)
    return url
  }

  /** A stored key is sent only to the server that it was stored for, and the server of a profile that is named gets no other one. */
  get key(): string | undefined {
    const isOfProfile = this.profile?.url.replace(/\/+$/, '') === this.url
    if (isOfProfile && this.#named !== undefined) return this.profile?.key
    return setting('MUSTER_KEY') ?? (isOfProfile ? this.profile?.key : undefined)
  }

  get session(): string {
    return setting('MUSTER_SESSION') ?? this.profile?.session ?? DEFAULT_SESSION
  }

  /** @param watch is called when the server does not answer, and when it does again */
  muster(options: { watch?: (isReachable: boolean) => void; retries?: number } = {}): Muster {
    const { watch, retries } = options
    const watched: typeof fetch = async (...request) => {
      try {
        const response = await fetch(...request)
        watch?.(![502, 503, 504].includes(response.status))
        return response
      } catch (error) {
        watch?.(false)
        throw error
      }
    }
    return new Muster({ url: this.url, key: this.key, retries: retries ?? 2, ...(watch === undefined ? {} : { fetch: watched }) })
  }

  /** Aborted by the first Ctrl-C. A second one ends the process, as everywhere. */
  get interrupted(): AbortSignal {
    if (process.listenerCount('SIGINT') === 0) process.once('SIGINT', () => this.#interruption.abort())
    return this.#interruption.signal
  }

  /** Prompts appear only where a person can answer them: on a terminal. */
  get canAsk(): boolean {
    return process.stdin.isTTY === true && process.stderr.isTTY === true && !this.out.json
  }

  /** Asks, on a terminal. @throws CliError elsewhere, which says the option to give instead */
  async confirm(question: string, instead: string): Promise<boolean> {
    if (!this.canAsk) throw usageError(`${question} There is no terminal to ask on: ${instead}`)
    const { confirm, isCancel } = await import('@clack/prompts')
    const answer = await confirm({ message: question, output: process.stderr })
    return !isCancel(answer) && answer
  }
}

/** A variable of the environment. An empty one is none. */
function setting(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}

/** A whole number from an option. @throws CliError, with the hint */
export function wholeNumber(name: string, min: number, max: number, hint = ''): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) throw usageError(`${name} must be a whole number from ${min} to ${max}, not ${text}.${hint}`)
    return value
  }
}

/** Standard input as a text. @throws CliError on a terminal, where nothing would ever come */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY === true) throw usageError('- reads standard input, and that is the terminal: pipe a text into the command.')
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  if (text.trim() === '') throw new CliError('Standard input was empty.')
  return text
}

/** Collects an option that may be repeated. */
export const repeated = (value: string, before: string[] = []): string[] => [...before, value]
