import { VERSION } from '@muster/domain'
import { type AnswerDescription, type Endpoint, TAGS } from '../http/endpoint.ts'
import { FILES_TYPES } from '../http/files-body.ts'
import { components, namedComponents } from '../http/schemas.ts'
import { errorCatalogue, errorsOf, problemResponse } from './errors.ts'
import { ANSWER_HEADERS } from './headers.ts'
import { componentSchemas, convertFields, nameOf, schemaInPlace } from './json-schemas.ts'
import { Parameters } from './parameters.ts'

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
  Runners: 'The programs and models that execute subtasks.',
  Workers: 'The processes that run subtasks, and how to take one out of service.',
  Audit: 'Who wrote what, from where.',
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
  const parameters = new Parameters(endpoints)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of endpoints) {
    const path = paths[endpoint.path] ?? {}
    path[endpoint.method.toLowerCase()] = describeOperation(endpoint, parameters)
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
      examples: componentExamples(endpoints),
      schemas: componentSchemas(),
    },
  }
}

function describeOperation(endpoint: Endpoint, shared: Parameters): Record<string, unknown> {
  const parameters = shared.of(endpoint)
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
      default: { $ref: '#/components/responses/Problem' },
    },
    'x-errors': errorsOf(endpoint),
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
    schema: { $ref: '#/components/schemas/SubagentFiles' },
    examples: { definitions: { value: { file: ['---\nname: reviewer\ndescription: Reviews a change.\ntools: Read, Grep\n---\n\nReview it.\n'] } } },
  },
} satisfies Record<(typeof FILES_TYPES)[number], object>

function scopeSentence(access: Endpoint['access']): string {
  if (access === 'public') return ' Needs no key.'
  return access === 'key' ? '' : ` Needs the scope \`${access}\`.`
}

function describeAnswer(endpoint: Endpoint, answer: AnswerDescription): Record<string, unknown> {
  const headers = [...(answer.headers ?? []), ...(endpoint.method === 'POST' ? (['Idempotent-Replayed'] as const) : [])]
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

const METRICS_EXAMPLE = `# TYPE muster_event_subscriptions gauge
muster_event_subscriptions 3
`

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
