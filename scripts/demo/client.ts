import { createParser } from 'eventsource-parser'
import { ExplainedError } from '../system/errors.ts'

/** What the demo reads of a subtask. */
export type Subtask = {
  id: string
  task: string
  status: string
  worker_id: string | null
  final_outcome: string | null
  result: string | null
  summary: string | null
  error: string | null
  /** The delivered revision of the brief that it runs. */
  task_revision: number | null
  /** How often the result was sent back. */
  revision_round: number
}

/** What the demo reads of an update: its receipt. */
export type Update = { update_id: string; update_type: string; status: string; content: string }

/** What the demo reads of an inbox item. */
export type InboxItem = {
  subtask_id: string
  task: string
  status: string
  final_outcome: string | null
  result: string | null
  summary: string | null
  score: number | null
  recommendation: string | null
}

/** What the demo reads of an evaluation. */
export type Evaluation = {
  score: number | null
  recommendation: string
  criteria: { text: string; verdict: string; evidence: string | null }[]
}

/** An executed check of a task. */
export type CheckRun = { check: string; status: string; exit_code: number | null; duration_ms: number | null }

/** An event of the log, as server-sent events deliver it. */
export type LoggedEvent = { id: number | string; type: string; subject: { kind: string; id: string }; data: Record<string, unknown> }

/** What the demo reads of a task. */
export type Task = {
  id: string
  title: string
  status: string
  revision: number
  completion_outputs: Record<string, unknown> | null
  validation: { warnings: { message: string }[] }
}

/** What is new for a session, as one text and as items. */
export type Injection = { text: string; items: { kind: string; update_id: string | null; text: string }[] }

/** A check-in as Muster has read it. */
export type CheckedIn = { revision: number; criteria: { text: string; state: string }[]; acknowledged_update_ids: string[] }

/** What the demo reads of a schedule. */
export type Schedule = { id: string; reading: string; upcoming: string[]; state: string }

/** The outcome of one slot of a schedule. */
export type ScheduleRun = { slot: string; outcome: string; subtask_id: string | null }

/** A refusal of the API. */
export type Problem = { status: number; code: string; detail: string; candidates?: { phrase: string }[] }

/** The calls of the demo, over plain HTTP. */
export type Client = {
  /** The same API with another credential. */
  as: (credential: string) => Client
  spawn: (body: { task: string; runner: string; parent_session_id: string; timeout_seconds?: number }) => Promise<Subtask>
  steer: (id: string, content: string) => Promise<Update>
  updates: (id: string) => Promise<Update[]>
  cancel: (id: string) => Promise<void>
  subtask: (id: string) => Promise<Subtask>
  answer: (questionId: string, answer: unknown) => Promise<void>
  /** Waits on the server until the subtask has ended, at most one minute. */
  wait: (id: string) => Promise<Subtask>
  claimInbox: (session: string) => Promise<InboxItem[]>
  importGuide: (id: string, markdown: string) => Promise<void>
  createTask: (brief: Record<string, unknown>) => Promise<Task>
  task: (id: string) => Promise<Task>
  assign: (id: string, session: string) => Promise<{ task: Task; subagent_credential: string }>
  inject: (session: string) => Promise<Injection>
  /** Changes a brief, if it still has this revision. */
  revise: (id: string, revision: number, patch: Record<string, unknown>) => Promise<{ revision: number; update_id: string }>
  note: (id: string, content: string) => Promise<Update>
  taskUpdates: (id: string) => Promise<Update[]>
  checkIn: (id: string, markdown: string) => Promise<CheckedIn>
  /** Returns a refusal as well. */
  complete: (id: string, outputs: Record<string, unknown>) => Promise<{ task: Task } | { problem: Problem }>
  dispatch: (id: string, body: { runner: string; max_revisions?: number; parent_session_id?: string }) => Promise<Subtask>
  /** The executed checks of a task, newest first. */
  checks: (id: string) => Promise<CheckRun[]>
  /** The latest evaluation of a subtask. */
  evaluation: (subtaskId: string) => Promise<Evaluation | undefined>
  /** Reads a phrase and stores nothing. Returns a refusal as well. */
  previewSchedule: (body: Record<string, unknown>) => Promise<{ schedule: Pick<Schedule, 'reading' | 'upcoming'> } | { problem: Problem }>
  createSchedule: (body: Record<string, unknown>) => Promise<Schedule>
  schedule: (id: string) => Promise<Schedule>
  scheduleRuns: (id: string) => Promise<ScheduleRun[]>
  /** Reads the event log from now on, until `signal` aborts. Resolves once the stream is open; `ended` when it is closed. */
  follow: (onEvent: (event: LoggedEvent) => void, signal: AbortSignal) => Promise<{ ended: Promise<void> }>
}

type Sent = { body?: unknown; markdown?: string; headers?: Record<string, string> }

/** A client of the API at an address. */
export function createClient(address: string, signal: AbortSignal, credential?: string): Client {
  const send = async (method: string, path: string, { body, markdown, headers }: Sent = {}): Promise<{ status: number; text: string }> => {
    const content = markdown ?? (body === undefined ? undefined : JSON.stringify(body))
    const answer = await fetch(new URL(path, address), {
      method,
      signal,
      headers: {
        ...(content === undefined ? {} : { 'content-type': markdown === undefined ? 'application/json' : 'text/markdown' }),
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const call = async <Answer>(method: string, path: string, sent?: Sent): Promise<Answer> => {
    const { status, text } = await send(method, path, sent)
    if (status >= 300) throw new ExplainedError(`${method} ${path} was answered with ${status}: ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Answer
  }
  const items = async <Item>(path: string): Promise<Item[]> => (await call<{ items: Item[] }>('GET', path)).items
  const ofSession = (session: string, path: string) => `/sessions/${encodeURIComponent(session)}/${path}`

  return {
    as: (other) => createClient(address, signal, other),
    spawn: (body) => call('POST', '/subtasks', { body }),
    steer: (id, content) => call('POST', `/subtasks/${id}/updates`, { body: { content } }),
    updates: (id) => items(`/subtasks/${id}/updates`),
    cancel: (id) => call('DELETE', `/subtasks/${id}`),
    subtask: (id) => call('GET', `/subtasks/${id}`),
    answer: (questionId, answer) => call('POST', `/questions/${questionId}/answer`, { body: { answer } }),
    wait: (id) => call('GET', `/subtasks/${id}?wait_seconds=60`),
    claimInbox: async (session) => (await call<{ items: InboxItem[] }>('POST', ofSession(session, 'inbox/claim'), { body: {} })).items,
    importGuide: (id, markdown) => call('PUT', `/tsgs/${id}`, { markdown }),
    createTask: (brief) => call('POST', '/tasks', { body: brief }),
    task: (id) => call('GET', `/tasks/${id}`),
    assign: (id, session) => call('POST', `/tasks/${id}/assign`, { body: { subagent_session_id: session } }),
    inject: (session) => call('POST', ofSession(session, 'injections')),
    revise: (id, revision, patch) => call('PATCH', `/tasks/${id}`, { body: patch, headers: { 'if-match': `"${revision}"` } }),
    note: (id, content) => call('POST', `/tasks/${id}/updates`, { body: { content } }),
    taskUpdates: (id) => items(`/tasks/${id}/updates`),
    checkIn: (id, markdown) => call('POST', `/tasks/${id}/check-ins`, { markdown }),
    complete: async (id, outputs) => {
      const { status, text } = await send('POST', `/tasks/${id}/complete`, { body: { outputs } })
      return status < 300 ? { task: JSON.parse(text) as Task } : { problem: JSON.parse(text) as Problem }
    },
    dispatch: (id, body) => call('POST', `/tasks/${id}/dispatch`, { body }),
    checks: (id) => items(`/tasks/${id}/checks`),
    evaluation: async (subtaskId) => {
      const [latest] = await items<{ id: string }>(`/evaluations?subtask_id=${subtaskId}`)
      return latest === undefined ? undefined : await call('GET', `/evaluations/${latest.id}`)
    },
    previewSchedule: async (body) => {
      const { status, text } = await send('POST', '/schedules/preview', { body })
      return status < 300 ? { schedule: JSON.parse(text) as Schedule } : { problem: JSON.parse(text) as Problem }
    },
    createSchedule: (body) => call('POST', '/schedules', { body }),
    schedule: (id) => call('GET', `/schedules/${id}`),
    scheduleRuns: (id) => items(`/schedules/${id}/runs`),
    follow: async (onEvent, until) => {
      const answer = await fetch(new URL('/events', address), { headers: { accept: 'text/event-stream' }, signal: until })
      if (!answer.ok || answer.body === null) throw new ExplainedError(`GET /events was answered with ${answer.status}: ${await answer.text()}`)
      return { ended: readEvents(answer.body, onEvent, until) }
    },
  }
}

async function readEvents(body: ReadableStream<Uint8Array>, onEvent: (event: LoggedEvent) => void, until: AbortSignal): Promise<void> {
  const parser = createParser({ onEvent: ({ data }) => onEvent(JSON.parse(data) as LoggedEvent) })
  try {
    for await (const text of body.pipeThrough(new TextDecoderStream())) parser.feed(text)
  } catch (error) {
    if (!until.aborted) throw error
  }
}
