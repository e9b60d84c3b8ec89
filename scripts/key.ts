import type { ApiKey } from '@muster/usecases'
import { type KeyResult, runKeyCommand } from './key/keys.ts'
import { HELP, parseKeyCommand } from './key/options.ts'
import { withDatabase } from './system/database.ts'
import { loadEnvFile, prepareEnvironment } from './system/environment.ts'
import { reportFailure } from './system/report.ts'

/** Whether a key is valid now, and until when. */
function stateOf(key: ApiKey, now: Date): string {
  if (key.revokedAt !== null) return `revoked ${key.revokedAt.toISOString()}`
  if (key.expiresAt === null) return 'never expires'
  return `${key.expiresAt <= now ? 'expired' : 'expires'} ${key.expiresAt.toISOString()}`
}

function describe(key: ApiKey, now: Date): string {
  const agent = key.agentId === null ? '' : `  agent ${key.agentId}`
  return `${key.id}  ${key.name}  ${key.keyPrefix}…  ${key.scopes.join(',')}${agent}  ${stateOf(key, now)}`
}

/** Only the key goes to standard output, so that a shell can keep it in a variable. Its description goes to standard error. */
function print(result: KeyResult, now: Date): void {
  if ('made' in result) {
    console.error(`${describe(result.made, now)}\nproject ${result.made.projectId}\n\nThe key, shown this once; send it as "Authorization: Bearer <key>":\n`)
    console.log(result.secret)
  } else if ('revoked' in result) {
    console.log(describe(result.revoked, now))
  } else if (result.list.length === 0) {
    console.log('There are no keys. Create one with: npm run key -- create --name first --scopes subtasks:read,subtasks:write')
  } else {
    for (const key of result.list) console.log(describe(key, now))
  }
}

async function main(): Promise<void> {
  const now = new Date()
  const command = parseKeyCommand(process.argv.slice(2), now)
  if (command.verb === 'help') return console.log(HELP)
  loadEnvFile()
  const { settings } = prepareEnvironment(process.env)
  const log = (line: string): void => console.error(line)
  print(await withDatabase(settings, 'use', log, ({ appUrl }) => runKeyCommand(command, settings, appUrl)), now)
}

main().catch((error: unknown) => {
  reportFailure(error)
  process.exitCode = 1
})
