import { createParser } from 'eventsource-parser'
import { ExplainedError } from '../system/errors.ts'

/** What the demo reads of a subtask. */
export type Subtask = {
  id: string
  task: string
  status: string
  final_outcome: string | null
  result: string | null
  summary: string | null
  error: string | null
  duration_ms: number | null
}

/** What the demo reads of an update: its receipt. */
export type Update = { update_id: string; status: string }

/** What the demo reads of an inbox item. */
export type InboxItem = { subtask_id: string; task: string; status: string; final_outcome: string | null; result: string | null; summary: string | null }

/** A fact of the event log, as it comes over server-sent events. */
export type LoggedEvent = { id: number | string; type: string; subject: { kind: string; id: string }; data: Record<string, unknown> }

/** The calls of the demo: plain HTTP, as any program would make them. */
export type Client = {
  spawn: (body: { task: string; runner: string; parent_session_id: string; timeout_seconds?: number }) => Promise<Subtask>
  steer: (id: string, content: string) => Promise<Update>
  updates: (id: string) => Promise<Update[]>
  cancel: (id: string) => Promise<void>
  /** Waits on the server's side until the subtask has ended, one minute at most. */
  wait: (id: string) => Promise<Subtask>
  claimInbox: (session: string) => Promise<InboxItem[]>
  /** Reads the event log from now on, until `signal` aborts. Resolves once the stream is open; `ended` when it is closed. */
  follow: (onEvent: (event: LoggedEvent) => void, signal: AbortSignal) => Promise<{ ended: Promise<void> }>
}

/** A client of the API at an address. */
export function createClient(address: string, signal: AbortSignal): Client {
  const call = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await fetch(new URL(path, address), {
      method,
      signal,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new ExplainedError(`${method} ${path} was answered with ${answer.status}: ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Answer
  }
  return {
    spawn: (body) => call('POST', '/subtasks', body),
    steer: (id, content) => call('POST', `/subtasks/${id}/updates`, { content }),
    updates: async (id) => (await call<{ items: Update[] }>('GET', `/subtasks/${id}/updates`)).items,
    cancel: (id) => call('DELETE', `/subtasks/${id}`),
    wait: (id) => call('GET', `/subtasks/${id}?wait_seconds=60`),
    claimInbox: async (session) => (await call<{ items: InboxItem[] }>('POST', `/sessions/${encodeURIComponent(session)}/inbox/claim`, {})).items,
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
