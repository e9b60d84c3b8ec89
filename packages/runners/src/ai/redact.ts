import type { Environment } from '../command/program.ts'
import { SECRET_NAME } from './operator-secrets.ts'

/** Takes what must not be seen out of a text. */
export type Redact = (text: string) => string

/** Shorter values stand for nothing, and are part of other words. */
const SECRET_LENGTH_MIN = 8

/**
 * Takes secrets out of texts by their values: those of variables whose names say so, and the given ones. The last net, below tools
 * that are not given them at all: a model must not bring one into a transcript, whichever way it came by it.
 */
export function createRedact(environment: Environment, secrets: Readonly<Record<string, string | undefined>>): Redact {
  const fromEnvironment = Object.entries(environment).filter(([name]) => SECRET_NAME.test(name))
  const known = [...Object.entries(secrets), ...fromEnvironment].filter((entry): entry is [string, string] => (entry[1]?.length ?? 0) >= SECRET_LENGTH_MIN)
  // The longest first: one may be part of another.
  known.sort(([, a], [, b]) => b.length - a.length)
  return (text) => known.reduce((rest, [name, value]) => rest.replaceAll(value, `[${name} removed]`), text)
}

/** The same for every text inside of a JSON value. */
export function redactJson(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redact))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactJson(item, redact)]))
  return value
}
