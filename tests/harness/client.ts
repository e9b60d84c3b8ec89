import { LINES, operationFor, problemsOf } from './openapi.ts'
import type { ClaimedSubtask, InboxItem, Injection, NewSubtask, NewTask, Problem, Subtask, Task, Update } from './wire.ts'

export interface Answer<Body = unknown> {
  status: number
  headers: Headers
  body: Body
  /** Milliseconds until the whole answer was there. */
  tookMs: number
}

export interface CallOptions {
  body?: unknown
  /** The body as it stands, instead of `body` as JSON. */
  rawBody?: string | Buffer
  headers?: Record<string, string>
  /** Null sends no key, also where the client has one. */
  key?: string | null
  signal?: AbortSignal
}

/** Hears of every secret and text that passes, none of which may turn up in a log. */
export type OnSecret = (secret: string) => void

/**
 * Speaks to one API process, and holds every answer against `openapi.yaml`: status declared, content type, body, and problem
 * details that agree with their answer. An answer that is not as promised fails the test that got it.
 */
export class Client {
  readonly address: string
  readonly #key: string | null
  readonly #onSecret: OnSecret

  constructor(address: string, key: string | null, onSecret: OnSecret) {
    this.address = address
    this.#key = key
    this.#onSecret = onSecret
  }

  /** The same server with another key, or with none. */
  as(key: string | null): Client {
    if (key !== null) this.#onSecret(key)
    return new Client(this.address, key, this.#onSecret)
  }

  async call<Body = unknown>(method: string, path: string, options: CallOptions = {}): Promise<Answer<Body>> {
    const startedAt = performance.now()
    const response = await fetch(new URL(path, this.address), {
      method,
      ...this.request(options),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    const text = await response.text()
    const tookMs = performance.now() - startedAt
    const pathname = new URL(path, this.address).pathname
    const called = operationFor(method, pathname)
    const contentType = response.headers.get('content-type')
    const problems = called === undefined ? [] : problemsOf(called, { status: response.status, contentType, text })
    const isJson = contentType?.includes('json') === true && !contentType.startsWith(LINES)
    const body = text !== '' && isJson ? JSON.parse(text) : text
    if (contentType?.startsWith('application/problem+json')) problems.push(...contradictions(response, body as Problem, pathname))
    if (problems.length > 0)
      throw new Error(`${method} ${path} was answered against openapi.yaml: ${problems.join('; ')}\n${response.status} ${text.slice(0, 2_000)}`)
    this.#note(body)
    return { status: response.status, headers: response.headers, body: body as Body, tookMs }
  }

  /** What `fetch` needs for a call. */
  request({ body, rawBody, headers = {}, key = this.#key }: CallOptions): { headers: Record<string, string>; body?: string | Buffer<ArrayBuffer> } {
    const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
    return {
      headers: {
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent as string | Buffer<ArrayBuffer> }),
    }
  }

  /** A call that has to succeed. */
  async ok<Body>(method: string, path: string, options: CallOptions = {}): Promise<Body> {
    const answer = await this.call<Body>(method, path, options)
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  spawn(subtask: NewSubtask, headers: Record<string, string> = {}): Promise<Subtask> {
    if (subtask.task.length > 20) this.#onSecret(subtask.task)
    return this.ok('POST', '/subtasks', { body: subtask, headers })
  }

  get(id: string): Promise<Subtask> {
    return this.ok('GET', `/subtasks/${id}`)
  }

  /** Waits on the server's side until the subtask has ended. @throws Error when it has not after 60 s */
  async ended(id: string): Promise<Subtask> {
    const subtask = await this.ok<Subtask>('GET', `/subtasks/${id}?wait_seconds=60`)
    if (subtask.completed_at === null) throw new Error(`${id} has not ended: ${JSON.stringify(subtask)}`)
    return subtask
  }

  cancel(id: string): Promise<Answer<Subtask>> {
    return this.call('DELETE', `/subtasks/${id}`)
  }

  steer(id: string, content: string): Promise<Update> {
    return this.ok('POST', `/subtasks/${id}/updates`, { body: { content } })
  }

  async updates(id: string): Promise<Update[]> {
    return (await this.ok<{ items: Update[] }>('GET', `/subtasks/${id}/updates`)).items
  }

  async inbox(session: string): Promise<InboxItem[]> {
    return (await this.ok<{ items: InboxItem[] }>('POST', `/sessions/${encodeURIComponent(session)}/inbox/claim`, { body: {} })).items
  }

  createTask(task: NewTask): Promise<Task> {
    this.#onSecret(task.instructions)
    return this.ok('POST', '/tasks', { body: task })
  }

  task(id: string): Promise<Task> {
    return this.ok('GET', `/tasks/${id}`)
  }

  /** Changes a brief that is thought to have a certain revision. */
  revise(id: string, revision: number, patch: Record<string, unknown>): Promise<Answer<{ revision: number; update_id: string } | Problem>> {
    return this.call('PATCH', `/tasks/${id}`, { body: patch, headers: { 'if-match': `"${revision}"` } })
  }

  async taskUpdates(id: string): Promise<Update[]> {
    return (await this.ok<{ items: Update[] }>('GET', `/tasks/${id}/updates`)).items
  }

  inject(session: string, ack: 'auto' | 'manual' = 'auto'): Promise<Injection> {
    return this.ok('POST', `/sessions/${encodeURIComponent(session)}/injections?ack=${ack}`)
  }

  /** Claims as an outside worker; null when there is nothing to do. */
  async claim(workerId = 'outside', more: Record<string, unknown> = {}): Promise<ClaimedSubtask | null> {
    const body = await this.ok<ClaimedSubtask | ''>('POST', '/subtasks/claim', { body: { worker_id: workerId, ...more } })
    return body === '' ? null : body
  }

  complete(claimed: ClaimedSubtask, result = 'There are 3 files.'): Promise<Answer<Subtask | Problem>> {
    return this.call('POST', `/subtasks/${claimed.subtask.id}/complete`, { body: { lease_token: claimed.lease.token, result } })
  }

  release(claimed: ClaimedSubtask): Promise<Answer<Subtask | Problem>> {
    return this.call('POST', `/subtasks/${claimed.subtask.id}/release`, { body: { lease_token: claimed.lease.token } })
  }

  #note(body: unknown): void {
    if (typeof body !== 'object' || body === null) return
    const { key, credential, subagent_credential: ofSession, lease } = body as Record<string, unknown> & { lease?: { token?: unknown } }
    for (const secret of [key, credential, ofSession, lease?.token]) if (typeof secret === 'string') this.#onSecret(secret)
  }
}

/** Problem details say some things twice; both have to be the same. */
function contradictions(response: Response, problem: Problem, pathname: string): string[] {
  const problems: string[] = []
  if (problem.status !== response.status) problems.push(`the problem says status ${problem.status}`)
  if (problem.instance !== pathname) problems.push(`the problem says instance ${problem.instance}`)
  if (problem.request_id !== response.headers.get('x-request-id')) problems.push('the problem says another request_id than the header')
  if (!problem.type.endsWith(`#${problem.code}`)) problems.push(`the problem of code ${problem.code} says type ${problem.type}`)
  if ([429, 503].includes(response.status) && !/^[1-9]\d*$/.test(response.headers.get('retry-after') ?? '')) problems.push('Retry-After is missing')
  return problems
}
