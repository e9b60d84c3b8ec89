import type { Findings } from './findings.ts'
import type { Random } from './random.ts'
import type { Life, Supervised } from './supervised.ts'

/** What came of a request. `lost`: nobody knows whether it took effect. */
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
  /** How long this client waits, where that is less: what it then gives up is no finding. */
  patienceMs?: number
}

/** What an API may take beyond its deadline on a machine that is busy with everything at once. */
const MARGIN_MS = 4_000
const DEADLINE_MS = 5_000

/** Talks to the APIs as a careful client does, and watches how they answer. */
export class Client {
  readonly #apis: readonly Supervised[]
  readonly #findings: Findings
  readonly statuses = new Map<string, number>()
  /** When each API first answered 2xx after a moment, for whoever waits for its recovery. */
  readonly #waiting = new Set<{ api: Supervised; life: Life | undefined; sinceMs: number; done: (ms: number) => void }>()
  lagMs = 0

  constructor(apis: readonly Supervised[], findings: Findings) {
    this.#apis = apis
    this.#findings = findings
  }

  pickApi(random: Random): Supervised {
    return random.pick(this.#apis)
  }

  /** Calls back once with how long it took from now on until this API answers 2xx to a request of after now. */
  onRecovery(api: Supervised, done: (ms: number) => void): void {
    this.#waiting.add({ api, life: api.life, sinceMs: Date.now(), done })
  }

  async ask<Body>(api: Supervised, ask: Ask): Promise<Outcome<Body>> {
    const startedMs = Date.now()
    const deadlineMs = ask.deadlineMs ?? DEADLINE_MS
    const life = api.life
    try {
      const answer = await fetch(`http://127.0.0.1:${api.options.port}${ask.path}`, {
        method: ask.method ?? 'POST',
        headers: {
          authorization: `Bearer ${ask.key}`,
          ...(ask.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(ask.idempotencyKey === undefined ? {} : { 'idempotency-key': ask.idempotencyKey }),
          ...(ask.ifMatch === undefined ? {} : { 'if-match': `"${ask.ifMatch}"` }),
        },
        ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
        signal: AbortSignal.timeout(ask.patienceMs ?? deadlineMs + MARGIN_MS),
      })
      const text = await answer.text()
      return this.#judge(api, ask, answer, text, startedMs)
    } catch (error) {
      const name = (error as Error).name
      if (name === 'TimeoutError' || name === 'AbortError') {
        this.#count(`${name}`)
        const wasExcused = ask.patienceMs !== undefined || life !== api.life || life?.endedBy !== null || this.#isExcused(api, startedMs)
        if (!wasExcused)
          this.#findings.broke(
            'no request hangs beyond its deadline',
            `${api.name}: ${ask.method ?? 'POST'} ${ask.path} had no answer after ${Date.now() - startedMs} ms (sent ${new Date(startedMs).toISOString()})`,
          )
        return { kind: 'lost', why: 'timeout' }
      }
      this.#count('connection failed')
      return { kind: 'lost', why: `${(error as { cause?: { code?: string } }).cause?.code ?? (error as Error).message}` }
    }
  }

  #judge<Body>(api: Supervised, ask: Ask, answer: Response, text: string, startedMs: number): Outcome<Body> {
    const { status } = answer
    this.#count(String(status))
    const what = `${api.name}: ${ask.method ?? 'POST'} ${ask.path} answered ${status} ${text.slice(0, 300)}`
    this.#findings.looked('the API never answers 5xx but 503', 1)
    if (status >= 500 && status !== 503) this.#findings.broke('the API never answers 5xx but 503', what)
    if (status >= 200 && status < 300) this.#recovered(api, startedMs)
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

  /** Whether it was stopped, or cut off from the database in a way that TCP does not tell, at any moment since. */
  #isExcused(api: Supervised, sinceMs: number): boolean {
    return api.excused.some(({ toMs }) => toMs + MARGIN_MS / 2 > sinceMs) || this.lagMs > MARGIN_MS / 2
  }

  #recovered(api: Supervised, startedMs: number): void {
    for (const waiting of this.#waiting) {
      if (waiting.api !== api || startedMs < waiting.sinceMs) continue
      this.#waiting.delete(waiting)
      // One that was killed meanwhile took its time for another reason.
      if (waiting.life === api.life && !this.#isExcused(api, waiting.sinceMs)) waiting.done(Date.now() - waiting.sinceMs)
    }
  }

  #count(what: string): void {
    this.statuses.set(what, (this.statuses.get(what) ?? 0) + 1)
  }
}
