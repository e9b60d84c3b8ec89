/** Where a write came from. */
export const AUDIT_DOORS = ['http', 'mcp', 'script', 'telegram'] as const

export type AuditDoor = (typeof AUDIT_DOORS)[number]

/** What an entry point knows of a write before it happens: names and ids, never values. */
export interface Origin {
  door: AuditDoor
  /** The address of the caller; null where the write comes from this machine's own commands. */
  address: string | null
  /** The `operationId`, the name of the tool, or the command. */
  operation: string
  requestId: string | null
  /** Ids that the request names, by their parameter. */
  ids: Record<string, string>
  /** Names of the fields that the request sets. */
  fields: readonly string[]
}

/** One write in the audit log. */
export interface AuditEntry {
  /** Its place: entries are in the order of their writes, with gaps. */
  seq: number
  at: Date
  actor: { kind: string; id: string; name: string | null }
  origin: Origin
}

const FIELDS_MAX = 50
const NAME_POINTS_MAX = 64
const ID_POINTS_MAX = 128
const IDS_MAX = 10

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** Of JSON: a body of another type, such as files, is an object of a class. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The names of what a body sets, two levels deep: `settings.limits`, not the limit. Never a value, and not what is inside of `metadata` and other
 * objects of the caller's own, whose names could be anything.
 */
export function fieldNames(body: unknown, ownObjects: readonly string[] = ['metadata', 'outputs', 'answer', 'arguments', 'context']): string[] {
  if (!isPlain(body)) return []
  const names = Object.entries(body).flatMap(([name, value]) =>
    isPlain(value) && !ownObjects.includes(name) && Object.keys(value).length > 0 ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name],
  )
  return names.slice(0, FIELDS_MAX).map((name) => cut(name, NAME_POINTS_MAX))
}

/** The ids of what a write has made or changed: `id` of its result, and of what the result contains. */
export function idsOfResult(result: unknown): Record<string, string> {
  if (!isObject(result)) return {}
  const ids = Object.entries(result).flatMap(([name, value]): [string, string][] => {
    if (name === 'id' && typeof value === 'string') return [['id', value]]
    return isObject(value) && typeof value.id === 'string' ? [[`${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_id`, value.id]] : []
  })
  return Object.fromEntries(ids.slice(0, IDS_MAX))
}

/** Ids among the parameters of a path or a tool: what is called `id` or ends in it, and names that stand for one. */
export function idsAmong(parameters: Record<string, unknown>): Record<string, string> {
  const ids = Object.entries(parameters).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && (/(^|_)id$/.test(entry[0]) || entry[0] === 'name'),
  )
  return Object.fromEntries(ids.slice(0, IDS_MAX).map(([name, value]) => [name, cut(value, ID_POINTS_MAX)]))
}
