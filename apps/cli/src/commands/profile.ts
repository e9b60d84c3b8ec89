import type { Command } from 'commander'
import { Cli } from '../cli.ts'
import { CliError, EXIT, usageError } from '../exit-codes.ts'
import type { Column } from '../output/output.ts'
import { profilesFile, readProfiles, writeProfiles } from '../profiles.ts'

interface Row {
  name: string
  url: string
  session: string | null
  has_key: boolean
  current: boolean
}

const COLUMNS: Column<Row>[] = [
  ['', ({ current }) => (current ? '*' : '')],
  ['NAME', ({ name }) => name],
  ['KEY', ({ has_key }) => (has_key ? 'stored' : 'none')],
  ['SESSION', ({ session }) => session],
  ['URL', ({ url }) => url],
]

export function addProfiles(program: Command): void {
  const profile = program.command('profile').description('named servers with their keys, for --profile')
  profile
    .command('add <name>')
    .description('store a server; its key is asked for, or taken from MUSTER_KEY')
    .option('--session <id>', 'the session whose inbox is yours')
    .option('--no-key', 'without a key, for a server in open mode')
    .action(async (name: string, { session, key: withKey }: { session?: string; key: boolean }, command: Command) => {
      const cli = Cli.of(command)
      if (!/^[a-z0-9][\w.-]{0,63}$/i.test(name)) throw usageError('The name of a profile has letters, digits, dots, dashes and underscores, at most 64.')
      const { url } = cli
      if (!URL.canParse(url)) throw usageError(`${url} is no address. Give one such as --url https://muster.example.com.`)
      const key = withKey ? (process.env.MUSTER_KEY ?? (await askKey(cli))) : undefined
      const all = readProfiles()
      all.profiles[name] = { url, ...(key === undefined || key === '' ? {} : { key }), ...(session === undefined ? {} : { session }) }
      all.current ??= name
      writeProfiles(all)
      cli.out.note(
        `Stored in ${profilesFile()}, which only you can read.${all.current === name ? '' : ` Use it: --profile ${name}, or muster profile use ${name}.`}`,
      )
    })
  profile
    .command('ls')
    .description('list profiles')
    .action(async (_options: unknown, command: Command) => {
      const { current, profiles } = readProfiles()
      const rows = Object.entries(profiles).map(([name, { url, session, key }]) => ({
        name,
        url,
        session: session ?? null,
        has_key: key !== undefined,
        current: name === current,
      }))
      await Cli.of(command).out.rows(rows, COLUMNS, 'No profiles. Add one: muster profile add <name> --url <address>')
    })
  profile
    .command('use <name>')
    .description('make it the one that is used without --profile')
    .action((name: string, _options: unknown, command: Command) => {
      const all = readProfiles()
      const { url } = known(all.profiles, name)
      writeProfiles({ ...all, current: name })
      Cli.of(command).out.note(`${name} (${url}) is used from now on.`)
    })
  profile
    .command('rm <name>')
    .description('forget a server and its key; the key itself stays valid')
    .action((name: string, _options: unknown, command: Command) => {
      const { current, profiles } = readProfiles()
      known(profiles, name)
      delete profiles[name]
      writeProfiles({ profiles, ...(current === undefined || current === name ? {} : { current }) })
      Cli.of(command).out.note(`${name} is forgotten.`)
    })
}

function known<T>(profiles: Record<string, T>, name: string): T {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (found === undefined) throw new CliError(`There is no profile ${name}.`, EXIT.notFound)
  return found
}

async function askKey(cli: Cli): Promise<string> {
  if (!cli.canAsk) throw usageError('There is no terminal to ask for the key on: set MUSTER_KEY, or give --no-key.')
  const { isCancel, password } = await import('@clack/prompts')
  const answer = await password({ message: `API key of ${cli.url}`, output: process.stderr })
  if (isCancel(answer)) throw new CliError('Nothing was stored.', EXIT.interrupted)
  return answer
}
