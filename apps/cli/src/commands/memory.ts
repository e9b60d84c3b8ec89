import type { Memory } from '@muster/client'
import type { Command } from 'commander'
import { Cli, repeated, wholeNumber } from '../cli.ts'
import type { Column } from '../output/output.ts'
import { relativeTime } from '../output/text.ts'

const COLUMNS: Column<Memory>[] = [
  ['ID', ({ id }) => id],
  ['KIND', ({ kind }) => kind],
  ['SCORE', ({ score }) => score.toFixed(2)],
  ['WHEN', ({ created_at }) => relativeTime(created_at)],
  ['CONTENT', ({ content, task, summary, result }) => content ?? `${task}: ${summary ?? result ?? ''}`],
]

export function addMemory(program: Command): void {
  const memory = program.command('memory').description('facts that agents keep, and what earlier subtasks did')
  memory
    .command('search <words...>')
    .description('search facts and ended subtasks')
    .option('--agent <id>', 'what this agent may see')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 100), 10)
    .action(async (words: string[], { agent, limit }: { agent?: string; limit: number }, command: Command) => {
      const cli = Cli.of(command)
      const { items } = await cli.muster().memory.search({ q: words.join(' '), limit, ...(agent === undefined ? {} : { agent_id: agent }) })
      await cli.out.rows(items, COLUMNS, 'Nothing was found.')
    })
  memory
    .command('learn <words...>')
    .description('keep a fact')
    .option('--tag <name>', 'may be repeated', repeated)
    .action(async (words: string[], { tag = [] }: { tag?: string[] }, command: Command) => {
      const cli = Cli.of(command)
      const fact = await cli.muster().memory.learn({ content: words.join(' '), tags: tag })
      await cli.out.result(fact, () => fact.id)
    })
  memory
    .command('forget <id>')
    .description('delete a fact')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      await cli.muster().memory.deleteFact(id)
      await cli.out.result({ id, deleted: true }, () => `${id}  forgotten`)
    })
}
