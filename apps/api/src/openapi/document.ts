import { DomainError, ERROR_CODES, type ErrorCode, VERSION } from '@muster/domain'
import { type AnswerDescription, type Endpoint, TAGS } from '../http/endpoint.ts'
import { HTTP_ERRORS, problemSchema, toProblem } from '../http/errors.ts'
import { FILES_TYPES } from '../http/files-body.ts'
import { components, namedComponents } from '../http/schemas.ts'
import { componentSchemas, convertFields, fieldsOf, type JsonSchema, nameOf, schemaInPlace } from './json-schemas.ts'

const TAG_DESCRIPTIONS: Record<(typeof TAGS)[number], string> = {
  Subtasks: 'Spawn background work, follow it, steer it, cancel it.',
  Tasks: 'Structured work with criteria and required outputs: revise it, assign it, report on it, complete it.',
  Questions: 'What a run or an assignee asks, and the answers: options, forms, texts and approvals.',
  Schedules: 'Rules in natural language or cron that create subtasks at points in time, each exactly once.',
  'Sub-agents': 'Definitions of roles for subtasks: instructions, model and tools.',
  'Troubleshooting guides': 'Instructions for known failures, announced to agents that meet them.',
  Evaluations: 'Scores and verdicts of outputs, with their evidence.',
  Training: 'Flagged work as training examples.',
  Usage: 'Tokens, cost and time of ended work.',
  Memory: 'Stored facts and earlier results, to search before repeating work.',
  'Outside workers': 'Run subtasks in your own worker, under a lease.',
  Sessions: 'Inbox, injections and messages of an agent session.',
  Events: 'The append-only log of what happened.',
  Runners: 'The programs and models that execute subtasks.',
  Workers: 'The processes that run subtasks, and how to take one out of service.',
  Projects: 'The tenant and its limits.',
  'API keys': 'Credentials that open a project.',
  Operations: 'Health, readiness and metrics.',
}

const DESCRIPTION = [
  'Durable, steerable background work for agents.',
  'Errors are [problem details](https://www.rfc-editor.org/rfc/rfc9457) with a stable `code`. Every POST takes an `Idempotency-Key`: the same key, query and body get the first answer again, with `Idempotent-Replayed: true`. Times are RFC 3339 in UTC; lists take `limit` and `cursor`. Fields that a request does not know are refused.',
].join('\n\n')

/** Which endpoints answer what, as OpenAPI 3.1. */
export function describeApi(endpoints: readonly Endpoint[]): Record<string, unknown> {
  convertFields(endpoints.flatMap(({ params, query }) => [params, query].filter((schema) => schema !== undefined)))
  const errorResponses: Record<string, unknown> = {}
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of endpoints) {
    const path = paths[endpoint.path] ?? {}
    path[endpoint.method.toLowerCase()] = describeOperation(endpoint, errorResponses)
    paths[endpoint.path] = path
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Muster',
      version: VERSION,
      summary: 'The control plane for sub-agents.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    security: [{ bearer: [] }],
    tags: TAGS.map((name) => ({ name, description: TAG_DESCRIPTIONS[name] })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `mst_…`. A server that was started open on loopback needs none.',
        },
      },
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY, IfMatch: IF_MATCH, IfNoneMatch: IF_NONE_MATCH, LastEventId: LAST_EVENT_ID },
      responses: sorted(errorResponses),
      examples: componentExamples(endpoints),
      schemas: componentSchemas(),
    },
  }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes a repetition safe: the same key, query and body get the first answer again. Kept for at least 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  example: 'spawn-2026-03-02-1',
}

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  // Its absence has an error code of its own, which a generated client would hide if the parameter were required.
  required: false,
  description: 'The `ETag` of what the change was made from. Without it 428; 412 with the current revision when there is a newer one.',
  schema: { type: 'string' },
  example: '"3"',
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of what the caller has, several of them, or `*`. 304 without a body while it is the same.',
  schema: { type: 'string' },
  example: '"mB3wdLv6PfFVLNYMKc8rDg"',
}

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'Id of the last event that arrived, as browsers send it when they reconnect.',
  schema: { type: 'integer', minimum: 0 },
}

function describeOperation(endpoint: Endpoint, errorResponses: Record<string, unknown>): Record<string, unknown> {
  const parameters = [
    ...parametersOf('path', endpoint),
    ...parametersOf('query', endpoint),
    ...(endpoint.method === 'POST' && endpoint.yieldsAfterMs === undefined ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(endpoint.takesIfMatch === true ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
    ...(endpoint.takesIfNoneMatch === true ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
    ...(endpoint.open === undefined ? [] : [{ $ref: '#/components/parameters/LastEventId' }]),
  ]
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: endpoint.description + scopeSentence(endpoint.access),
    ...(endpoint.access === 'public' ? { security: [] } : {}),
    ...(endpoint.isPublicOnLoopback === true ? { security: [{ bearer: [] }, {}] } : {}),
    ...(endpoint.access === 'public' || endpoint.access === 'key' ? {} : { 'x-required-scope': endpoint.access }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...describeBody(endpoint),
    responses: {
      ...Object.fromEntries(Object.entries(endpoint.answers).map(([status, answer]) => [status, describeAnswer(endpoint, answer)])),
      ...describeErrors(endpoint, errorResponses),
    },
  }
}

function describeBody({ body, markdown, bodyOptional, takesFiles }: Endpoint): { requestBody?: Record<string, unknown> } {
  if (takesFiles === true) return { requestBody: { required: true, content: Object.fromEntries(FILES_TYPES.map((type) => [type, FILES_CONTENT[type]])) } }
  if (body === undefined && markdown === undefined) return {}
  const content = {
    ...(body === undefined ? {} : contentOf('application/json', body, 'input')),
    ...(markdown === undefined ? {} : contentOf('text/markdown', markdown, 'input')),
  }
  return { requestBody: { required: bodyOptional !== true, content } }
}

const BINARY = { schema: { type: 'string', format: 'binary' } }

const FILES_CONTENT = {
  'application/zip': BINARY,
  'application/x-tar': BINARY,
  'application/gzip': BINARY,
  'multipart/form-data': {
    schema: { type: 'object', properties: { file: { type: 'array', items: { type: 'string', format: 'binary' } } } },
    examples: { definitions: { value: { file: ['---\nname: reviewer\ndescription: Reviews a change.\ntools: Read, Grep\n---\n\nReview it.\n'] } } },
  },
} satisfies Record<(typeof FILES_TYPES)[number], object>

function scopeSentence(access: Endpoint['access']): string {
  if (access === 'public') return ' Needs no key.'
  return access === 'key' ? '' : ` Needs the scope \`${access}\`.`
}

function parametersOf(place: 'path' | 'query', endpoint: Endpoint): unknown[] {
  const schema = place === 'path' ? endpoint.params : endpoint.query
  if (schema === undefined) return []
  return fieldsOf(schema).map(({ name, isRequired, schema: field, description }) => {
    const { examples, ...rest } = field
    return {
      name,
      in: place,
      required: place === 'path' || isRequired,
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(Array.isArray(examples) ? { example: examples[0] } : {}),
    }
  })
}

function describeAnswer(endpoint: Endpoint, answer: AnswerDescription): Record<string, unknown> {
  const replayed = endpoint.method === 'POST' ? { 'Idempotent-Replayed': 'true when this is the stored answer to an earlier request.' } : {}
  const headers = Object.entries({ ...answer.headers, ...replayed })
  const inMarkdown = answer.markdown === undefined ? {} : contentOf('text/markdown', answer.markdown, 'output')
  return {
    description: answer.description,
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers.map(([name, description]) => [name, { description, schema: { type: 'string' } }])) }),
    ...(answer.schema === undefined ? {} : { content: { ...contentOf(answer.contentType ?? 'application/json', answer.schema, 'output'), ...inMarkdown } }),
  }
}

/** A stream is text, and JSON in each `data` of it, or in each line. */
function contentOf(type: string, schema: NonNullable<AnswerDescription['schema']>, io: 'input' | 'output'): Record<string, unknown> {
  if (type === 'text/event-stream')
    return {
      [type]: {
        schema: { type: 'string', description: 'Each `data` is an Event.', contentMediaType: 'application/json', contentSchema: schemaInPlace(schema, io) },
        example: STREAM_EXAMPLE,
      },
    }
  if (type === 'application/x-ndjson')
    return {
      [type]: {
        schema: {
          type: 'string',
          description: `Each line is a ${nameOf(schema)}.`,
          contentMediaType: 'application/json',
          contentSchema: schemaInPlace(schema, io),
        },
        example: `${JSON.stringify(components.get(schema)?.example)}\n`,
      },
    }
  const name = nameOf(schema)
  const hasExample = name !== undefined && components.get(schema)?.example !== undefined
  return {
    [type]: {
      schema: schemaInPlace(schema, io),
      ...(type === 'text/plain'
        ? { example: components.get(schema)?.example ?? METRICS_EXAMPLE }
        : hasExample
          ? { examples: { [name]: { $ref: `#/components/examples/${name}` } } }
          : {}),
    },
  }
}

const STREAM_EXAMPLE = `retry: 1000

id: 1042
event: subtask.completed
data: {"id":1042,"type":"subtask.completed","at":"2026-03-02T08:00:09.310Z", …}

`

const METRICS_EXAMPLE = `# TYPE muster_event_subscriptions gauge
muster_event_subscriptions 3
`

/** The errors that an endpoint can give, whether of its own or because of what it is. */
function errorsOf(endpoint: Endpoint): ErrorCode[] {
  if (endpoint.yieldsAfterMs !== undefined) return ['unauthenticated', 'forbidden']
  const codes: ErrorCode[] = [...(endpoint.errors ?? []), 'validation_failed', 'rate_limited', 'internal', 'unavailable']
  if (endpoint.access !== 'public') codes.push('unauthenticated', 'forbidden')
  if (endpoint.body !== undefined || endpoint.markdown !== undefined) codes.push('payload_too_large', 'unsupported_media_type')
  if (endpoint.method === 'POST') codes.push('request_in_progress', 'idempotency_mismatch')
  return codes.filter((code) => !(String(ERROR_CODES[code].status) in endpoint.answers))
}

/** One response a status. Statuses that stand for several codes name them all. */
function describeErrors(endpoint: Endpoint, errorResponses: Record<string, unknown>): Record<string, { $ref: string }> {
  const order = Object.keys(ERROR_CODES)
  const codes = [...new Set(errorsOf(endpoint))].sort((left, right) => order.indexOf(left) - order.indexOf(right))
  const byStatus = Map.groupBy(codes, (code) => ERROR_CODES[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const name = group.map(pascalCase).join('Or')
      errorResponses[name] ??= describeErrorResponse(group)
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

function describeErrorResponse(codes: ErrorCode[]): Record<string, unknown> {
  const headers: Record<string, unknown> = {}
  if (codes.some((code) => HTTP_ERRORS[code].retryAfterSeconds !== undefined)) {
    headers['Retry-After'] = { description: 'Seconds after which a retry makes sense.', schema: { type: 'integer' } }
  }
  if (codes.includes('unauthenticated')) headers['WWW-Authenticate'] = { description: 'Always `Bearer`.', schema: { type: 'string' } }
  return {
    description: codes.map((code) => `\`${code}\`: ${HTTP_ERRORS[code].summary}`).join('\n\n'),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: {
      'application/problem+json': {
        schema: schemaInPlace(problemSchema, 'output'),
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleProblem(code) }])),
      },
    },
  }
}

function exampleProblem(code: ErrorCode): JsonSchema {
  const errors = code === 'validation_failed' ? [{ pointer: '/task', field: 'task', reason: 'must not be empty', value: '' }] : undefined
  const error = new DomainError(code, HTTP_ERRORS[code].summary.replaceAll('`', ''), errors === undefined ? {} : { errors })
  return toProblem(error, { path: '/subtasks', requestId: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47', docsUrl: 'http://127.0.0.1:7300/docs/errors' })
}

/** The examples of whole bodies; those of what is only a part of others are shown with them. */
function componentExamples(endpoints: readonly Endpoint[]): Record<string, unknown> {
  const bodies = new Set<unknown>(
    endpoints.flatMap((endpoint) => [
      endpoint.body,
      endpoint.markdown,
      ...Object.values(endpoint.answers)
        .filter(({ contentType }) => contentType === undefined)
        .flatMap(({ schema, markdown }) => [schema, markdown]),
    ]),
  )
  const examples: Record<string, unknown> = {}
  for (const [id, schema] of namedComponents()) {
    const example = components.get(schema)?.example
    if (example !== undefined && bodies.has(schema)) examples[id] = { value: example }
  }
  return examples
}

const pascalCase = (code: string): string => code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

const sorted = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1)))
