import type { EvaluationSummary, QueryOf } from '@muster/client'
import type { Command } from 'commander'
import { Cli, wholeNumber } from '../cli.ts'
import type { Column, Output } from '../output/output.ts'
import { clean, oneLine, relativeTime } from '../output/text.ts'

const COLUMNS: Column<EvaluationSummary>[] = [
  ['ID', ({ id }) => id],
  ['SCORE', ({ score }) => score],
  ['RECOMMENDATION', ({ recommendation }) => recommendation],
  ['BY', ({ origin }) => origin],
  ['WHEN', ({ created_at }) => relativeTime(created_at)],
  ['OF', ({ task_id, subtask_id }) => task_id ?? subtask_id],
]

export function addEval(program: Command): void {
  const evaluation = program.command('eval').description('evaluations: how good outputs were, and why')
  evaluation
    .command('ls')
    .description('list evaluations, newest first')
    .option('--task <id>')
    .option('--subtask <id>')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 20)
    .action(async ({ task, subtask, limit }: { task?: string; subtask?: string; limit: number }, command: Command) => {
      const cli = Cli.of(command)
      const query = { ...(task === undefined ? {} : { task_id: task }), ...(subtask === undefined ? {} : { subtask_id: subtask }), limit: Math.min(limit, 100) }
      await cli.out.rows(await cli.muster().evaluations.list(query).all(limit), COLUMNS, 'No evaluations.')
    })
  evaluation
    .command('show <id>')
    .description('show an evaluation with the evidence for each criterion')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const found = await cli.muster().evaluations.get(id)
      await cli.out.result(found, () => {
        const head = cli.out.fields([
          ['Evaluation', found.id],
          ['Score', found.score],
          ['Recommendation', found.recommendation],
          ['Summary', found.summary],
          ['Of', found.task_id ?? found.subtask_id],
        ])
        return [head, ...(found.criteria.length === 0 ? [] : ['']), ...found.criteria.map((each) => describeCriterion(cli.out, each))].join('\n')
      })
    })
  evaluation
    .command('stats')
    .description('scores over time, by sub-agent, by criterion, or the agreement of people and rule')
    .option('--by <grouping>', 'day, subagent, criterion or agreement', 'day')
    .action(async ({ by }: { by: string }, command: Command) => {
      const cli = Cli.of(command)
      const stats = await cli.muster().evaluations.stats({ by } as QueryOf<'getEvaluationStats'>)
      if (cli.out.json) return await cli.out.result(stats, () => '')
      const groups: readonly Record<string, unknown>[] = 'groups' in stats ? stats.groups : stats.by_criterion
      const names = Object.keys(groups[0] ?? {}).filter(
        (name) => name === 'key' || groups.some((group) => typeof group[name] !== 'object' && group[name] !== undefined),
      )
      await cli.out.rows(
        groups,
        names.map(
          (name): Column<Record<string, unknown>> => [
            name === 'key' ? by.toUpperCase() : name.toUpperCase(),
            (group) => group[name] ?? (name === 'key' ? 'none' : ''),
          ],
        ),
        'Nothing was evaluated in this time.',
      )
    })
  evaluation
    .command('flag <id> <quality>')
    .description('judge a subtask or task yourself, for training: excellent, good, needs_work or bad')
    .option('--task', 'the id is one of a task')
    .action(async (id: string, quality: string, { task }: { task?: boolean }, command: Command) => {
      const cli = Cli.of(command)
      const muster = cli.muster()
      const flag = { quality: quality as 'good' }
      await (task === true ? muster.tasks.flagQuality(id, flag) : muster.subtasks.flagQuality(id, flag))
      await cli.out.result({ id, quality }, () => `${id}  flagged as ${oneLine(quality)}`)
    })
}

function describeCriterion(
  out: Output,
  { verdict, text, required, method, evidence }: { verdict: string; text: string; required: boolean; method: string; evidence: string | null },
): string {
  const { dim } = out.colours
  const line = `${out.status(verdict)}  ${oneLine(text)}${dim(required ? ` (${method})` : ` (${method}, optional)`)}`
  return evidence === null ? line : `${line}\n    ${dim(clean(evidence).replaceAll('\n', '\n    '))}`
}
