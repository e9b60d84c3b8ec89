import type { McpServerSettings, Settings } from '@muster/domain'

/** The settings that have secrets in them which a run could come by. */
export type SettingsWithSecrets = Pick<Settings, 'ANTHROPIC_API_KEY' | 'MCP_SERVERS'> & Partial<Pick<Settings, 'OPENAI_API_KEY' | 'WEB_SEARCH_API_KEY'>>

/** Headers that every client sends alike: their values are words of texts, and no secrets. */
const PLAIN_HEADERS = /^(accept(-.*)?|content-type|user-agent)$/i
/** Variables whose values are secrets, by their names. */
export const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|DATABASE_URL/i

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
