import { type BriefOptions, SessionBrief } from './brief/brief.ts'
import type { InputOf, OperationId, OutputOf, QueryOf } from './http/operation.ts'
import { type Answered, type CallOptions, Transport } from './http/transport.ts'
import { Audit, Keys, Projects, Server, Workers } from './nouns/administration.ts'
import { Deliveries } from './nouns/deliveries.ts'
import { Guides } from './nouns/guides.ts'
import { Questions } from './nouns/questions.ts'
import { Evaluations, Events, Memory } from './nouns/records.ts'
import { Schedules } from './nouns/schedules.ts'
import { Inbox, Sessions } from './nouns/sessions.ts'
import { Subagents } from './nouns/subagents.ts'
import { Subtasks } from './nouns/subtasks.ts'
import { Tasks } from './nouns/tasks.ts'
import { Webhooks } from './nouns/webhooks.ts'

export interface MusterOptions {
  /** Address of the API. Default: `http://127.0.0.1:7300`, where `npm start` listens. */
  url?: string | undefined
  /** API key. A server in open mode on the same machine needs none. */
  key?: string | undefined
  /** The most that one try of a call may take, beside the seconds that it asks the server to wait. Default: 30 s. */
  timeoutMs?: number | undefined
  /** How many times a call is repeated where that is safe. Default: 4. */
  retries?: number | undefined
  /** Another `fetch`, for a proxy or a test. */
  fetch?: typeof fetch | undefined
}

/** Every noun of the API, for one server and key. */
export class Api {
  readonly url: string
  readonly subtasks: Subtasks
  readonly tasks: Tasks
  readonly schedules: Schedules
  readonly questions: Questions
  readonly evaluations: Evaluations
  readonly subagents: Subagents
  readonly guides: Guides
  readonly memory: Memory
  readonly events: Events
  readonly sessions: Sessions
  readonly inbox: Inbox
  readonly keys: Keys
  readonly projects: Projects
  readonly server: Server
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  readonly workers: Workers
  readonly audit: Audit
  protected readonly options: MusterOptions
  protected readonly transport: Transport

  constructor(options: MusterOptions = {}) {
    const { url = 'http://127.0.0.1:7300', key, timeoutMs = 30_000, retries = 4, fetch = globalThis.fetch } = options
    this.options = options
    this.url = url.replace(/\/+$/, '')
    // A fetch that is called as a method of something else is refused by browsers.
    this.transport = new Transport({ url: this.url, key, timeoutMs, retries, fetch: (...request) => fetch(...request) })
    this.subtasks = new Subtasks(this.transport)
    this.tasks = new Tasks(this.transport)
    this.schedules = new Schedules(this.transport)
    this.questions = new Questions(this.transport)
    this.evaluations = new Evaluations(this.transport)
    this.subagents = new Subagents(this.transport)
    this.guides = new Guides(this.transport)
    this.memory = new Memory(this.transport)
    this.events = new Events(this.transport)
    this.sessions = new Sessions(this.transport)
    this.inbox = new Inbox(this.transport)
    this.keys = new Keys(this.transport)
    this.projects = new Projects(this.transport)
    this.server = new Server(this.transport)
    this.webhooks = new Webhooks(this.transport)
    this.deliveries = new Deliveries(this.transport)
    this.workers = new Workers(this.transport)
    this.audit = new Audit(this.transport)
  }

  /** Tokens and dollars that were used. */
  usage(query?: QueryOf<'getUsage'>, options?: CallOptions): Promise<OutputOf<'getUsage'>> {
    return this.transport.call('getUsage', query === undefined ? {} : { query }, options)
  }

  /** What a session of an agent receives, for the loop that calls its model. */
  brief(session: string, options?: BriefOptions): SessionBrief {
    return new SessionBrief(session, this.sessions, options)
  }

  /** Any operation of openapi.yaml by its id, also one that has no method here. @throws MusterError */
  call<O extends OperationId>(operation: O, input?: InputOf<O>, options?: CallOptions): Promise<OutputOf<O>> {
    return this.transport.call(operation, input, options)
  }

  /** The same, with status and headers, such as the `ETag` of what was read. */
  answer<O extends OperationId>(operation: O, input?: InputOf<O>, options?: CallOptions): Promise<Answered<O>> {
    return this.transport.answer(operation, input, options)
  }

  /** Any operation whose answer arrives in pieces. The caller reads, or cancels, `body`. */
  open<O extends OperationId>(operation: O, input?: InputOf<O>, options?: CallOptions): Promise<Response> {
    return this.transport.open(operation, input, options)
  }
}
