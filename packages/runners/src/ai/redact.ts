import type { McpServerSettings, Settings } from '@muster/domain'
import type { Environment } from '../command/program.ts'

/** The settings that have secrets in them which a run could come by. */
type SettingsWithSecrets = Pick<Settings, 'ANTHROPIC_API_KEY' | 'MCP_SERVERS'> & Partial<Pick<Settings, 'OPENAI_API_KEY' | 'WEB_SEARCH_API_KEY'>>

/** Headers that every client sends alike: their values are words of texts, and no secrets. */
const PLAIN_HEADERS = /^(accept(-.*)?|content-type|user-agent)$/i
/** Variables whose values are secrets, by their names. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|DATABASE_URL/i

/** The secrets of an operator's settings by what they are called: for `createRedact`, so that nothing that leaves a run has them. */
export function operatorSecrets({
  ANTHROPIC_API_KEY,
  OPENAI_API_KEY,
  WEB_SEARCH_API_KEY,
  MCP_SERVERS,
}: SettingsWithSecrets): Record<string, string | undefined> {
  const ofServers = Object.entries(MCP_SERVERS).flatMap(([name, server]) => secretsOf(server).map((value, place) => [`MCP_SERVERS.${name}.${place}`, value]))
  return { ANTHROPIC_API_KEY, OPENAI_API_KEY, WEB_SEARCH_API_KEY, ...Object.fromEntries(ofServers) }
}

/** What headers say, with and without their scheme; what stands in an address to be let in; variables that are called secrets. */
function secretsOf(server: McpServerSettings): string[] {
  if ('command' in server) {
    return Object.entries(server.env ?? {})
      .filter(([name]) => SECRET_NAME.test(name))
      .map(([, value]) => value)
  }
  const { username, password, searchParams } = new URL(server.url)
  const headers = Object.entries(server.headers ?? {}).filter(([name]) => !PLAIN_HEADERS.test(name))
  return [...headers.flatMap(([, value]) => [value, ...value.split(' ').slice(1)]), username, password, ...searchParams.values()]
}

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
