import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Actor, parseProcessSettings, type Scope } from '@muster/domain'
import { type Ctx, createApiKey, createProject, createSubtask, type Log, openActor, relayOutbox } from '@muster/usecases'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'
import { v7 } from 'uuid'
import { buildApp } from '../app.ts'
import { createBackground } from '../background.ts'
import { createDeps, type RunningDeps } from '../deps.ts'
import { describeApi } from '../openapi/document.ts'
import { commonErrorsOf } from '../openapi/errors.ts'
import { endpoints } from '../routes/index.ts'

/** What the tests beside the routes share: the whole API over a database of a file's own, called as from outside. */
export interface TestApi {
  app: FastifyInstance
  deps: RunningDeps
  /** The context of an open server's caller, in the default project, to prepare a test through use-cases. */
  ctx: Ctx
  /** Sends a request, and checks what comes back against the reference. */
  call(method: Method, path: string, options?: CallOptions): Promise<Reply>
  /** A new key of the default project, or of another. */
  key(scopes: Scope[], actor?: Actor): Promise<string>
  /** An actor with every scope in its own project. */
  stranger(): Promise<Actor>
  /** As SIGTERM does first: ends streams and long polls. */
  beginStop(): void
  /** What was logged as an error since the last call. */
  takeErrors(): string[]
  close(): Promise<void>
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT'

export interface CallOptions {
  key?: string | undefined
  body?: unknown
  /** Instead of `body`: sent as it is, as JSON unless `headers` say otherwise. */
  raw?: string | Buffer
  headers?: Record<string, string>
  /** Address that the request comes from; this machine's unless told otherwise. */
  from?: string
}

export interface Reply {
  status: number
  headers: Record<string, unknown>
  text: string
  /** The parsed body. Typed loosely: what it has to be is what the test says, and the reference is checked already. */
  // biome-ignore lint/suspicious/noExplicitAny: assertions read deep into bodies of every kind.
  body: any
}

/**
 * Starts the API without a port. Keys are needed unless the settings say otherwise.
 *
 * @param database a migrated database of this file's own; it is removed at the end
 */
export async function startApi(
  database: { appUrl: string; drop: () => Promise<void> },
  settings: Record<string, string> = {},
  { awaitReady = true } = {},
): Promise<TestApi> {
  let errors: string[] = []
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (fields, message) => void errors.push(`${message} ${String((fields as { err?: unknown }).err ?? '')}`),
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'muster-data-'))
  const parsed = parseProcessSettings({ DATABASE_URL: database.appUrl, DATA_DIR: dataDir, ...settings })
  const stopping = new AbortController()
  const deps = createDeps({ settings: parsed, environment: { PATH: '' }, log, stopping: stopping.signal })
  const background = createBackground(deps)
  const app = await buildApp(deps)
  const begun = background.start().catch((error: Error) => errors.push(`fatal: ${error.message}`))
  while (awaitReady && (await deps.readiness()).reason !== null) await new Promise((resolve) => setTimeout(resolve, 5))
  const ctx: Ctx = { ...deps, actor: openActor() }
  return {
    app,
    deps,
    ctx,
    async call(method, path, options = {}) {
      const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
      const response = await app.inject({
        method,
        url: path,
        ...(options.from === undefined ? {} : { remoteAddress: options.from }),
        headers: {
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
          ...options.headers,
        },
        ...(payload === undefined ? {} : { payload }),
      })
      const type = String(response.headers['content-type'] ?? '')
      const reply: Reply = {
        status: response.statusCode,
        headers: response.headers,
        text: response.body,
        body: parseBody(type, response.body),
      }
      checkReply(method, path, type, reply)
      return reply
    },
    async key(scopes, actor = ctx.actor) {
      return (await createApiKey({ ...deps, actor }, { name: 'test', scopes })).secret
    },
    async stranger() {
      const project = await createProject(deps, 'another')
      return { ...openActor(), kind: 'key', id: v7(), projectId: project.id }
    },
    beginStop: () => stopping.abort(),
    takeErrors() {
      const taken = errors
      errors = []
      return taken
    },
    async close() {
      stopping.abort()
      await begun
      await app.close()
      await background.stop()
      await deps.close()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
      if (errors.length > 0) throw new Error(`Errors were logged that no test expected:\n${errors.join('\n')}`)
    },
  }
}

/** Spawns a subtask for outside workers, past the door. */
export function spawnExternal(ctx: Ctx, input: Partial<Parameters<typeof createSubtask>[1]> = {}) {
  return createSubtask(ctx, { task: 'Count the files.', runner: 'external', ...input })
}

/** Waits until every event so far is in the log. */
export async function drainEvents(api: TestApi): Promise<void> {
  while (await relayOutbox(api.deps));
}

interface Operation {
  pattern: RegExp
  method: string
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }>
  errors: string[]
}

const document = describeApi(endpoints(new Registry()))
const operations: Operation[] = Object.entries(
  document.paths as Record<string, Record<string, { requestBody?: unknown; responses: Operation['responses']; 'x-errors': string[] }>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { requestBody, responses, 'x-errors': errors }]) => ({
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    method: method.toUpperCase(),
    responses,
    errors: [...commonErrorsOf(method.toUpperCase(), requestBody !== undefined), ...errors],
  })),
)
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema({ $id: 'api', ...document })
const validators = new Map<string, ValidateFunction>()

const LINES = 'application/x-ndjson'

/** Of lines, an array. */
function parseBody(type: string, text: string): unknown {
  if (type.startsWith(LINES))
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  return type.includes('json') ? JSON.parse(text) : undefined
}

/** An answer that the reference does not tell of is a defect of one of the two. */
function checkReply(method: string, path: string, type: string, reply: Reply): void {
  const pathname = path.split('?', 1)[0] ?? path
  const fitting = operations.filter((each) => each.method === method && each.pattern.test(pathname))
  // Of /subtasks/claim and /subtasks/{id}, the one without a parameter.
  const found = fitting.find((each) => !each.pattern.source.includes('[^')) ?? fitting[0]
  if (found === undefined) return
  const isError = found.responses[reply.status] === undefined && reply.status >= 400
  const declared = found.responses[isError ? 'default' : reply.status]
  const response = declared?.$ref === undefined ? declared : resolveRef(declared.$ref)
  const where = `${method} ${pathname} → ${reply.status} ${type}`
  if (response === undefined || (isError && !found.errors.includes(reply.body?.code)))
    throw new Error(`${where}: the reference has no such answer: ${reply.text.slice(0, 300)}`)
  if (reply.body === undefined) return
  const content = response.content?.[type.split(';', 1)[0] ?? '']?.schema
  if (content === undefined) throw new Error(`${where}: the reference has no such content`)
  const isLines = type.startsWith(LINES)
  const schema = isLines ? { type: 'array', items: (content as { contentSchema: object }).contentSchema } : content
  const key = JSON.stringify(schema)
  const validate = validators.get(key) ?? ajv.compile(JSON.parse(key.replaceAll('"#/', '"api#/')))
  validators.set(key, validate)
  if (!validate(reply.body)) throw new Error(`${where}: ${ajv.errorsText(validate.errors)} in ${reply.text.slice(0, 500)}`)
}

function resolveRef(ref: string): Operation['responses'][string] | undefined {
  const name = ref.split('/').at(-1) ?? ''
  return (document.components as { responses: Operation['responses'] }).responses[name]
}
