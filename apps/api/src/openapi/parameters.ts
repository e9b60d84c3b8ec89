import type { Endpoint } from '../http/endpoint.ts'
import { fieldsOf } from './json-schemas.ts'

type Parameter = Record<string, unknown> & { name: string }

/** Parameters in headers that several endpoints take. */
const HEADER_PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]{0,253}[\\x21-\\x7e])?$' },
    example: 'spawn-2026-03-02-1',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: true,
    description: 'The `ETag` of what the change was made from, several of them, or `*` for any. 428 without it; 412 if there is a newer revision.',
    schema: { type: 'string' },
    example: '"3"',
  },
  OptionalIfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of what the caller has, several of them, or `*`. 304 without a body while it is the same.',
    schema: { type: 'string' },
    example: '"mB3wdLv6PfFVLNYMKc8rDg"',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'Id of the last event that arrived.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
  },
} as const

/** Parameters of all operations: those that several have, under a name; the others in their place. */
export class Parameters {
  readonly #names = new Map<string, string>()
  readonly #shared: Record<string, unknown> = { ...HEADER_PARAMETERS }

  constructor(endpoints: readonly Endpoint[]) {
    const uses = Map.groupBy(
      endpoints.flatMap((endpoint) => ownParameters(endpoint).map((parameter) => ({ endpoint, parameter, key: JSON.stringify(parameter) }))),
      ({ key }) => key,
    )
    for (const [key, [first, ...others]] of uses) {
      if (first === undefined || others.length === 0) continue
      const name = nameFor(first.endpoint, first.parameter, this.#shared)
      this.#names.set(key, name)
      this.#shared[name] = first.parameter
    }
  }

  /** What stands at an operation. */
  of(endpoint: Endpoint): unknown[] {
    const own = ownParameters(endpoint).map((parameter) => {
      const name = this.#names.get(JSON.stringify(parameter))
      return name === undefined ? parameter : refTo(name)
    })
    return [...own, ...headerParameters(endpoint).map(refTo)]
  }

  components(): Record<string, unknown> {
    return Object.fromEntries(Object.entries(this.#shared).sort(([left], [right]) => (left < right ? -1 : 1)))
  }
}

const refTo = (name: string) => ({ $ref: `#/components/parameters/${name}` })

function headerParameters(endpoint: Endpoint): (keyof typeof HEADER_PARAMETERS)[] {
  return [
    ...(endpoint.method === 'POST' && endpoint.yieldsAfterMs === undefined ? (['IdempotencyKey'] as const) : []),
    ...(endpoint.takesIfMatch === 'required' ? (['IfMatch'] as const) : []),
    ...(endpoint.takesIfMatch === 'optional' ? (['OptionalIfMatch'] as const) : []),
    ...(endpoint.takesIfNoneMatch === true ? (['IfNoneMatch'] as const) : []),
    ...(endpoint.open === undefined ? [] : (['LastEventId'] as const)),
  ]
}

function ownParameters(endpoint: Endpoint): Parameter[] {
  const present = presentParameters(endpoint)
  const former = Object.entries(endpoint.queryAliases ?? {}).map(([name, now]) => {
    const { example: _, ...same } = present.find((parameter) => parameter.name === now) as Parameter
    return { ...same, name, description: `Use \`${now}\`.`, deprecated: true }
  })
  return [...present, ...former]
}

function presentParameters(endpoint: Endpoint): Parameter[] {
  return (['path', 'query'] as const).flatMap((place) => {
    const schema = place === 'path' ? endpoint.params : endpoint.query
    if (schema === undefined) return []
    return fieldsOf(schema).map(({ name, isRequired, schema: field, description }) => {
      const { examples, ...rest } = field
      return {
        name,
        in: place,
        ...(place === 'path' || isRequired ? { required: true } : {}),
        ...(description === undefined ? {} : { description }),
        schema: rest,
        ...(Array.isArray(examples) ? { example: examples[0] } : {}),
      }
    })
  })
}

/** `TaskId` for `{id}` in /tasks/{id}; `Limit` for a filter of many lists, `SubtasksAgentId` where another has that name. */
function nameFor(endpoint: Endpoint, { name }: Parameter, taken: Record<string, unknown>): string {
  const segments = endpoint.path.split('/').filter((segment) => segment !== '')
  const place = segments.indexOf(`{${name}}`)
  const noun = pascal((segments[Math.max(0, place - 1)] ?? '').replace(/s$/, ''))
  const short = name === 'id' ? `${noun}Id` : pascal(name)
  const names = [short, `${noun}${short}`, pascal(endpoint.operationId) + short]
  const free = names.find((each) => !(each in taken))
  if (free === undefined) throw new Error(`no name is left for the parameter ${name} of ${endpoint.operationId}`)
  return free
}

const pascal = (name: string): string => name.replaceAll(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase())
