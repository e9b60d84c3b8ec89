import type { Command } from 'commander'
import { Cli } from '../cli.ts'
import { CliError, EXIT, usageError } from '../exit-codes.ts'
import type { Column } from '../output/output.ts'
import { type Profiles, profilesFile, readProfiles, writeProfiles } from '../profiles.ts'

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
      const key = withKey ? process.env.MUSTER_KEY || (await askKey(cli)) : undefined
      const all = readProfiles()
      all.profiles[name] = { url, ...(key === undefined || key === '' ? {} : { key }), ...(session === undefined ? {} : { session }) }
      all.current ??= name
      writeProfiles(all)
      if (cli.out.json) return await cli.out.result(rowOf(all, name), () => '')
      cli.out.note(
        `Stored in ${profilesFile()}, which only you can read.${all.current === name ? '' : ` Use it: --profile ${name}, or muster profile use ${name}.`}`,
      )
    })
  profile
    .command('ls')
    .description('list profiles')
    .action(async (_options: unknown, command: Command) => {
      const all = readProfiles()
      const rows = Object.keys(all.profiles).map((name) => rowOf(all, name))
      await Cli.of(command).out.rows(rows, COLUMNS, 'No profiles. Add one: muster profile add <name> --url <address>')
    })
  profile
    .command('use <name>')
    .description('make it the one that is used without --profile')
    .action(async (name: string, _options: unknown, command: Command) => {
      const all = { ...readProfiles(), current: name }
      const row = rowOf(all, name)
      writeProfiles(all)
      const { out } = Cli.of(command)
      if (out.json) return await out.result(row, () => '')
      out.note(`${name} (${row.url}) is used from now on.`)
    })
  profile
    .command('rm <name>')
    .description('forget a server and its key; the key itself stays valid')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { current, profiles } = readProfiles()
      rowOf({ profiles }, name)
      delete profiles[name]
      writeProfiles({ profiles, ...(current === undefined || current === name ? {} : { current }) })
      const { out } = Cli.of(command)
      if (out.json) return await out.result({ name, deleted: true }, () => '')
      out.note(`${name} is forgotten.`)
    })
}

/** What is shown of a profile: never its key. @throws CliError if there is none of that name */
function rowOf({ current, profiles }: Profiles, name: string): Row {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (found === undefined) throw new CliError(`There is no profile ${name}.`, EXIT.notFound)
  return { name, url: found.url, session: found.session ?? null, has_key: found.key !== undefined, current: name === current }
}

async function askKey(cli: Cli): Promise<string> {
  if (!cli.canAsk) throw usageError('There is no terminal to ask for the key on: set MUSTER_KEY, or give --no-key.')
  const { isCancel, password } = await import('@clack/prompts')
  const answer = await password({ message: `API key of ${cli.url}`, output: process.stderr })
  if (isCancel(answer)) throw new CliError('Nothing was stored.', EXIT.interrupted)
  return answer
}
