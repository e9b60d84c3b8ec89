import type { ApiKey, BodyOf } from '@muster/client'
import type { Command } from 'commander'
import { Cli } from '../cli.ts'
import type { Column } from '../output/output.ts'
import { relativeTime } from '../output/text.ts'

const COLUMNS: Column<ApiKey>[] = [
  ['ID', ({ id }) => id],
  ['PREFIX', ({ key_prefix }) => key_prefix],
  [
    'STATE',
    ({ revoked_at, expires_at }) => (revoked_at !== null ? 'revoked' : expires_at !== null && Date.parse(expires_at) < Date.now() ? 'expired' : 'active'),
  ],
  ['EXPIRES', ({ expires_at }) => relativeTime(expires_at)],
  ['NAME', ({ name }) => name],
  ['SCOPES', ({ scopes }) => scopes.join(' ')],
]

export function addKeys(program: Command): void {
  const key = program.command('key').description('API keys of the project')
  key
    .command('create <name>')
    .description('create a key; it is shown once')
    .requiredOption('--scopes <scopes>', 'what it may do, separated by commas, such as subtasks:read,subtasks:write')
    .option('--agent <id>', 'only for this agent')
    .option('--expires <time>', 'ISO 8601')
    .action(async (name: string, { scopes, agent, expires }: { scopes: string; agent?: string; expires?: string }, command: Command) => {
      const cli = Cli.of(command)
      const body = {
        name,
        scopes: scopes.split(',').map((scope) => scope.trim()),
        ...(agent === undefined ? {} : { agent_id: agent }),
        ...(expires === undefined ? {} : { expires_at: expires }),
      } as BodyOf<'createApiKey'>
      const created = await cli.muster().keys.create(body)
      await cli.out.result(created, () => created.key ?? 'The same request was answered before. A key is shown only once.')
      cli.out.note('Keep it now: it is not shown again.')
    })
  key
    .command('ls')
    .description('list keys')
    .action(async (_options: unknown, command: Command) => {
      const cli = Cli.of(command)
      await cli.out.rows(await cli.muster().keys.list().all(), COLUMNS, 'No keys.')
    })
  key
    .command('revoke <id>')
    .description('end a key at once')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      await cli.muster().keys.revoke(id)
      await cli.out.result({ id, revoked: true }, () => `${id}  revoked`)
    })
}
