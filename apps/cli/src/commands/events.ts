import type { Event, EventType } from '@muster/client'
import type { Command } from 'commander'
import { Cli, wholeNumber } from '../cli.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import type { Output } from '../output/output.ts'
import { oneLine } from '../output/text.ts'

export function addEvents(program: Command): void {
  program
    .command('events')
    .description('the event log as it is written; Ctrl-C ends it')
    .option('--type <type>', 'only this type, such as subtask.completed')
    .option('--subject <id>', 'only about this subtask, task or schedule')
    .option('--after <id>', 'from this event on; 0 begins with the oldest', wholeNumber('--after', 0, Number.MAX_SAFE_INTEGER))
    .option('-n, --limit <count>', 'end after so many', wholeNumber('--limit', 1, 1_000_000))
    .action(async ({ limit, type, ...options }: { type?: string; subject?: string; after?: number; limit?: number }, command: Command) => {
      const cli = Cli.of(command)
      const signal = cli.interrupted
      const muster = cli.muster({ watch: sayReachable(cli) })
      let count = 0
      try {
        for await (const event of muster.events.follow({ ...options, ...(type === undefined ? {} : { type: type as EventType }), signal })) {
          cli.out.line(event, () => describe(cli.out, event))
          count += 1
          if (count === limit) break
        }
      } catch (error) {
        if (signal.aborted) throw new CliError('', EXIT.interrupted)
        throw error
      }
    })
}

/** Says once that the server is away, and once that it is back. */
function sayReachable(cli: Cli): (isReachable: boolean) => void {
  let before = true
  return (isReachable) => {
    if (isReachable !== before) cli.out.note(isReachable ? 'The server is back.' : `${cli.url} does not answer. Trying again …`, cli.out.colours.yellow)
    before = isReachable
  }
}

function describe(out: Output, { id, at, type, subject, data }: Event): string {
  const { dim, bold } = out.colours
  return `${dim(`${id}  ${at.slice(11, 19)}`)}  ${bold(type)}  ${subject.kind} ${oneLine(subject.id)}  ${dim(oneLine(data))}`
}
