import type { Findings } from './findings.ts'
import type { Random } from './random.ts'
import type { Life, Supervised } from './supervised.ts'

/** What came of a request. `lost`: whether it took effect is unknown. */
export type Outcome<Body> =
  | { kind: 'answered'; status: number; body: Body; replayed: boolean }
  | { kind: 'unavailable'; retryAfterMs: number }
  | { kind: 'lost'; why: string }

export interface Ask {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  key: string
  body?: unknown
  idempotencyKey?: string
  /** The revision that a change was made from. */
  ifMatch?: number
  /** The API's own deadline for this call. */
  deadlineMs?: number
}

/**
 * What an API may take beyond its deadline. The deadline is a timer of its own process, which shares two cores with PostgreSQL's recovery, the start of
 * other processes and dozens of programs when all of them come together, and then runs late by seconds without being wrong.
 */
const MARGIN_MS = 4_000
const DEADLINE_MS = 5_000

/** By then an API that is left alone answers again once PostgreSQL is back: many times what it takes, since the machine is at its busiest then. */
export const RECOVERY_MAX_MS = 30_000

/** Whatever names files, relations, settings or errors of the database. */
export const DATABASE_TEXT = /base\/\d|\bpg_|No space left|could not (?:extend|write)|read-only transaction|SQLSTATE/
const SAYS_NOTHING_OF_THE_DATABASE = 'no refusal carries text of the database'
const RECOVERS = 'an API that is left alone answers 2xx again within 30 s of PostgreSQL being back'
const CONNECTS = 'an API that is up and left alone refuses no connection'

interface Recovery {
  api: Supervised
  life: Life | undefined
  /** Since when PostgreSQL is there; infinite while it is away again. */
  sinceMs: number
  /** How long it had been there before, between outages that followed one another. */
  hadMs: number
  timer: NodeJS.Timeout | undefined
  done: (ms: number) => void
}

/** Talks to the APIs as a careful client does, and watches how they answer. */
export class Client {
  readonly #apis: readonly Supervised[]
  readonly #findings: Findings
  readonly statuses = new Map<string, number>()
  /** APIs that have not answered 2xx since PostgreSQL is back. */
  readonly #recoveries = new Set<Recovery>()
  lagMs = 0

  constructor(apis: readonly Supervised[], findings: Findings) {
    this.#apis = apis
    this.#findings = findings
  }

  pickApi(random: Random): Supervised {
    return random.pick(this.#apis)
  }

  /** PostgreSQL is back: calls back once with how long of its presence this API takes to answer 2xx to a request of after now. */
  awaitRecovery(api: Supervised, done: (ms: number) => void): void {
    const interrupted = [...this.#recoveries].find((each) => each.api === api && each.life === api.life)
    const recovery: Recovery = interrupted ?? { api, life: api.life, sinceMs: 0, hadMs: 0, timer: undefined, done }
    recovery.sinceMs = Date.now()
    recovery.timer = setTimeout(() => this.#judgeLate(recovery), RECOVERY_MAX_MS - recovery.hadMs).unref()
    this.#recoveries.add(recovery)
    this.#findings.looked(RECOVERS, 0)
  }

  /** PostgreSQL goes away again: unfinished recoveries continue when it is back, with the remaining time. */
  interruptRecoveries(): void {
    for (const recovery of this.#recoveries) {
      clearTimeout(recovery.timer)
      // An API that was stopped when PostgreSQL was back was not waited for.
      const wasWaitedFor = Number.isFinite(recovery.sinceMs) && this.#isLeftAlone(recovery.api, recovery.life, recovery.sinceMs)
      if (!wasWaitedFor) {
        this.#recoveries.delete(recovery)
        continue
      }
      recovery.hadMs += Date.now() - recovery.sinceMs
      recovery.sinceMs = Number.POSITIVE_INFINITY
    }
  }

  async ask<Body>(api: Supervised, ask: Ask): Promise<Outcome<Body>> {
    const startedMs = Date.now()
    const deadlineMs = ask.deadlineMs ?? DEADLINE_MS
    const life = api.life
    try {
      const answer = await fetch(`${api.url}${ask.path}`, {
        method: ask.method ?? 'POST',
        headers: {
          authorization: `Bearer ${ask.key}`,
          ...(ask.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(ask.idempotencyKey === undefined ? {} : { 'idempotency-key': ask.idempotencyKey }),
          ...(ask.ifMatch === undefined ? {} : { 'if-match': `"${ask.ifMatch}"` }),
        },
        ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
        signal: AbortSignal.timeout(deadlineMs + MARGIN_MS),
      })
      const text = await answer.text()
      return this.#judge(api, ask, answer, text, startedMs)
    } catch (error) {
      const name = (error as Error).name
      if (name === 'TimeoutError' || name === 'AbortError') {
        this.#count(`${name}`)
        if (this.#isLeftAlone(api, life, startedMs))
          this.#findings.broke(
            'no request hangs beyond its deadline',
            `${api.name}: ${ask.method ?? 'POST'} ${ask.path} had no answer after ${Date.now() - startedMs} ms (sent ${new Date(startedMs).toISOString()})`,
          )
        return { kind: 'lost', why: 'timeout' }
      }
      this.#count('connection failed')
      const why = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).message
      const isUp = life?.readyAtMs != null && life.readyAtMs < startedMs && this.#isLeftAlone(api, life, startedMs)
      // One that is kept alive may be closed just as it is used again; a new one may not be refused.
      if (isUp && why === 'ECONNREFUSED')
        this.#findings.broke(CONNECTS, `${api.name}: ${ask.method ?? 'POST'} ${ask.path} (sent ${new Date(startedMs).toISOString()})`)
      return { kind: 'lost', why }
    }
  }

  #judge<Body>(api: Supervised, ask: Ask, answer: Response, text: string, startedMs: number): Outcome<Body> {
    const { status } = answer
    this.#count(String(status))
    const what = `${api.name}: ${ask.method ?? 'POST'} ${ask.path} answered ${status} ${text.slice(0, 300)}`
    this.#findings.looked(CONNECTS, 1)
    this.#findings.looked('the API never answers 5xx but 503', 1)
    if (status >= 500 && status !== 503) this.#findings.broke('the API never answers 5xx but 503', what)
    if (status >= 200 && status < 300) this.#recovered(api, startedMs)
    else {
      this.#findings.looked(SAYS_NOTHING_OF_THE_DATABASE, 1)
      if (DATABASE_TEXT.test(text)) this.#findings.broke(SAYS_NOTHING_OF_THE_DATABASE, what)
    }
    if (status === 503) {
      const retryAfter = Number(answer.headers.get('retry-after'))
      this.#findings.looked('every 503 says when to come again', 1)
      if (!(retryAfter > 0)) this.#findings.broke('every 503 says when to come again', what)
      return { kind: 'unavailable', retryAfterMs: (retryAfter || 1) * 1_000 }
    }
    if (status >= 500) return { kind: 'lost', why: String(status) }
    let body: unknown
    try {
      body = text === '' ? null : JSON.parse(text)
    } catch {
      this.#findings.broke('every answer is JSON', what)
      return { kind: 'lost', why: 'not JSON' }
    }
    return { kind: 'answered', status, body: body as Body, replayed: answer.headers.get('idempotent-replayed') === 'true' }
  }

  /** Whether the process has run since without being killed or stopped, on a machine that lets it work. */
  #isLeftAlone(api: Supervised, life: Life | undefined, sinceMs: number): boolean {
    const wasStopped = api.excused.some(({ toMs }) => toMs + MARGIN_MS / 2 > sinceMs)
    return life !== undefined && life === api.life && life.endedBy === null && life.endedAtMs === null && !wasStopped && this.lagMs <= MARGIN_MS / 2
  }

  #recovered(api: Supervised, startedMs: number): void {
    for (const recovery of this.#recoveries) {
      if (recovery.api !== api || startedMs < recovery.sinceMs) continue
      this.#recoveries.delete(recovery)
      clearTimeout(recovery.timer)
      // One that was killed or stopped meanwhile took its time for another reason.
      if (!this.#isLeftAlone(api, recovery.life, recovery.sinceMs)) continue
      this.#findings.looked(RECOVERS, 1)
      recovery.done(recovery.hadMs + Date.now() - recovery.sinceMs)
    }
  }

  #judgeLate(recovery: Recovery): void {
    const { api, life, sinceMs } = recovery
    if (!this.#recoveries.delete(recovery) || !this.#isLeftAlone(api, life, sinceMs)) return
    if (api.partitions.some(({ toMs }) => toMs > sinceMs)) return
    this.#findings.looked(RECOVERS, 1)
    this.#findings.broke(RECOVERS, `${api.name} has not, by ${new Date().toISOString()}`)
  }

  #count(what: string): void {
    this.statuses.set(what, (this.statuses.get(what) ?? 0) + 1)
  }
}
