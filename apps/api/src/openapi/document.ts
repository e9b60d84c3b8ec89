import { VERSION } from '@muster/domain'
import { type AnswerDescription, type Endpoint, TAGS } from '../http/endpoint.ts'
import type { FILES_TYPES } from '../http/files-body.ts'
import { components } from '../http/schemas.ts'
import { COMMON_ERRORS, errorCatalogue, errorsOf, problemResponse } from './errors.ts'
import { ANSWER_HEADERS } from './headers.ts'
import { componentSchemas, convertFields, fieldsOf, nameOf, schemaInPlace } from './json-schemas.ts'
import { linksOf } from './links.ts'
import { Parameters } from './parameters.ts'
import { withoutRepetition } from './repetition.ts'

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
  Webhooks: 'Events that are sent to programs, signed by Standard Webhooks.',
  Deliveries: 'What was sent to webhooks, callbacks and channels, and what they answered.',
  Runners: 'The programs and models that execute subtasks.',
  Workers: 'The processes that run subtasks, and how to take one out of service.',
  Audit: 'Who wrote what, from where.',
  Projects: 'The tenant and its limits.',
  'API keys': 'Credentials that open a project.',
  Operations: 'Health, readiness and metrics.',
}

const DESCRIPTION = [
  'Durable, steerable background work for agents.',
  'Errors are [problem details](https://www.rfc-editor.org/rfc/rfc9457) with a stable `code`. Every POST takes an `Idempotency-Key`: the same key, query and body get the first answer again, with `Idempotent-Replayed: true`. Times are RFC 3339 in UTC; lists take `limit` and `cursor`. Fields that a request does not know are refused; null in an optional field of a request counts as absent, unless the field says what null does. PATCH replaces lists and objects; as `application/merge-patch+json` it merges objects, as RFC 7396 says. `x-common-errors` names the errors that any operation can answer, any POST, and any with a body; `x-errors` those of one operation; `x-error-codes` what each means. `traceparent` is taken and passed on; answers have `X-Request-Id`, `RateLimit` and `RateLimit-Policy`.',
].join('\n\n')

/** Which endpoints answer what, as OpenAPI 3.1. */
export function describeApi(endpoints: readonly Endpoint[]): Record<string, unknown> {
  convertFields(endpoints.flatMap(({ params, query }) => [params, query].filter((schema) => schema !== undefined)))
  const parameters = new Parameters(endpoints)
  const links = linksOf(endpoints)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of endpoints) {
    const path = paths[endpoint.path] ?? {}
    path[endpoint.method.toLowerCase()] = describeOperation(endpoint, parameters, links.get(endpoint.operationId))
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
    'x-error-codes': errorCatalogue(),
    'x-common-errors': COMMON_ERRORS,
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `mst_…`. A server that was started open on loopback needs none.',
        },
      },
      parameters: parameters.components(),
      headers: ANSWER_HEADERS,
      responses: { Problem: problemResponse() },
      schemas: withoutRepetition(componentSchemas(withExample(endpoints))),
    },
  }
}

function describeOperation(endpoint: Endpoint, shared: Parameters, links: Record<string, unknown> | undefined): Record<string, unknown> {
  const parameters = shared.of(endpoint)
  // Of 200 and 202, the one that comes first in time.
  const linked = Object.entries(endpoint.answers).findLast(([status, { schema }]) => Number(status) < 300 && schema !== undefined)?.[0]
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: endpoint.description + (endpoint.access === 'public' ? ' Needs no key.' : ''),
    ...(endpoint.access === 'public' ? { security: [] } : {}),
    ...(endpoint.isPublicOnLoopback === true ? { security: [{ bearer: [] }, {}] } : {}),
    ...(endpoint.access === 'public' || endpoint.access === 'key' ? {} : { 'x-required-scope': endpoint.access }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...describeBody(endpoint),
    responses: {
      ...Object.fromEntries(
        Object.entries(endpoint.answers).map(([status, answer]) => [
          status,
          { ...describeAnswer(endpoint, answer), ...(links !== undefined && status === linked ? { links } : {}) },
        ]),
      ),
      default: { $ref: '#/components/responses/Problem' },
    },
    'x-errors': errorsOf(endpoint),
  }
}

function describeBody({ body, markdown, bodyOptional, takesFiles }: Endpoint): { requestBody?: Record<string, unknown> } {
  if (takesFiles === true) return { requestBody: { required: true, content: FILES_CONTENT } }
  if (body === undefined && markdown === undefined) return {}
  const content = {
    ...(body === undefined ? {} : contentOf('application/json', body, 'input')),
    ...(markdown === undefined ? {} : contentOf('text/markdown', markdown, 'input')),
  }
  return { requestBody: { required: bodyOptional !== true, content } }
}

const BINARY = { schema: { type: 'string', format: 'binary' } }

const FILES_CONTENT = {
  // First: generators for Java take the body for what comes first.
  'multipart/form-data': {
    // Without a name: generators for Java forget the schema of a form, whose fields become parameters.
    schema: { type: 'object', properties: { file: { type: 'array', items: { type: 'string', format: 'binary' } } } },
    example: { file: ['---\nname: reviewer\ndescription: Reviews a change.\ntools: Read, Grep\n---\n\nReview it.\n'] },
  },
  'application/zip': BINARY,
  'application/x-tar': BINARY,
  'application/gzip': BINARY,
} satisfies Record<(typeof FILES_TYPES)[number], object>

function describeAnswer({ query }: Endpoint, answer: AnswerDescription): Record<string, unknown> {
  const isList = query !== undefined && fieldsOf(query).some(({ name }) => name === 'cursor')
  const headers = [...(answer.headers ?? []), ...(isList ? (['Link'] as const) : [])]
  const inMarkdown = answer.markdown === undefined ? {} : contentOf('text/markdown', answer.markdown, 'output')
  return {
    description: answer.description,
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])) }),
    ...(answer.schema === undefined ? {} : { content: { ...contentOf(answer.contentType ?? 'application/json', answer.schema, 'output'), ...inMarkdown } }),
  }
}

/** The schema of a stream is that of each `data`: OpenAPI 3.1 has no other place for it, and clients that read streams look there. */
function contentOf(type: string, schema: NonNullable<AnswerDescription['schema']>, io: 'input' | 'output'): Record<string, unknown> {
  if (type === 'text/event-stream') return { [type]: { schema: schemaInPlace(schema, io), 'x-stream': 'server-sent-events' } }
  if (type === 'application/x-ndjson')
    return {
      [type]: {
        schema: {
          type: 'string',
          description: `Each line is a ${nameOf(schema)}.`,
          contentMediaType: 'application/json',
          contentSchema: schemaInPlace(schema, io),
        },
      },
    }
  const example = type === 'text/plain' && components.get(schema)?.example === undefined ? { example: METRICS_EXAMPLE } : {}
  return { [type]: { schema: schemaInPlace(schema, io), ...example } }
}

/** Requests, and what an id leads to, show an example: those of everything else would repeat them. */
function withExample(endpoints: readonly Endpoint[]): Set<unknown> {
  const isItem = ({ method, path, open }: Endpoint) => open !== undefined || (method === 'GET' && path.endsWith('}'))
  return new Set(
    endpoints.flatMap((endpoint) => [
      endpoint.body,
      endpoint.markdown,
      ...(isItem(endpoint) ? Object.values(endpoint.answers).flatMap(({ schema, markdown }) => [schema, markdown]) : []),
    ]),
  )
}

const METRICS_EXAMPLE = `# TYPE muster_event_subscriptions gauge
muster_event_subscriptions 3
`
