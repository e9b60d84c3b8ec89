import { readFile } from 'node:fs/promises'
import type { ScannedTsg, TsgSummary } from '@muster/client'
import type { Command } from 'commander'
import { Cli, readInput } from '../cli.ts'
import { CliError } from '../exit-codes.ts'
import type { Column } from '../output/output.ts'
import { clean, oneLine } from '../output/text.ts'

const COLUMNS: Column<TsgSummary>[] = [
  ['ID', ({ id }) => id],
  ['SEVERITY', ({ severity }) => severity],
  ['PATTERNS', ({ patterns }) => patterns.length],
  ['TITLE', ({ title }) => title],
]

const FOUND_COLUMNS: Column<ScannedTsg>[] = [
  ['ID', ({ id }) => id],
  ['HELPED', ({ success_rate }) => (success_rate === null ? 'unknown' : `${Math.round(success_rate * 100)} %`)],
  ['PATTERN', ({ matched_pattern }) => matched_pattern],
  ['TITLE', ({ title }) => title],
]

export function addGuides(program: Command): void {
  const tsg = program.command('tsg').description('troubleshooting guides, which agents get when they are stuck')
  tsg
    .command('ls')
    .description('list guides')
    .option('--search <words>')
    .action(async ({ search }: { search?: string }, command: Command) => {
      const cli = Cli.of(command)
      await cli.out.rows(
        await cli
          .muster()
          .guides.list(search === undefined ? {} : { q: search })
          .all(),
        COLUMNS,
        'No guides. Write one: muster tsg put <id> <file>',
      )
    })
  tsg
    .command('show <id>')
    .description('show a guide')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const found = await cli.muster().guides.get(id)
      await cli.out.result(found, () => clean(found.content))
    })
  tsg
    .command('put <id> <file>')
    .description('store a guide from a file in Markdown, or - for standard input')
    .action(async (id: string, file: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const text =
        file === '-'
          ? await readInput()
          : await readFile(file, 'utf8').catch((error: Error) => Promise.reject(new CliError(`${file} cannot be read: ${error.message}`)))
      const stored = await cli.muster().guides.put(id, text)
      await cli.out.result(stored, () => `${stored.id}  ${oneLine(stored.title)}`)
    })
  tsg
    .command('scan [words...]')
    .description('which guides fit an error; without words it is read from standard input')
    .action(async (words: string[], _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const { items } = await cli.muster().guides.scan({ error_message: words.length > 0 ? words.join(' ') : await readInput() })
      await cli.out.rows(items, FOUND_COLUMNS, 'No guide fits.')
    })
  tsg
    .command('rm <id>')
    .description('delete a guide')
    .option('--force', 'also one that tasks link to')
    .action(async (id: string, { force }: { force?: boolean }, command: Command) => {
      const cli = Cli.of(command)
      await cli.muster().guides.delete(id, force === true ? { force } : undefined)
      await cli.out.result({ id, deleted: true }, () => `${oneLine(id)}  deleted`)
    })
}
