import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { parse } from 'yaml'

/** The parts of the reference that tests read. */
export interface Operation {
  operationId: string
  method: string
  /** As the reference writes it: `/subtasks/{id}`. */
  path: string
  /** Undefined where no scope is asked for. */
  scope: string | undefined
  isPublic: boolean
  parameters: { name: string; in: string; required?: boolean; schema: Record<string, unknown> }[]
  /** JSON Schema of the body, where there is one. */
  body: Record<string, unknown> | undefined
  isBodyRequired: boolean
  example: unknown
  /** An example of a Markdown body, where that is what it takes. */
  markdown: string | undefined
  /** Texts of files, where the body is a form of files. */
  files: string[] | undefined
  /** Media types by status; none where there is no body. */
  answers: Map<number, Map<string, Record<string, unknown>>>
  /** Codes of the errors that it can answer. */
  errors: readonly string[]
}

type Json = Record<string, unknown>

/** An answer of as many JSON values as there are, one a line. */
export const LINES = 'application/x-ndjson'

export const OPENAPI_FILE = fileURLToPath(new URL('../../openapi.yaml', import.meta.url))
const document = parse(readFileSync(OPENAPI_FILE, 'utf8')) as Json
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const ajv = new Ajv2020({ strict: false, allErrors: true })
// The package is CommonJS, whose default export TypeScript takes for the module.
;(formats as unknown as (target: Ajv2020) => void)(ajv)
ajv.addSchema(document, 'openapi')
const compiled = new Map<string, ValidateFunction>()

/** The `default` answer of every operation. */
const problemMedia = mediaOf({ $ref: '#/components/responses/Problem' })

/** Everything that `openapi.yaml` says can be called. */
export const OPERATIONS: readonly Operation[] = Object.entries(document.paths as Record<string, Json>).flatMap(([path, item]) =>
  METHODS.filter((method) => method in item).map((method) => describe(path, method, item[method] as Json)),
)

export function operation(operationId: string): Operation {
  const found = OPERATIONS.find((each) => each.operationId === operationId)
  if (found === undefined) throw new Error(`openapi.yaml has no operation ${operationId}.`)
  return found
}

/** The operation that a request is for: one whose path has the most words of its own. */
export function operationFor(method: string, path: string): Operation | undefined {
  const candidates = OPERATIONS.filter((each) => each.method === method && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
  return candidates.sort((left, right) => left.path.split('{').length - right.path.split('{').length)[0]
}

/** Whether errors are answered with an empty 200, so that the caller continues. */
export const failsOpen = ({ path }: Operation): boolean => path.startsWith('/hooks/')

/** What is wrong with an answer, by the reference; empty when it is as promised. */
export function problemsOf(called: Operation, answer: { status: number; contentType: string | null; text: string }): string[] {
  const media = called.answers.get(answer.status) ?? (answer.status >= 400 ? problemMedia : undefined)
  if (media === undefined) return [`status ${answer.status} is not declared`]
  // Of a hook that has nothing to say, or has failed; no reference can say that a body may be absent.
  if (failsOpen(called) && answer.status === 200 && answer.text === '') return []
  if (media.size === 0) return answer.text === '' ? [] : ['a body came where none is declared']
  const type = (answer.contentType ?? '').split(';', 1)[0]?.trim() ?? ''
  const schema = media.get(type)
  if (schema === undefined) return [`content type ${type || '(none)'} is not declared for ${answer.status}`]
  if (type === LINES) return answer.text.split('\n').flatMap((line) => (line === '' ? [] : schemaProblems(schema.contentSchema as Json, JSON.parse(line))))
  if (!type.endsWith('json')) return []
  const body = JSON.parse(answer.text) as Json
  const undeclared = media === problemMedia && !called.errors.includes(String(body.code)) ? [`x-errors has no code ${body.code}`] : []
  return [...undeclared, ...schemaProblems(schema, body)]
}

/** What is wrong with a value, by a schema of the reference. */
export function schemaProblems(schema: Record<string, unknown>, value: unknown): string[] {
  const key = JSON.stringify(schema)
  const validate = compiled.get(key) ?? ajv.compile(absolute(schema) as Json)
  compiled.set(key, validate)
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath || '(body)'} ${error.message}`)
}

export const componentSchema = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** A schema with all of its references followed, for those who read it themselves. */
export function resolve(schema: Json): Json {
  if (typeof schema.$ref !== 'string') return schema
  let target: unknown = document
  for (const name of schema.$ref.slice(2).split('/')) target = (target as Json)[name]
  return resolve(target as Json)
}

function describe(path: string, method: string, given: Json): Operation {
  const security = given.security as unknown[] | undefined
  const parameters = ((given.parameters ?? []) as Json[]).map(resolve) as unknown as Operation['parameters']
  const request = given.requestBody as { required?: boolean; content: Record<string, Json> } | undefined
  const content = request?.content['application/json']
  const { any, post, body } = document['x-common-errors'] as Record<'any' | 'post' | 'body', string[]>
  const exampleOf = (media: Json | undefined) => (media === undefined ? undefined : (resolve(media.schema as Json).examples as unknown[] | undefined)?.[0])
  return {
    operationId: given.operationId as string,
    method: method.toUpperCase(),
    path,
    scope: given['x-required-scope'] as string | undefined,
    isPublic: security !== undefined && (security.length === 0 || security.some((each) => Object.keys(each as Json).length === 0)),
    parameters,
    body: content?.schema as Json | undefined,
    isBodyRequired: request?.required === true,
    example: exampleOf(content),
    markdown: exampleOf(request?.content['text/markdown']) as string | undefined,
    files: (request?.content['multipart/form-data']?.example as { file: string[] } | undefined)?.file,
    answers: new Map(
      Object.entries(given.responses as Record<string, Json>)
        .filter(([status]) => status !== 'default')
        .map(([status, response]) => [Number(status), mediaOf(response)]),
    ),
    errors: [...any, ...(method === 'post' ? post : []), ...(request === undefined ? [] : body), ...(given['x-errors'] as string[])],
  }
}

function mediaOf(response: Json): Map<string, Json> {
  const media = (resolve(response).content ?? {}) as Record<string, { schema: Json }>
  return new Map(Object.entries(media).map(([type, { schema }]) => [type, schema]))
}

/** References as a reader outside of the document has to write them. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' && inner.startsWith('#') ? `openapi${inner}` : absolute(inner),
    ]),
  )
}
