import type { QueryOf, UsageGroup } from '@muster/client'
import type { Command } from 'commander'
import { Cli } from '../cli.ts'
import type { Column } from '../output/output.ts'
import { duration, oneLine } from '../output/text.ts'

const COLUMNS: Column<UsageGroup>[] = [
  ['RUNS', ({ runs }) => runs],
  ['TOKENS IN', ({ input_tokens }) => input_tokens],
  ['TOKENS OUT', ({ output_tokens }) => output_tokens],
  ['TIME', ({ duration_ms }) => duration(duration_ms)],
  ['COST', ({ cost_usd }) => (cost_usd === null ? 'unknown' : `$${cost_usd.toFixed(4)}`)],
]

export function addUsage(program: Command): void {
  program
    .command('usage')
    .description('tokens, time and cost')
    .option('--by <grouping>', 'day, project, agent, task, model or runner', 'day')
    .option('--since <time>', 'ISO 8601')
    .option('--until <time>', 'ISO 8601')
    .action(async (query: { by: string; since?: string; until?: string }, command: Command) => {
      const cli = Cli.of(command)
      const report = await cli.muster().usage(query as QueryOf<'getUsage'>)
      if (cli.out.json) return await cli.out.result(report, () => '')
      await cli.out.rows(report.groups, [[report.by.toUpperCase(), ({ key }) => key ?? 'none'], ...COLUMNS], 'Nothing ran in this time.')
      if (report.unpriced_models.length > 0)
        cli.out.note(`No price is known for ${report.unpriced_models.map(oneLine).join(', ')}: ${report.unpriced_runs} runs are not in the cost.`)
      if (report.is_cut) cli.out.note('There are more rows than are shown: ask for a shorter time.')
    })
}
