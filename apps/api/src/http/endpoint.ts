import type { ErrorCode, FieldProblem, Scope } from '@muster/domain'
import type { Ctx } from '@muster/usecases'
import { z } from 'zod'
import type { ApiDeps } from '../api-deps.ts'
import type { EventSink } from '../events/sink.ts'
import type { AnswerHeader } from '../openapi/headers.ts'
import { removeAbsentNulls } from './absent-nulls.ts'
import { type CursorList, openCursor, sealCursor } from './cursor.ts'
import { renameAliases } from './deprecation.ts'
import { markdownTag } from './entity-tag.ts'
import { isMergePatch } from './json-body.ts'
import { MarkdownBody, prefersMarkdown } from './markdown-body.ts'
import { applyMergePatch, reachesIntoObjects } from './merge-patch.ts'
import { check, fieldProblem, type InputPart, validationFailed } from './validation.ts'

/** An answer before it is sent. `body` undefined sends none; a string is sent as it is, with its own `content-type`. */
export interface Answer {
  status: number
  headers?: Record<string, string>
  body?: unknown
  /** Called once the whole answer has left the process; never if the connection was lost before. */
  onSent?: (() => Promise<void>) | undefined
}

/** One way an endpoint answers when all is well, for the reference. */
export interface AnswerDescription {
  description: string
  /** A named schema; absent where there is no body. */
  schema?: z.ZodType
  headers?: readonly AnswerHeader[]
  contentType?: string
  /** The same as `text/markdown`, for callers who accept that rather than JSON. */
  markdown?: z.ZodType
}

export const TAGS = [
  'Subtasks',
  'Tasks',
  'Questions',
  'Schedules',
  'Sub-agents',
  'Troubleshooting guides',
  'Evaluations',
  'Training',
  'Usage',
  'Memory',
  'Outside workers',
  'Sessions',
  'Events',
  'Webhooks',
  'Deliveries',
  'Runners',
  'Workers',
  'Audit',
  'Projects',
  'API keys',
  'Operations',
] as const

/** The description of an endpoint, as the API reference shows it. */
interface Description {
  operationId: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As OpenAPI writes it: `/subtasks/{id}`. */
  path: string
  tag: (typeof TAGS)[number]
  summary: string
  description: string
  answers: Record<number, AnswerDescription>
  /** Errors of its own; those that every endpoint of its kind can give are added. */
  errors?: ErrorCode[]
  /** Longest time the handler may take, in milliseconds, where it is not the usual. */
  deadlineMs?: number
  /** Longest time until the required body has arrived, in milliseconds, where the handler may wait much longer than that. */
  bodyDeadlineMs?: number
  /**
   * For callers that must never be delayed or see an error: after this many milliseconds, and instead of every error except 401 and 403, they get an
   * empty 200.
   */
  yieldsAfterMs?: number
  /** Largest body, in bytes, where it is not the usual. */
  bodyBytesMax?: number
  /** True where text comes from an agent: invalid UTF-8 becomes U+FFFD instead of a refusal. */
  repairsText?: boolean
  /** True where the body may be left out. */
  bodyOptional?: boolean
  /** True if the use-case validates the body, so that one answer lists every problem. The endpoint only checks that it is an object. */
  validatesBody?: boolean
  /** Whether the change has to say in `If-Match` what it was made from, or may. */
  takesIfMatch?: 'required' | 'optional'
  /** True where the `ETag` changes with everything in the answer, so that `If-None-Match` spares the caller a body that it has. */
  takesIfNoneMatch?: boolean
  /** Former names of query parameters, with the present ones. See `deprecation.ts`. */
  queryAliases?: Record<string, string>
  /** Whether a value of the query is deprecated. */
  hasFormerValue?(query: Record<string, unknown>): boolean
  /** True where the body is a collection of files: an archive or a form, and `body` is `filesBodySchema`. */
  takesFiles?: boolean
  /** True where work is started, which a subtask's own credential never may, whatever its scopes. */
  spawns?: boolean
  /** Why a write of this endpoint leaves no entry in the audit log; absent where it leaves one. */
  unaudited?: string
  /** Why a write of this endpoint is taken from a project or a run that has stored as much as it may; absent where it is refused. */
  needsNoRoom?: string
  /** True where a server that only this machine can reach asks for no key. */
  isPublicOnLoopback?: boolean
}

/** A request that has been checked. */
export interface Call<Params, Query, Body> {
  ctx: Ctx
  deps: ApiDeps
  params: Params
  query: Query
  body: Body
  /**
   * What a PATCH changes; every PATCH asks for it instead of `body`, with the present fields in the words of a request, once they cannot change any more:
   * a merge patch reaches into them.
   *
   * @throws DomainError `validation_failed` for what the two together make
   */
  patched(current: object): Body
  headers: RawCall['headers']
  /** Time since the request began, in milliseconds. */
  elapsedMs(): number
  /** Aborted when the caller has hung up. Asked for only by what waits. */
  gone(): AbortSignal
  /** Checks the credential again after a wait, before anything is delivered. @throws DomainError `unauthenticated` when it has ended meanwhile */
  authorizeAgain(): Promise<void>
}

/** A request as it came, but for its parts being parsed JSON. */
export interface RawCall {
  ctx: Ctx
  /** Path and query, as they were sent. */
  url: string
  deps: ApiDeps
  params: unknown
  query: unknown
  body: unknown
  headers: Record<string, string | string[] | undefined>
  elapsedMs(): number
  gone(): AbortSignal
  authorizeAgain(): Promise<void>
}

type Input<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** A body is of the one type or the other, where an endpoint takes both. */
type BodyInput<Body, Markdown> = Body extends z.ZodType ? (Markdown extends z.ZodType ? Input<Body> | Input<Markdown> : Input<Body>) : Input<Markdown>

interface Inputs<Params, Query, Body, Markdown> {
  params?: Params
  query?: Query
  /** A JSON body. */
  body?: Body
  /** What a body of type `text/markdown` has to be: reads it from the text. It takes the place of a JSON body, or stands beside it. */
  markdown?: Markdown
}

interface EndpointSpec<Params, Query, Body, Markdown, Result> extends Description, Inputs<Params, Query, Body, Markdown> {
  /** What the credential must be allowed; 'key': any credential will do; 'public': none is needed. */
  access: Scope | 'key' | 'public'
  handle(call: Call<Input<Params>, Input<Query>, BodyInput<Body, Markdown>>): Promise<Result>
  /**
   * How a result becomes an answer: the live one, and the one that an `Idempotency-Key` repeats. The latter is made from what the use-case returned,
   * in its transaction, so the handler of a POST that stores something returns the use-case's result as it is.
   */
  answer(result: Result): Answer
  /** What is stored to be repeated, where that is not the live answer: without its secrets. */
  storedAnswer?(result: Result): Answer
  /** The body of the live answer for callers who accept Markdown rather than JSON. */
  answerMarkdown?(result: NoInfer<Result>): string
}

interface StreamSpec<Params, Query> extends Description, Inputs<Params, Query, undefined, undefined> {
  access: Scope
  /** Refuses by throwing, or says what to send: nothing (204), or a stream, which ends when the promise does. */
  open(call: Call<Input<Params>, Input<Query>, undefined>, headers: RawCall['headers']): Promise<{ stream: (sink: EventSink) => Promise<void> } | null>
}

interface LinesSpec<Params, Query> extends Description, Inputs<Params, Query, undefined, undefined> {
  access: Scope
  /** What is sent, piece by piece, as it is asked for: lines with their ends. Refuses by throwing before the first. */
  lines(call: Call<Input<Params>, Input<Query>, undefined>): AsyncGenerator<string, void, undefined>
}

/** An endpoint with its types closed over, as the app and the reference see it. */
export interface Endpoint extends Description, Inputs<z.ZodType, z.ZodType, z.ZodType, z.ZodType> {
  access: Scope | 'key' | 'public'
  serve(call: RawCall): Promise<{ result: unknown; answer: Answer }>
  /** Whether its live answer has a secret that is not stored. */
  answersSecret: boolean
  /** The answer to store for a result. */
  toStored(result: unknown): Answer
  open?: (call: RawCall) => Promise<{ stream: (sink: EventSink) => Promise<void> } | null>
  lines?: (call: RawCall) => AsyncGenerator<string, void, undefined>
}

type Schema = z.ZodType | undefined

/** A definition after its types are closed over. */
type Erased = Description & Inputs<z.ZodType, z.ZodType, z.ZodType, z.ZodType> & Pick<Endpoint, 'access'>

/** Unknown query parameters are refused: they are typing mistakes that would otherwise be ignored silently. */
const NO_QUERY = z.strictObject({})
const ANY_OBJECT = z.looseObject({})

/** Defines an endpoint: what it takes, what it calls, and how the result becomes an answer. */
export function endpoint<
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
  Markdown extends Schema = undefined,
  Result = unknown,
>(spec: EndpointSpec<Params, Query, Body, Markdown, Result>): Endpoint {
  const { handle, answer, storedAnswer, answerMarkdown, ...description } = spec
  const liveAnswer = (result: Result, accept: string | undefined): Answer => {
    if (answerMarkdown === undefined) return answer(result)
    const json = answer(result)
    const headers = { ...json.headers, vary: 'accept' }
    if (!prefersMarkdown(accept)) return { ...json, headers }
    const { etag } = json.headers ?? {}
    const tag = etag === undefined ? {} : { etag: markdownTag(etag) }
    return { status: json.status, headers: { ...headers, ...tag, 'content-type': 'text/markdown; charset=utf-8' }, body: answerMarkdown(result) }
  }
  return {
    ...(description as unknown as Erased),
    async serve(call) {
      const input = parse(spec, call)
      const list = spec.query instanceof z.ZodObject && 'cursor' in spec.query.shape ? listOf(spec, input) : null
      const result = await handle({ ...call, ...(list === null ? input : { ...input, query: openPage(list) as Input<Query> }) })
      const given = liveAnswer(result, call.headers.accept as string | undefined)
      return { result, answer: list === null ? given : sealPage(list, call.url, given) }
    },
    answersSecret: storedAnswer !== undefined,
    toStored: (result) => (storedAnswer ?? answer)(result as Result),
  }
}

/** Whether a call brings content for which there has to be room in a project: a call without a key is in none. */
export function needsRoom({ access, method, body, markdown, takesFiles, needsNoRoom }: Endpoint): boolean {
  if (access === 'public' || method === 'GET' || method === 'DELETE' || needsNoRoom !== undefined) return false
  return body !== undefined || markdown !== undefined || takesFiles === true
}

function listOf({ operationId }: Description, { params, query }: { params: unknown; query: unknown }): CursorList {
  return { operationId, params, query: query as CursorList['query'] }
}

/** The query with the position that its cursor stands for. */
function openPage(list: CursorList): CursorList['query'] {
  const { cursor } = list.query
  return typeof cursor === 'string' ? { ...list.query, cursor: openCursor(list, cursor) } : list.query
}

/** The page with a cursor that only this list takes, and a link to the next one. */
function sealPage(list: CursorList, url: string, answer: Answer): Answer {
  const page = answer.body as { next_cursor: string | null }
  if (page.next_cursor === null) return answer
  const cursor = sealCursor(list, page.next_cursor)
  return { ...answer, headers: { ...answer.headers, link: `<${nextUrl(url, cursor)}>; rel="next"` }, body: { ...page, next_cursor: cursor } }
}

/** Relative to the server, whose address the caller knows best. */
function nextUrl(url: string, cursor: string): string {
  const [path = '', query] = url.split('?', 2)
  const parameters = new URLSearchParams(query)
  parameters.set('cursor', cursor)
  return `${path}?${parameters}`
}

/** Defines an endpoint that answers with server-sent events. */
export function streamEndpoint<Params extends Schema = undefined, Query extends Schema = undefined>(spec: StreamSpec<Params, Query>): Endpoint {
  const { open, ...description } = spec
  return {
    ...(description as unknown as Erased),
    answersSecret: false,
    serve: () => Promise.reject(new Error(`${spec.operationId} is a stream`)),
    toStored: () => ({ status: 200 }),
    open: async (call) => open({ ...call, ...parse(spec, call) } as Call<Input<Params>, Input<Query>, undefined>, call.headers),
  }
}

/** Defines an endpoint that answers with as many lines as there are. */
export function linesEndpoint<Params extends Schema = undefined, Query extends Schema = undefined>(spec: LinesSpec<Params, Query>): Endpoint {
  const { lines, ...description } = spec
  return {
    ...(description as unknown as Erased),
    answersSecret: false,
    serve: () => Promise.reject(new Error(`${spec.operationId} answers with lines`)),
    toStored: () => ({ status: 200 }),
    lines: (call) => lines({ ...call, ...parse(spec, call) } as Call<Input<Params>, Input<Query>, undefined>),
  }
}

type InputRules = Pick<Description, 'bodyOptional' | 'validatesBody' | 'queryAliases'>

function parse<Params extends Schema, Query extends Schema, Body extends Schema, Markdown extends Schema>(
  spec: Inputs<Params, Query, Body, Markdown> & InputRules,
  call: RawCall,
): Pick<Call<Input<Params>, Input<Query>, BodyInput<Body, Markdown>>, 'params' | 'query' | 'body' | 'patched'> {
  const problems: FieldProblem[] = []
  const part = (schema: Schema, value: unknown, name: InputPart) => (schema === undefined ? undefined : check(schema, value, name, problems))
  const parsed = {
    params: part(spec.params, call.params, 'path') as Input<Params>,
    query: part(
      spec.query ?? NO_QUERY,
      renameAliases(spec.queryAliases, once(call.query as Record<string, unknown>, problems), problems),
      'query',
    ) as Input<Query>,
    body: body(spec, call, part) as BodyInput<Body, Markdown>,
  }
  if (problems.length > 0) throw validationFailed(problems)
  return { ...parsed, patched: (current) => patchedBody(spec.body, call, parsed.body, current) as BodyInput<Body, Markdown> }
}

/** Each parameter once. One that is repeated is a problem; its first value is checked with the others. */
function once(query: Record<string, unknown>, problems: FieldProblem[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value]
      problems.push(fieldProblem(`?${name}`, `is given ${value.length} times; give it once`, value))
      return [name, value[0]]
    }),
  )
}

function body(
  { body: json, markdown, bodyOptional, validatesBody }: Inputs<Schema, Schema, Schema, Schema> & InputRules,
  call: RawCall,
  part: (schema: Schema, value: unknown, name: InputPart) => unknown,
): unknown {
  if (call.body instanceof MarkdownBody) return part(markdown, call.body.text, 'body')
  if (isMergePatch(call.headers)) {
    if (reachesIntoObjects(call.body)) return undefined
  } else if (json !== undefined) removeAbsentNulls(json, call.body)
  return part(validatesBody === true ? ANY_OBJECT : (json ?? markdown), bodyOptional === true ? (call.body ?? {}) : call.body, 'body')
}

/** The body, checked with the present state where it needs that. */
function patchedBody(json: Schema, call: RawCall, checked: unknown, current: object): unknown {
  if (json === undefined || !isMergePatch(call.headers) || !reachesIntoObjects(call.body)) return checked
  const problems: FieldProblem[] = []
  const whole = check(json, applyMergePatch(json, current, call.body), 'body', problems)
  if (problems.length > 0) throw validationFailed(problems)
  return whole
}
